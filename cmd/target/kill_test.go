package main

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// program starts the program, and gives it with the URL that it serves. What it
// has to say goes to stderr.
func program(t *testing.T, stderr io.Writer, args ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, readURL(t, out)
}

// remaining asks once, and gives what is left afterwards.
func remaining(ctx context.Context, client *http.Client, url string) (left int64, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("X-Api-Key", "alice")
	res, err := client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, 0, err
	}
	m := regexp.MustCompile(`r=(\d+)`).FindStringSubmatch(res.Header.Get("RateLimit"))
	if m == nil {
		return 0, res.StatusCode, nil
	}
	left, err = strconv.ParseInt(m[1], 10, 64)
	return left, res.StatusCode, err
}

// Nothing that was answered is lost when the program is killed in the midst of
// many requests, fifty times at moments left to chance: what is spent then is at
// least what was answered, and at most what was asked.
func TestKilledUnderLoad(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no kill -9")
	}
	const quota, kills, clients = 1_000_000, 50, 4
	args := []string{"--listen", "127.0.0.1:0", "--fields", "draft", "--limit", "fixed-window{rate=1000000/10h,align=first-hit}",
		"--store", "memory{persist=" + filepath.Join(t.TempDir(), "states") + "}"}
	rng := rand.New(rand.NewPCG(1, 9))
	var asked, answered atomic.Int64
	for kill := range kills {
		cmd, url := program(t, t.Output(), args...)
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		asked.Add(1)
		left, status, err := remaining(t.Context(), client, url)
		if err != nil || status != 200 {
			t.Fatalf("after %d kills: got %d, %v", kill, status, err)
		}
		answered.Add(1)
		if spent := int64(quota) - left; spent < answered.Load() || spent > asked.Load() {
			t.Fatalf("after %d kills: %d are spent, %d were answered and %d asked", kill, spent, answered.Load(), asked.Load())
		}
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for ctx.Err() == nil {
					asked.Add(1)
					if _, status, err := remaining(t.Context(), client, url); err != nil {
						return
					} else if status == 200 {
						answered.Add(1)
					}
				}
			})
		}
		time.Sleep(time.Duration(rng.Int64N(int64(60 * time.Millisecond))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		stop()
		all.Wait()
		cmd.Wait()
		client.CloseIdleConnections()
	}
	t.Logf("%d kills, %d requests asked and %d answered", kills, asked.Load(), answered.Load())
	if answered.Load() < 5*kills {
		t.Errorf("only %d requests were answered: that is no load", answered.Load())
	}
}

// A hang-up reads the file again: what clients have spent is kept, and a file that
// is wrong changes nothing.
func TestHangUpReloads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	path := filepath.Join(t.TempDir(), "target.yaml")
	file := func(limit string) {
		text := "listeners: [{address: '127.0.0.1:0'}]\nanswers: {fields: [draft]}\nlimits: [{name: default, algorithm: '" + limit + "', key: 'header:X-Api-Key'}]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("fixed-window{rate=10/1h}")
	said, stderr := io.Pipe()
	cmd, url := program(t, stderr, "--config", path)
	defer said.Close() // or what is said at the end would be waited for
	lines := bufio.NewScanner(said)
	client := http.DefaultClient
	steps := []struct {
		limit string // empty: no reload
		left  int64
	}{
		{"", 9},
		{"", 8},
		{"fixed-window{rate=100/1h}", 97},
		{"fixed-window{rtae=5/1h}", 96}, // wrong
		{"fixed-window{rate=50/1h}", 45},
	}
	for _, step := range steps {
		if step.limit != "" {
			file(step.limit)
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() && !strings.Contains(lines.Text(), "reloaded") {
			}
		}
		if left, status, err := remaining(t.Context(), client, url); err != nil || status != 200 || left != step.left {
			t.Errorf("%q: got %d left, %d, %v, want %d", step.limit, left, status, err, step.left)
		}
	}
}
