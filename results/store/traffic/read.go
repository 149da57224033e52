package traffic

import (
	"fmt"
	"io"
)

// Read reads a file of a known format, whose name is for errors: they give it
// with the line where there are lines. Lines and Parquet are for the packages
// that own them.
func Read(r io.Reader, name string, o Options) (*Record, error) {
	b := newBuilder(o.Format, o)
	read, wall := b.reader()
	if read == nil {
		return nil, fmt.Errorf("%s: the format %q cannot be read here", name, o.Format)
	}
	if err := read(r); err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	rec, err := b.record(wall)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rec, nil
}

// reader is what reads the format, and whether its times are those of a wall clock.
func (b *builder) reader() (read func(io.Reader) error, wall bool) {
	switch b.rec.Format {
	case CSV:
		return b.csv, false
	case Vegeta:
		return b.vegetaJSON, true
	case VegetaGob:
		return b.vegetaGob, true
	case VegetaCSV:
		return b.vegetaCSV, true
	case K6:
		return b.k6, true
	case Hey:
		return b.hey, false
	case Oha:
		return b.oha, false
	case HAR:
		return b.har, true
	case Nginx, NginxLimit, Apache, WebLog:
		return b.webLog, true
	case nginxError:
		return errorLog, true
	}
	return nil, false
}

// at puts the line in front of an error, and : where there is none.
func at(line int64, err error) error {
	if line == 0 {
		return fmt.Errorf(": %w", err)
	}
	return fmt.Errorf(":%d: %w", line, err)
}

// errorLog says why nothing can be judged by an error log.
func errorLog(io.Reader) error {
	return at(0, fmt.Errorf("it is an error log of nginx, which tells of what was refused and delayed and not of what was admitted: give the access log, with $limit_req_status in its log_format"))
}
