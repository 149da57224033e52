package main

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/results/store/traffic"
	"github.com/ratehammer/ratehammer/scenarios"
)

// source is how a file that is judged is to be read.
type source struct {
	format  string
	layout  string
	longest time.Duration
	full    bool
	keyed   bool // --key was given
}

// file judges a record that is one file: hammer's own, or what another program
// recorded.
func (o *judgeFlags) file(name string) (out shown, err error) {
	format, err := traffic.ParseFormat(o.source.format)
	if err != nil {
		return out, fmt.Errorf("--format: %w", err)
	}
	if o.source.longest < 0 {
		return out, fmt.Errorf("--longest %v: give a time above zero", o.source.longest)
	}
	f, err := os.Open(name)
	if err != nil {
		return out, err
	}
	defer f.Close()
	found, r, err := traffic.Open(f)
	if r == nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	if format == "" {
		if err != nil {
			return out, &probes.Hinted{Err: fmt.Errorf("%s: %w", name, err), Hint: "say with --format who wrote it; hammer judge --help has the formats"}
		}
		format = found
	}
	switch format {
	case traffic.Lines:
		return o.lines(name)
	case traffic.Parquet:
		saved, err := store.OpenFile(name)
		if err != nil {
			return out, err
		}
		return o.saved(name, saved)
	}
	return o.traffic(name, format, r)
}

// traffic judges what another program recorded, or a CSV of ours, which carries
// no promise either.
func (o *judgeFlags) traffic(name string, format traffic.Format, r io.Reader) (out shown, err error) {
	if o.asFired {
		return out, &probes.Hinted{Err: fmt.Errorf("%s makes no promise that a verdict could be on", name), Hint: "judge it against one: hammer judge FILE --burst B --rate R --report html=report.html"}
	}
	l, wanted, err := o.promise.template()
	if err != nil {
		return out, err
	}
	if _, _, err := complete(l, nil); err != nil {
		return out, &probes.Hinted{Err: err, Hint: "say what the limiter promises, such as --burst 10 --rate 5/s: a recording makes no promise"}
	}
	var notes []string
	if !o.source.keyed && format != traffic.CSV {
		l.Key, notes = impliedKey(format)
	}
	clients := &clients{key: l.Key, format: format, numbers: map[string]int{}}
	record, err := traffic.Read(r, name, traffic.Options{Format: format, Layout: o.source.layout, Longest: o.source.longest, Key: clients.label,
		Outcome: func(status int, header http.Header) results.Outcome {
			return results.OutcomeOf(status, l.Answers.Limited.Covers(status, header), l.Answers.Admitted.Covers(status, header))
		}})
	if err != nil {
		return out, err
	}
	s := &scenarios.Scenario{Name: name, Target: name, Wanted: wanted}
	if s.Limits, err = o.promise.withOthers(l); err != nil {
		return out, err
	}
	switch {
	case record.Partial: // what is missing may have been admitted
		s.Checks = []string{"run", "limit", assertions.CheckUpper}
	case !record.Answers:
		s.Checks = []string{"run", "limit", "bound", "queue", "key"}
	}
	return o.concluded(s, record, append(notes, record.Notes...))
}

// concluded judges a record that was read, and answers.
func (o *judgeFlags) concluded(s *scenarios.Scenario, record *traffic.Record, notes []string) (out shown, err error) {
	j, err := newJudgement(s, judging{fresh: o.source.full, asked: record.Asked, tick: record.Tick, strict: o.saving.strict, undiagnosed: o.saving.undiagnosed})
	if err != nil {
		return out, err
	}
	all := inBlocks(record.Hits)
	j.block(results.Block{Marks: record.Marks})
	all.all(j.block)
	run := results.Run{Planned: j.hits, Sent: j.hits, Path: results.RecordedBy + string(record.Format)}
	v := j.conclude(&run)
	for i := range v.Resolutions { // with holes in the record its sight is not looked for
		v.Resolutions[i].Refuted = v.Resolutions[i].Refuted || brokenCheck(v.Findings, assertions.CheckUpper)
	}
	r := j.reportOf(v, run, all)
	r.Target = s.Target
	if !record.Start.IsZero() {
		notes = append(notes, "0 s is "+record.Start.UTC().Format("2006-01-02 15:04:05.999999999 UTC"))
	}
	switch {
	case o.source.full:
	case record.Format == traffic.CSV: // it does not say whether its keys were fresh
		notes = append(notes, "what a client had left at its first request is not known, so that far less is seen: add --full if all of it was there, as on the fresh keys that hammer invents, before you accept less with --resolution")
	default:
		notes = append(notes, "what a client had left at its first request is not known: --full says that all of it was there")
	}
	r.Notes = append(notes, sightNotes(results.Verdict{Status: r.Status, Resolutions: r.Resolutions})...)
	r.ExitCode = exitCode(r.Status, o.saving.acceptInconclusive)
	return shown{report: r, look: j.look, record: all}, nil
}

