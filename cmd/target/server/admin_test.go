package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

func TestAdminClock(t *testing.T) {
	s := startServer(t, Config{})
	read := func(method, path string) (r reading) {
		t.Helper()
		res, body := fetch(t, method, s.AdminURL()+path, "", nil)
		if err := json.Unmarshal([]byte(body), &r); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s %s: got %d %s", method, path, res.StatusCode, body)
		}
		return r
	}
	first := read("GET", "/clock")
	if first.OffsetNS != 0 || first.WallNS != s.Base().UnixNano()+first.MonoNS {
		t.Errorf("before any step: got %+v", first)
	}
	if got := read("POST", "/clock/step?by=-5s"); got.OffsetNS != -5e9 || got.MonoNS < first.MonoNS {
		t.Errorf("stepped by -5 s: got %+v", got)
	}
	if got := read("POST", "/clock/step?by=%2B2s"); got.OffsetNS != -3e9 || got.WallNS != s.Base().UnixNano()+got.MonoNS-3e9 {
		t.Errorf("stepped by +2 s more: got %+v", got)
	}
	for _, path := range []string{"/clock/step", "/clock/step?by=5", "/clock/step?by=2000000h", "/truth?follow=maybe"} {
		method := "POST"
		if strings.HasPrefix(path, "/truth") {
			method = "GET"
		}
		res, body := fetch(t, method, s.AdminURL()+path, "", nil)
		res.Body = io.NopCloser(strings.NewReader(body))
		checkProblem(t, res, 400, dialect.NoSpecialType)
	}
	if got := read("GET", "/clock").OffsetNS; got != -3e9 {
		t.Errorf("after steps that were refused: got offset %d, want -3 s", got)
	}
	// A step needs a POST, and none from a foreign page.
	if res, _ := fetch(t, "GET", s.AdminURL()+"/clock/step?by=1s", "", nil); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET of a step: got %d, want 405", res.StatusCode)
	}
	req, _ := http.NewRequest("POST", s.AdminURL()+"/clock/step?by=1s", nil)
	req.Header.Set("Origin", "http://example.com")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a step from a foreign page: got %d, want 403", res.StatusCode)
	}
	// The public side has no such thing.
	if res, _ := fetch(t, "POST", s.URL()+"/clock/step?by=1s", "", nil); res.StatusCode != 200 || read("GET", "/clock").OffsetNS != -3e9 {
		t.Errorf("a step on the public side: got %d and a moved clock", res.StatusCode)
	}
}

// fill adds records whose cost is their number.
func fill(l *truth.Ledger, from, to int64) {
	for i := from; i <= to; i++ {
		l.Add([]truth.Record{{Cost: i}})
	}
}

func lines(t *testing.T, body io.Reader) (records []truth.Record) {
	t.Helper()
	for dec := json.NewDecoder(body); ; {
		var rec truth.Record
		if err := dec.Decode(&rec); err == io.EOF {
			return records
		} else if err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
}

func TestTruthFeed(t *testing.T) {
	s := startServer(t, byHeader(t, "token-bucket{burst=2,rate=1/h}"))
	for _, key := range []string{"a", "b", "a", "a"} {
		fetch(t, "GET", s.URL(), key, nil)
	}
	res, body := fetch(t, "GET", s.AdminURL()+"/truth", "", nil)
	if ct, dropped := res.Header.Get("Content-Type"), res.Header.Get("X-Truth-Dropped"); ct != "application/x-ndjson" || dropped != "0" {
		t.Errorf("got Content-Type %q and %q dropped", ct, dropped)
	}
	got := lines(t, strings.NewReader(body))
	want, _ := s.Truth()
	if len(got) != 4 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got[3].Key != "a" || got[3].Admitted || got[3].Status != 429 || got[3].Cost != 1 || got[3].Before/got[3].Unit != 0 {
		t.Errorf("the fourth: got %+v, want a refusal of a", got[3])
	}
}

// What the ring has lost is told in the header.
func TestTruthFeedTellsOfLoss(t *testing.T) {
	s := startServer(t, Config{TruthKeep: 1})
	fill(s.truth, 1, 1500)
	res, body := fetch(t, "GET", s.AdminURL()+"/truth", "", nil)
	if got := res.Header.Get("X-Truth-Dropped"); got != "476" {
		t.Errorf("got %s dropped, want 1500 - 1024 = 476", got)
	}
	if got := lines(t, strings.NewReader(body)); len(got) != 1024 || got[0].Seq != 477 {
		t.Errorf("got %d records, want 1024 from 477", len(got))
	}
}

// A follower sees every decision after it began, and its stream ends with the
// server.
func TestFollow(t *testing.T) {
	s := startServer(t, byHeader(t, "token-bucket{burst=500,rate=1/h}"))
	fetch(t, "GET", s.URL(), "before", nil)
	res, err := http.Get(s.AdminURL() + "/truth?follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for range 300 {
		fetch(t, "GET", s.URL(), "a", nil)
	}
	var first truth.Record
	dec := json.NewDecoder(res.Body)
	if err := dec.Decode(&first); err != nil || first.Seq != 2 || first.Key != "a" {
		t.Errorf("first record: got %+v, %v, want number 2 of a", first, err)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	rest := lines(t, io.MultiReader(dec.Buffered(), res.Body))
	if len(rest) != 299 || rest[298].Seq != 301 {
		t.Errorf("got %d more records, want 299 up to number 301", len(rest))
	}
}

// held is a response whose first flush takes until it is let go.
type held struct {
	*httptest.ResponseRecorder
	flushing, letGo chan struct{}
	flushed         bool
}

func (h *held) Flush() {
	if !h.flushed {
		h.flushed = true
		close(h.flushing)
		<-h.letGo
	}
}

// What was decided before the server was closed reaches a follower who was busy
// then.
func TestFollowDeliversTheRest(t *testing.T) {
	for range 20 { // which of two things that have happened it sees first is chance
		s := newRig(t, Config{})
		h := &held{ResponseRecorder: httptest.NewRecorder(), flushing: make(chan struct{}), letGo: make(chan struct{})}
		var reader sync.WaitGroup
		reader.Go(func() { s.showTruth(h, httptest.NewRequest("GET", "/truth?follow=1", nil)) })
		<-h.flushing
		fill(s.truth, 1, 500)
		close(s.closing)
		close(h.letGo)
		reader.Wait()
		if got := lines(t, h.Body); len(got) != 500 {
			t.Fatalf("got %d records, want 500", len(got))
		}
	}
}

// A follower that does not read holds up nobody, and is told of its loss.
func TestSlowFollower(t *testing.T) {
	s := startServer(t, Config{TruthKeep: 1})
	res, err := http.Get(s.AdminURL() + "/truth?follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// Some 20 MB of JSON: more than fits in the buffers of a connection.
	const records = 100_000
	key := strings.Repeat("k", 60)
	for range records {
		s.truth.Add([]truth.Record{{Key: key}})
	}
	seen, lost := int64(0), int64(0)
	for dec := json.NewDecoder(res.Body); seen+lost < records; {
		var line struct {
			truth.Record
			Dropped int64 `json:"dropped"`
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatalf("after %d seen and %d lost: %v", seen, lost, err)
		}
		lost += line.Dropped
		if line.Dropped > 0 {
			continue
		}
		seen++
		if line.Seq != seen+lost {
			t.Fatalf("got record %d after %d seen and %d lost", line.Seq, seen, lost)
		}
	}
	if seen+lost != records || lost == 0 {
		t.Errorf("got %d records and %d lost, want %d together and some lost", seen, lost, records)
	}
}
