package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// Three processes with a budget each are what per-instance counters are: 10 of one
// client pass over one connection, which stays with one of them, and 30 over all.
func TestThreeProcesses(t *testing.T) {
	var urls []string
	for range 3 {
		_, url := program(t, t.Output(), "--listen", "127.0.0.1:0", "--fields", "draft", "--limit", "token-bucket{burst=10,rate=1/h}")
		urls = append(urls, url)
	}
	count := func(urls ...string) (admitted int) {
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		for i := range 60 {
			_, status, err := remaining(t.Context(), client, urls[i%len(urls)])
			if err != nil {
				t.Fatal(err)
			}
			if status == http.StatusOK {
				admitted++
			}
		}
		return admitted
	}
	one := count(urls[0])
	if all := one + count(urls...); one != 10 || all != 30 {
		t.Errorf("got %d over one connection and %d over all, want 10 and 30", one, all)
	}
}

// A file of states belongs to one process: the second one does not start, and says
// why. One that was killed has left nothing that hinders the next.
func TestFileOfAnotherProcess(t *testing.T) {
	args := []string{"--listen", "127.0.0.1:0", "--fields", "draft", "--limit", "fixed-window{rate=10/10h,align=first-hit}",
		"--store", "memory{persist=" + filepath.Join(t.TempDir(), "states") + "}"}
	first, url := program(t, t.Output(), args...)
	if left, _, err := remaining(t.Context(), http.DefaultClient, url); err != nil || left != 9 {
		t.Fatalf("got %d left, %v", left, err)
	}
	var stderr strings.Builder
	if code := run(t.Context(), append([]string{"serve"}, args...), io.Discard, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "another server keeps its states there") {
		t.Errorf("the second one: got exit code %d and %q", code, stderr.String())
	}
	if left, _, err := remaining(t.Context(), http.DefaultClient, url); err != nil || left != 8 {
		t.Errorf("the first one goes on: got %d left, %v", left, err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	_, url = program(t, t.Output(), args...)
	if left, _, err := remaining(t.Context(), http.DefaultClient, url); err != nil || left != 7 {
		t.Errorf("after a kill: got %d left, %v, want 7", left, err)
	}
}
