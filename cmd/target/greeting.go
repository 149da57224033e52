package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios"
)

// greeting says what runs where, and what can be pasted to try it.
func greeting(s *server.Server, table bool) string {
	var b strings.Builder
	for i, p := range s.Places() {
		if i == 0 || p.Node == 0 {
			fmt.Fprintf(&b, "serving  %s%s\n", p.URL, over(p))
		}
		if p.Node > 0 {
			fmt.Fprintf(&b, "node %-3d %s%s\n", p.Node, p.URL, over(p))
		}
	}
	fmt.Fprintf(&b, "admin    %s%s\n", s.AdminURL(), over(s.AdminPlace()))
	if s.MadeUpToken() {
		fmt.Fprintf(&b, "token    %s   made up for this run, since others can reach the admin side\n", s.AdminToken())
	}
	signs := s.Signs()
	if table {
		writeTable(&b, signs)
	} else {
		writeLimits(&b, signs)
	}
	writeTry(&b, s, signs[0])
	return b.String()
}

// over is the socket that a place is reached by, for people.
func over(p server.Place) string {
	if p.Socket == "" {
		return ""
	}
	return " over " + p.Socket
}

// writeLimits lists each route with what it asks.
func writeLimits(b *strings.Builder, signs []server.Sign) {
	for _, sign := range signs {
		fmt.Fprintf(b, "route    %s  %s\n", sign.Path, sign.Mode)
		for _, l := range sign.Limits {
			fmt.Fprintf(b, "  limit    %s: %s per %s", l.Name, l.Algorithm, l.Key)
			if l.Store != "memory" {
				fmt.Fprintf(b, " in %s", l.Store)
			}
			fmt.Fprintf(b, ", %s\n", promised(l))
		}
		if len(sign.Limits) == 0 {
			b.WriteString("  without a limit\n")
		}
	}
}

// promised is what a limit keeps, or why it does not.
func promised(l server.Promise) string {
	if len(l.Defects) == 0 {
		return "at most " + most(l.Limit) + " in any time T"
	}
	return "made wrong by " + strings.Join(l.Defects, " and ")
}

// writeTable lists one limit a line, with what it promises and how to ask it.
func writeTable(b *strings.Builder, signs []server.Sign) {
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PATH\tALGORITHM\tAT MOST IN ANY TIME T\tASK IT")
	for _, sign := range signs {
		for _, l := range sign.Limits {
			if !strings.HasPrefix(sign.Path, defectsPath) && !strings.HasPrefix(sign.Path, trapsPath) {
				fmt.Fprintf(t, "%s\t%s\t%s\tcurl -i %s\n", sign.Path, l.Algorithm, most(l.Limit), curl(sign))
			}
		}
	}
	t.Flush()
	b.WriteString("\nWrong on purpose; the clean twin of each is at .../right instead of .../wrong (target defects tells more)\n")
	writePaths(b, signs, defectsPath, "MADE WRONG BY", func(l server.Promise) string { return strings.Join(l.Defects, " ") })
	b.WriteString("\nRight, though it looks wrong\n")
	writePaths(b, signs, trapsPath, "AT MOST IN ANY TIME T", func(l server.Promise) string { return most(l.Limit) })
}

// writePaths lists what is below a path, a limit a line, with what there is to be
// told of it; limits with nothing are left out.
func writePaths(b *strings.Builder, signs []server.Sign, below, title string, tell func(server.Promise) string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "PATH\tLIMIT\tPER\t%s\n", title)
	for _, sign := range signs {
		for _, l := range sign.Limits {
			if told := tell(l); strings.HasPrefix(sign.Path, below) && told != "" {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", sign.Path, l.Algorithm, l.Key, told)
			}
		}
	}
	t.Flush()
}

