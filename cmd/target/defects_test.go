package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// The page has a row for every row of the catalogue, with the modes that have it,
// and no other.
func TestDefectsPage(t *testing.T) {
	src, err := os.ReadFile("../../docs/defects.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, e := range defect.Catalogue() {
		if len(e.Rows) == 0 {
			t.Errorf("%s has no row", e.Name)
		}
		for _, row := range e.Rows {
			want[row] = append(want[row], e.Name)
		}
	}
	for _, trap := range defect.Traps() {
		for _, row := range trap.Rows {
			want[row] = append(want[row], trapsPath+trap.Name)
		}
	}
	got := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([DMT][0-9a-z-]+) \|.*\| (.*) \|$`).FindAllStringSubmatch(string(src), -1) {
		if got[m[1]] != nil {
			t.Errorf("the page has two rows %s", m[1])
		}
		for _, name := range regexp.MustCompile("`([a-z0-9/-]+)`").FindAllStringSubmatch(m[2], -1) {
			got[m[1]] = append(got[m[1]], name[1])
		}
	}
	for _, row := range slices.Sorted(maps.Keys(want)) {
		names := slices.Sorted(slices.Values(want[row]))
		if !slices.Equal(names, slices.Sorted(slices.Values(got[row]))) {
			t.Errorf("row %s: the page has %v, the catalogue %v", row, got[row], names)
		}
		delete(got, row)
	}
	if len(got) > 0 {
		t.Errorf("the page has rows that there are not: %v", got)
	}
}

// The list has everything, and the commands that it gives can be run.
func TestDefectsCommand(t *testing.T) {
	var out, text bytes.Buffer
	if code := run(t.Context(), []string{"defects", "--json"}, &out, io.Discard); code != exitDone {
		t.Fatalf("got exit code %d", code)
	}
	if code := run(t.Context(), []string{"defects"}, &text, io.Discard); code != exitDone {
		t.Fatalf("got exit code %d", code)
	}
	var all struct {
		Defects []listed
		Traps   []listedTrap
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Defects) != len(defect.Catalogue()) || len(all.Traps) != len(defect.Traps()) {
		t.Errorf("got %d defects and %d traps", len(all.Defects), len(all.Traps))
	}
	for _, d := range all.Defects {
		var o serveOptions
		c := &cobra.Command{}
		o.addFlags(c)
		err := c.ParseFlags(words(strings.TrimPrefix(d.Serve, "target serve ")))
		if err == nil {
			_, err = o.config(c)
		}
		if err != nil {
			t.Errorf("%s: %v", d.Serve, err)
		}
		if !strings.Contains(text.String(), d.Text) || !strings.Contains(text.String(), d.Serve) {
			t.Errorf("the text does not tell of %s", d.Name)
		}
	}
}

// Everything is served: a first request is admitted by each clean twin and each
// trap, and answered by each defect.
func TestAllIsServed(t *testing.T) {
	var o serveOptions
	c := &cobra.Command{}
	o.addFlags(c)
	if err := c.ParseFlags([]string{"--all", "--listen", "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	cfg, err := o.config(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	served := map[string]int{}
	for _, sign := range s.Signs() {
		req, err := http.NewRequest("GET", sign.Place.URL+sign.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"X-Api-Key": "alice", "X-Forwarded-For": "192.0.2.1"} {
			req.Header.Set(name, value)
		}
		if strings.Contains(sign.Mode, "order") {
			req.Method, req.Body = "POST", io.NopCloser(strings.NewReader("{}"))
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		served[sign.Path] = res.StatusCode
	}
	seen := 0
	for _, e := range defect.Catalogue() {
		if e.On.Keeps { // there is no store here that outlives a node
			continue
		}
		seen++
		wrong, right := served[defectsPath+e.Name+"/wrong"], served[defectsPath+e.Name+"/right"]
		if right != 200 || wrong != 200 && wrong != 429 {
			t.Errorf("%s: got %d and right %d", e.Name, wrong, right)
		}
	}
	for _, trap := range defect.Traps() {
		if got := served[trapsPath+trap.Name]; got != 200 {
			t.Errorf("%s: got %d", trap.Name, got)
		}
	}
	if got := greeting(s, true); strings.Count(got, "/wrong ") < seen || !strings.Contains(got, "about 10 + 10/2s*T, which is no promise") {
		t.Errorf("got\n%s", got)
	}
}
