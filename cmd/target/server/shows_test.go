package server

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// A defect that would be told of and do nothing is refused where that can be known;
// with what it wants it is not.
func TestDefectsThatDoNothing(t *testing.T) {
	fields := Route{Limits: []string{"a"}, Answers: dialect.Settings{Fields: []string{"draft"}}}
	file := "memory{persist=" + filepath.Join(t.TempDir(), "states") + "}"
	tests := []struct {
		defect, store string
		nodes         int
		nodeStore     string
		limits        int
		route         Route
		says          string // empty: it is taken
	}{
		{defect: "remaining{form=stale}", says: "defect remaining: does nothing here"},
		{defect: "remaining{form=stale}", route: fields},
		{defect: "reset{form=zero}", says: "give fields"},
		{defect: "reset{form=zero}", route: fields},
		{defect: "policy-told{quota=20}", says: "give fields"},
		{defect: "policy-told{quota=20}", route: fields},
		{defect: "multi{atomic=false}", says: "several limits"},
		{defect: "multi{atomic=false}", limits: 2, route: Route{Limits: []string{"a", "b"}}},
		{defect: "multi{atomic=false}", limits: 2, says: "several limits"},
		{defect: "parse-first", says: "order{early=counted}"},
		{defect: "parse-first", route: Route{Limits: []string{"a"}, Mode: parse(t, "order")}, says: "order{early=counted}"},
		{defect: "parse-first", route: Route{Limits: []string{"a"}, Mode: parse(t, "order{early=counted}")}},
		{defect: "persist{none}", says: "give memory{persist=FILE}"},
		{defect: "persist{none}", nodes: 3, nodeStore: "separate", says: "that share theirs"},
		{defect: "persist{none}", nodes: 3},
		{defect: "persist{none}", store: file},
		{defect: "outage{policy=open}"}, // it waits for a deed
	}
	for _, tt := range tests {
		cfg := Config{Nodes: tt.nodes}
		if tt.nodeStore != "" {
			cfg.NodeStore = parse(t, tt.nodeStore)
		}
		for i := range max(tt.limits, 1) {
			l := Limit{Name: string(rune('a' + i)), Algorithm: parse(t, ten), Key: parseKey(t, "ip"), Defects: parseAll(t, tt.defect)}
			if tt.store != "" {
				l.Store = parse(t, tt.store)
			}
			cfg.Limits = append(cfg.Limits, l)
		}
		if tt.route.Limits == nil {
			tt.route.Limits = []string{"a"}
		}
		cfg.Routes = []Route{tt.route}
		err := cfg.Check()
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%+v: got %v, want %q", tt, err, tt.says)
		}
	}
}
