package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
)

// hammer runs the program with --json, in a folder of its own, and gives its
// exit code and its answer. It does not look for causes, which takes as long again.
func hammer(t *testing.T, args ...string) (int, report.Report) {
	t.Helper()
	return diagnosing(t, append(args, "--diagnose-for", "0")...)
}

// diagnosing is hammer with what is fired behind a breach.
func diagnosing(t *testing.T, args ...string) (int, report.Report) {
	t.Helper()
	var out, talk bytes.Buffer
	args = append([]string{args[0], "--json", "--out", filepath.Join(t.TempDir(), "run")}, args[1:]...)
	code := run(args, &out, &talk)
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("hammer %q: %v in\n%s\n%s", args, err, out.String(), talk.String())
	}
	return code, r
}

// brokenChecks are the assertions that a report calls broken.
func brokenChecks(r report.Report) string {
	var ids []string
	for _, f := range r.Findings {
		if f.Status == results.Broken && f.Level == results.Must {
			ids = append(ids, f.Check)
		}
	}
	return strings.Join(ids, " ")
}

// hitsOfRun are the requests of a run's folder.
func hitsOfRun(t *testing.T, dir string) (hits []results.Hit) {
	t.Helper()
	saved, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range saved.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, b.Hits...)
	}
	return hits
}

const nginxZone = `limit_req_zone $http_x_api_key zone=z:1m rate=2r/s; limit_req_status 429;`

// Ten requests at once at nginx's limit_req with 2 a second.
func TestNginxVolleyOfTen(t *testing.T) {
	tests := []struct {
		setting                 string
		burst                   int // as a bucket
		admitted, delayed, left int // at once, later, refused
	}{
		{"limit_req zone=z;", 1, 1, 0, 9},
		{"limit_req zone=z burst=5;", 6, 1, 5, 4},
		{"limit_req zone=z burst=5 nodelay;", 6, 6, 0, 4},
		{"limit_req zone=z burst=5 delay=2;", 6, 3, 3, 4},
	}
	for _, tt := range tests {
		t.Run(tt.setting, func(t *testing.T) {
			url := lab.Nginx(t, nginxZone, "location / { "+tt.setting+" }")
			file := filepath.Join(t.TempDir(), "ten.yaml")
			src := fmt.Sprintf("target: %s/\nlimit: {burst: %d, rate: 2/s}\nphases: [{name: ten, at: 200ms, volley: 10}]\n", url, tt.burst)
			if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			code, r := hammer(t, "run", file)
			if code != exitKept {
				t.Errorf("got exit code %d: %s", code, r.Headline)
			}
			var atOnce, delayed, left int
			for _, h := range hitsOfRun(t, r.Folder) {
				took := time.Duration(h.First - h.Sent)
				switch {
				case h.Outcome == results.Limited:
					left++
				case took < 250*time.Millisecond:
					atOnce++
				default:
					delayed++
					// The n-th delayed one waits n half seconds, those with
					// delay=2 from the third on, which were let through at once.
					if off := (took + 100*time.Millisecond) % (500 * time.Millisecond); off > 200*time.Millisecond {
						t.Errorf("a request was delayed by %v, which is no multiple of 500 ms", took)
					}
				}
			}
			if atOnce != tt.admitted || delayed != tt.delayed || left != tt.left {
				t.Errorf("got %d at once, %d delayed, %d refused, want %d, %d, %d", atOnce, delayed, left, tt.admitted, tt.delayed, tt.left)
			}
		})
	}
}

// nginx's "burst=5 nodelay" at 2 a second is a bucket of 6, and nothing else.
func TestNginxIsABucketOfSix(t *testing.T) {
	tests := []struct {
		burst, rate string
		code        int
		broken      string
	}{
		{"6", "2/s", exitKept, ""},
		{"5", "2/s", exitBroken, "bound.upper"},
		{"7", "2/s", exitBroken, "bound.lower"},
		{"6", "1.96/s", exitBroken, "bound.upper"},
		{"6", "2.04/s", exitBroken, "bound.lower"},
	}
	url := lab.Nginx(t, nginxZone, "location / { limit_req zone=z burst=5 nodelay; }")
	for _, tt := range tests {
		t.Run(tt.burst+" at "+tt.rate, func(t *testing.T) {
			t.Parallel()
			code, r := hammer(t, "check", url+"/", "--burst", tt.burst, "--rate", tt.rate, "--for", "30s")
			if code != tt.code || brokenChecks(r) != tt.broken {
				t.Errorf("got exit code %d, broken %q, want %d, %q: %s", code, brokenChecks(r), tt.code, tt.broken, r.Headline)
			}
		})
	}
}

// A refusal of nginx is a 503 unless it is told otherwise, and hammer must be
// told as well.
func TestNginxRefusesWith503(t *testing.T) {
	url := lab.Nginx(t, "limit_req_zone $http_x_api_key zone=z:1m rate=2r/s;", "location / { limit_req zone=z burst=5 nodelay; }")
	code, r := hammer(t, "check", url+"/", "--burst", "6", "--rate", "2/s", "--limited", "503")
	if code != exitKept {
		t.Errorf("got exit code %d, want 0: %s", code, r.Headline)
	}
}

// A location that answers with return is never limited: the answer comes
// before the limiter's phase.
func TestNginxReturnIsNeverLimited(t *testing.T) {
	url := lab.Nginx(t, nginxZone, "location / { limit_req zone=z burst=5 nodelay; return 200 ok; }")
	code, r := hammer(t, "check", url+"/", "--burst", "6", "--rate", "2/s")
	if code != exitBroken || !strings.Contains(r.Headline, "no request was ever limited") {
		t.Errorf("got exit code %d, %q, want 1 and a word that nothing was limited", code, r.Headline)
	}
}

// What nginx logged of traffic says the same as firing at it does: the log of a
// bucket of 6 refutes one of 4, and does not refute the bucket of 6. In whole
// seconds it takes a larger error to be seen.
func TestNginxAccessLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	layout := `$msec $http_x_api_key $limit_req_status $status $request_time $sent_http_retry_after`
	url := lab.Nginx(t, nginxZone+" log_format exact '"+layout+"';",
		"location / { limit_req zone=z burst=5 nodelay; access_log "+path+" exact; access_log "+path+".combined combined; }")
	for range 40 {
		req, err := http.NewRequest("GET", url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "a")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		time.Sleep(10 * time.Millisecond)
	}
	for _, tt := range []struct {
		name, burst string
		broken      string
		args        []string
	}{
		{"exact, the promise", "6", "", []string{path, "--log-format", layout, "--key", "header:X-Api-Key", "--full"}},
		{"exact, fewer", "4", "bound.upper", []string{path, "--log-format", layout, "--key", "header:X-Api-Key", "--full"}},
		{"exact, more", "9", "bound.lower", []string{path, "--log-format", layout, "--key", "header:X-Api-Key", "--full"}},
		{"combined, the promise", "6", "", []string{path + ".combined"}},
		{"combined, fewer", "1", "bound.upper", []string{path + ".combined", "--longest", "100ms"}},
	} {
		var out, talk bytes.Buffer
		code := run(append([]string{"judge", "--json", "--format", "nginx", "--burst", tt.burst, "--rate", "2/s"}, tt.args...), &out, &talk)
		var r report.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v in\n%s\n%s", tt.name, err, out.String(), talk.String())
		}
		if broken := brokenChecks(r); broken != tt.broken || (broken != "") != (code == exitBroken) {
			t.Errorf("%s: got exit code %d, broken %q, want %q: %s", tt.name, code, broken, tt.broken, r.Headline)
		}
	}
}
