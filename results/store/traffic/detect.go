package traffic

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Format is who wrote a file, and how.
type Format string

// The formats.
const (
	Lines      Format = "jsonl"       // hammer's own small records, which package lines reads
	CSV        Format = "csv"         // what hammer export writes
	Parquet    Format = "parquet"     // a timeline of hammer in one file, which package store reads
	Vegeta     Format = "vegeta"      // vegeta encode: a JSON object a line
	VegetaGob  Format = "vegeta-gob"  // vegeta attack
	VegetaCSV  Format = "vegeta-csv"  // vegeta encode --to csv
	K6         Format = "k6"          // k6 run --out json=FILE
	Hey        Format = "hey"         // hey -o csv
	Oha        Format = "oha"         // oha --output-format csv
	HAR        Format = "har"         // a browser's network panel
	Nginx      Format = "nginx"       // access log, combined or of a given layout
	NginxLimit Format = "nginx-limit" // access log that begins with $msec $remote_addr $limit_req_status $status $request_time
	Apache     Format = "apache"      // access log, common, combined or of a given layout
	WebLog     Format = "combined"    // a log in the common or combined format, of nginx or of Apache
	nginxError Format = "nginx-error"
)

// Formats are those that can be given.
var Formats = []Format{Lines, CSV, Parquet, Vegeta, VegetaGob, VegetaCSV, K6, Hey, Oha, HAR, Nginx, NginxLimit, Apache, WebLog}

// ParseFormat reads the name of a format; empty is the one that is found out.
func ParseFormat(s string) (Format, error) {
	if s == "" || slices.Contains(Formats, Format(s)) {
		return Format(s), nil
	}
	var names []string
	for _, f := range Formats {
		names = append(names, string(f))
	}
	return "", fmt.Errorf("%q is no format that can be read: write one of %s", s, strings.Join(names, ", "))
}

// sniffed is how much of a file is looked at to find out its format.
const sniffed = 64 << 10

// Open finds out the format of a file from its beginning, and unpacks it if it
// is gzipped. The reader gives the whole file; it is nil where an error says that
// the beginning cannot be read, whatever the format.
func Open(r io.Reader) (Format, io.Reader, error) {
	buf := bufio.NewReaderSize(r, sniffed)
	head, err := buf.Peek(2)
	if err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(buf)
		if err != nil {
			return "", nil, fmt.Errorf("it begins as gzip does and is not: %w", err)
		}
		buf = bufio.NewReaderSize(z, sniffed)
	}
	head, err = buf.Peek(sniffed)
	if err != nil && err != io.EOF {
		return "", nil, err
	}
	f, err := detect(head)
	return f, buf, err
}

// shapes tell a format by the first line that is not empty.
var shapes = []struct {
	format Format
	line   *regexp.Regexp
}{
	{HAR, regexp.MustCompile(`^\{\s*("log"\s*:|$)`)},
	{K6, regexp.MustCompile(`^\{.*"type"\s*:\s*"(Metric|Point)"`)},
	{Vegeta, regexp.MustCompile(`^\{.*"timestamp"\s*:.*"latency"\s*:`)},
	{Lines, regexp.MustCompile(`^\{`)},
	{CSV, regexp.MustCompile(`^` + regexp.QuoteMeta(strings.Join(csvColumns[:3], ",")))},
	{Hey, regexp.MustCompile(`^response-time,DNS\+dialup,`)},
	{Oha, regexp.MustCompile(`^request-start,DNS,`)},
	{VegetaCSV, regexp.MustCompile(`^\d{16,20},\d{1,3},\d+,\d+,\d+,`)},
	{nginxError, regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\] `)},
	{NginxLimit, regexp.MustCompile(`^\d{9,11}\.\d{3} \S+ (PASSED|DELAYED|REJECTED|DELAYED_DRY_RUN|REJECTED_DRY_RUN|-)? ?\d{3} [\d.]+( |$)`)},
	{WebLog, regexp.MustCompile(`^\S+ \S+ .*\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] ".*" \d{3} `)},
}

func detect(head []byte) (Format, error) {
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return Parquet, nil
	}
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	for _, s := range shapes {
		if s.line.Match(line) {
			return s.format, nil
		}
	}
	if bytes.Contains(head, []byte("Timestamp")) && bytes.Contains(head, []byte("Latency")) {
		return VegetaGob, nil // a gob names its fields at the beginning
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "", fmt.Errorf("it is empty")
	}
	return "", fmt.Errorf("its format is not known")
}