// most is the largest number that is admitted in a closed time T, as the
// contract promises it.
func most(l scenarios.Limit) string {
	n, per := l.Rate.Count, short(l.Rate.Per)
	switch l.Contract {
	case scenarios.Lumps:
		return fmt.Sprintf("%d + %d*ceil(T/%v)", l.Burst, min(n, l.Burst), per)
	case scenarios.FixedWindow:
		return fmt.Sprintf("%d*(ceil(T/%v)+1)", n, per)
	case scenarios.SlidingLog:
		return fmt.Sprintf("%d*(floor(T/%v)+1)", n, per)
	case scenarios.SlidingCounter:
		return fmt.Sprintf("%d + %d*T/%v", n, n, per)
	case scenarios.Queue:
		return fmt.Sprintf("1 + %v*T released, after at most %v", l.Rate, short(l.Rate.Time(l.Burst)))
	case scenarios.Nginx:
		return fmt.Sprintf("%d + %v*(T+1ms)", l.Burst, l.Rate)
	case scenarios.BestEffort:
		return fmt.Sprintf("about %d + %v*T, which is no promise", l.Burst, l.Rate)
	case scenarios.Concurrency:
		return fmt.Sprintf("no limit, %d at the same time", l.Burst)
	default:
		return fmt.Sprintf("%d + %v*T", l.Burst, l.Rate)
	}
}

// short is a duration without the zeros at its end.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// writeTry gives lines to paste.
func writeTry(b *strings.Builder, s *server.Server, sign server.Sign) {
	if sign.Place.TLS {
		fmt.Fprintf(b, "\ntrust\n  curl %s-o target.pem '%s/certificate'\n", adminFlags(s), s.AdminURL())
	}
	one := curl(sign)
	times := int64(13)
	if len(sign.Limits) > 0 && sign.Limits[0].Limit.Burst > 0 {
		times = min(100, sign.Limits[0].Limit.Burst+3)
	}
	fmt.Fprintf(b, "\ntry\n  curl -i %s\n", one)
	fmt.Fprintf(b, "  for i in $(seq %d); do curl -s -o /dev/null -w '%%{http_code}\\n' %s; done\n", times, one)
	fmt.Fprintf(b, "  curl %s'%s/truth'\n  curl %s-X POST '%s/clock/step?by=-5s'\n", adminFlags(s), s.AdminURL(), adminFlags(s), s.AdminURL())
}

func adminFlags(s *server.Server) string {
	flags := socketFlag(s.AdminPlace())
	if s.AdminToken() != "" {
		flags += "-H \"Authorization: Bearer $TOKEN\" "
	}
	return flags
}

func socketFlag(p server.Place) string {
	if p.Socket == "" {
		return ""
	}
	return fmt.Sprintf("--unix-socket '%s' ", p.Socket)
}

// curl gives the arguments of a request that has the keys of all limits.
func curl(sign server.Sign) string {
	flags := ""
	if sign.Place.TLS {
		flags = "--cacert target.pem "
	}
	flags += socketFlag(sign.Place)
	var cookies, query []string
	for _, part := range parts(sign) {
		switch kind, name, _ := strings.Cut(part, ":"); kind {
		case "header":
			flags += fmt.Sprintf("-H '%s: alice' ", name)
		case "cookie":
			cookies = append(cookies, name+"=alice")
		case "query":
			query = append(query, name+"=alice")
		}
	}
	if len(cookies) > 0 {
		flags += fmt.Sprintf("--cookie '%s' ", strings.Join(cookies, "; "))
	}
	url := sign.Place.URL + sign.Path
	if len(query) > 0 {
		url += "?" + strings.Join(query, "&")
	}
	return flags + "'" + url + "'"
}

// parts are those of the keys of all limits, each once.
func parts(sign server.Sign) (all []string) {
	for _, l := range sign.Limits {
		for part := range strings.SplitSeq(l.Key.String(), "+") {
			if !slices.Contains(all, part) {
				all = append(all, part)
			}
		}
	}
	return all
}
