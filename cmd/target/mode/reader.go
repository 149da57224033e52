package mode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Reader reads the settings of a Mode into values. Faults are collected, so
// that one error names all of them: read every setting first, then ask Done,
// and use the values only if it returns nil. A getter without a fallback wants
// its key to be there.
type Reader struct {
	mode    Mode
	example string
	asked   []string
	faults  []string
}

// Read starts reading m. The example is a correct mode of the same name, to be
// shown in errors.
func (m Mode) Read(example string) *Reader { return &Reader{mode: m, example: example} }

// Has reports whether key is given.
func (r *Reader) Has(key string) bool {
	_, ok := r.mode.lookup(key)
	return ok
}

// Int reads a whole number, with or without a sign.
func (r *Reader) Int(key string) int64 { return read(r, key, nil, parseInt) }

// IntOr is Int for a key that may be absent.
func (r *Reader) IntOr(key string, fallback int64) int64 { return read(r, key, &fallback, parseInt) }

// Bool reads true or false. An absent key is false, and a key without a value
// is true.
func (r *Reader) Bool(key string) bool { return read(r, key, new(bool), parseBool) }

// Duration reads a duration of Go's form, with or without a sign, such as -1m30s.
func (r *Reader) Duration(key string) time.Duration { return read(r, key, nil, parseDuration) }

// DurationOr is Duration for a key that may be absent.
func (r *Reader) DurationOr(key string, fallback time.Duration) time.Duration {
	return read(r, key, &fallback, parseDuration)
}

// Share reads a number from 0 to 1 of at most six decimals, such as 0.65, in
// parts per million.
func (r *Reader) Share(key string) int64 { return read(r, key, nil, parseShare) }

// Rate reads what scenarios.ParseRate does.
func (r *Reader) Rate(key string) scenarios.Rate { return read(r, key, nil, scenarios.ParseRate) }

// TextOr reads any text, of a key that may be absent.
func (r *Reader) TextOr(key, fallback string) string {
	return read(r, key, &fallback, func(s string) (string, error) { return s, nil })
}

// Choice reads one of the allowed words. An absent key is the fallback; with an
// empty fallback the key has to be there.
func (r *Reader) Choice(key, fallback string, allowed ...string) string {
	var absent *string
	if fallback != "" {
		absent = &fallback
	}
	return read(r, key, absent, func(s string) (string, error) {
		if !slices.Contains(allowed, s) {
			return "", fmt.Errorf("%q is none of %s", s, strings.Join(allowed, ", "))
		}
		return s, nil
	})
}

// Require records a fault of key unless ok, for what the type of a value does
// not say: its range, or its agreement with other keys. A key that could not
// be read already has its fault and gets no second one.
func (r *Reader) Require(ok bool, key, fault string) {
	if !ok && !slices.ContainsFunc(r.faults, func(f string) bool { return strings.HasPrefix(f, key+": ") }) {
		r.faults = append(r.faults, key+": "+fault)
	}
}

// Done returns nil when every setting was asked for and could be read. Else its
// error names the mode, each key with its fault, and a correct example.
func (r *Reader) Done() error {
	faults := r.faults
	for _, s := range r.mode.Settings {
		if !slices.Contains(r.asked, s.Key) {
			faults = append(faults, r.unknown(s.Key))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s; write for example %s", r.mode.Name, strings.Join(faults, "; "), r.example)
}

func (r *Reader) unknown(key string) string {
	switch near := nearest(key, r.asked); {
	case len(r.asked) == 0:
		return fmt.Sprintf("%s: no settings are taken", key)
	case near != "":
		return fmt.Sprintf("%s: is not a setting, did you mean %s?", key, near)
	}
	return fmt.Sprintf("%s: is not a setting, there are %s", key, strings.Join(r.asked, ", "))
}

func read[T any](r *Reader, key string, absent *T, parse func(string) (T, error)) T {
	r.asked = append(r.asked, key)
	var none T
	text, ok := r.mode.lookup(key)
	switch {
	case !ok && absent != nil:
		return *absent
	case !ok:
		r.Require(false, key, "is missing")
		return none
	}
	v, err := parse(text)
	if err != nil {
		r.Require(false, key, err.Error())
		return none
	}
	return v
}

func parseInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of at most 18 digits", s)
	}
	return n, nil
}

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("%q is neither true nor false", s)
	}
	return s == "true", nil
}

func parseShare(s string) (int64, error) {
	whole, decimals, _ := strings.Cut(s, ".")
	millionths := whole + (decimals + "000000")[:max(6, len(decimals))]
	ppm, err := strconv.ParseUint(millionths, 10, 64)
	if err != nil || whole+decimals == "" || len(decimals) > 6 || ppm > 1_000_000 {
		return 0, fmt.Errorf("%q is not a share from 0 to 1 such as 0.65 or 0.001", s)
	}
	return int64(ppm), nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 30s, -1m30s or 250ms", s)
	}
	return d, nil
}