// impliedKey is what tells the clients of a source apart where nobody said it.
func impliedKey(f traffic.Format) (scenarios.Key, []string) {
	note := "all requests are taken to come from one client (--key)"
	if addressed(f) {
		note = "clients are told apart by their addresses (--key)"
	}
	return scenarios.Key{Kind: scenarios.KeyIP}, []string{note}
}

// addressed reports whether a source says where requests came from. Of the
// others each is the client itself.
func addressed(f traffic.Format) bool {
	return slices.Contains([]traffic.Format{traffic.Nginx, traffic.NginxLimit, traffic.Apache, traffic.WebLog}, f)
}

// clients tells whose a request was. Real keys are credentials: they are called
// by number.
type clients struct {
	key     scenarios.Key
	format  traffic.Format
	numbers map[string]int
}

func (c *clients) label(r traffic.Request) (string, error) {
	value, recorded := c.value(r)
	switch {
	case c.key.Kind == scenarios.KeyNone:
		return "", nil
	case !recorded:
		return "", &probes.Hinted{Err: fmt.Errorf("%s does not record %s", c.format, c.key), Hint: "say --key none if all requests are one client's"}
	case value == "":
		return "without a key", nil
	case c.key.IsAddress():
		return c.prefix(value), nil
	}
	n, known := c.numbers[value]
	if !known {
		n = len(c.numbers) + 1
		c.numbers[value] = n
	}
	return fmt.Sprintf("key %d", n), nil
}

// value is what the request carries as its key, and whether the source would have it.
func (c *clients) value(r traffic.Request) (value string, recorded bool) {
	switch c.key.Kind {
	case scenarios.KeyIP:
		if !addressed(c.format) {
			return "the recorder", true
		}
		return r.Client, r.Client != ""
	case scenarios.KeyHeader:
		v := r.Header.Get(c.key.Name)
		if c.key.Trusted > 0 {
			v = forwarded(v, c.key)
		}
		return v, r.Header != nil && (v != "" || c.format == traffic.HAR || len(r.Header) > 0)
	case scenarios.KeyQuery:
		u, err := url.Parse(r.URL)
		if err != nil {
			return "", r.URL != ""
		}
		return u.Query().Get(c.key.Name), r.URL != ""
	case scenarios.KeyCookie:
		req := http.Request{Header: r.Header}
		cookie, err := req.Cookie(c.key.Name)
		if err != nil {
			return "", len(r.Header) > 0
		}
		return cookie.Value, true
	}
	return "", true
}

// forwarded is the address that the first of the trusted proxies wrote.
func forwarded(v string, k scenarios.Key) string {
	all := strings.Split(v, ",")
	v = strings.TrimSpace(all[max(0, len(all)-k.Trusted)])
	if !strings.EqualFold(k.Name, "Forwarded") {
		return v
	}
	for part := range strings.SplitSeq(v, ";") {
		if name, to, _ := strings.Cut(strings.TrimSpace(part), "="); strings.EqualFold(name, "for") {
			return strings.Trim(to, `"[]`)
		}
	}
	return ""
}

// prefix is the part of an address that tells clients apart.
func (c *clients) prefix(text string) string {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil || c.key.IPv6 == 0 || !a.Is6() || a.Is4In6() {
		return text
	}
	p, err := a.Prefix(c.key.IPv6)
	if err != nil {
		return text
	}
	return p.String()
}
