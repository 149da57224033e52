package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ratehammer/ratehammer/"

// mayImport says which of our own packages each may import, outside of tests:
// imports point against the flow of the data. A name with /... stands for all
// below it.
var mayImport = map[string][]string{
	"scenarios":             {"scenarios/document"},
	"scenarios/document":    {},
	"scenarios/library":     {"scenarios"},
	"scenarios/reduction":   {"scenarios"},
	"results":               {},
	"results/store":         {"results"},
	"results/store/lines":   {"results"},
	"results/store/traffic": {"results"},
	"results/report":        {"results"},
	"results/report/page":   {"results", "results/report"},
	"results/fields":        {"results"},
	"probes":                {"scenarios", "results", "results/fields", "probes/wire"},
	"probes/action":         {"scenarios", "probes/action/vdso"},
	"probes/action/vdso":    {},
	"probes/wire":           {},
	"assertions":            {"scenarios", "results", "results/fields"},
	"assertions/verify":     {"scenarios", "scenarios/library", "probes", "assertions", "results", "results/report"}, // the end of the flow, as cmd is
	"internal/lab":          {},
	"bench":                 {"scenarios", "results", "results/store", "probes"},
	"cmd/hammer":            {"scenarios", "scenarios/...", "results", "results/...", "probes", "assertions", "cmd/hammer/score", "cmd/target/...", "probes/action"},
	"cmd/hammer/score":      {"scenarios", "scenarios/library", "results", "probes", "assertions", "cmd/target/..."},
	"cmd/target":            {"scenarios", "scenarios/document", "cmd/target/..."},
	"cmd/target/mode":       {"scenarios", "scenarios/document"},
	"cmd/target/limiter":    {"scenarios", "cmd/target/mode"},
	"cmd/target/virtual":    {"scenarios", "results", "cmd/target/limiter"},
	"cmd/target/clock":      {},
	"cmd/target/key":        {"cmd/target/mode"},
	"cmd/target/dialect":    {"scenarios", "cmd/target/mode", "cmd/target/limiter"},
	"cmd/target/truth":      {},
	"cmd/target/store":      {"scenarios", "cmd/target/limiter", "cmd/target/clock"},
	"cmd/target/defect":     {"scenarios", "cmd/target/mode", "cmd/target/limiter", "cmd/target/clock", "cmd/target/key", "cmd/target/store"},
	"cmd/target/server":     {"scenarios", "scenarios/document", "cmd/target/..."},
	"cmd/target/setup":      {"scenarios/document", "cmd/target/..."},
}

// Each package imports what it may and nothing else, each third-party module
// is imported by one folder, and nothing of ours but the lab imports testing.
func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	users := map[string][]string{} // by third-party package
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := strings.TrimPrefix(words[0], module)
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s is not in the list of layers: say what it may import", name)
		}
		for _, path := range words[1:] {
			own, isOwn := strings.CutPrefix(path, module)
			switch {
			case isOwn && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, own) }):
				t.Errorf("%s imports %s, which lies on the other side of the flow", name, own)
			case path == "testing" && name != "internal/lab":
				t.Errorf("%s imports testing", name)
			case !isOwn && strings.Contains(path, "."):
				users[path] = append(users[path], name)
			}
		}
	}
	for path, folders := range users {
		if len(folders) > 1 && !shared(path) {
			t.Errorf("%s is imported by %v: one folder should own it", path, folders)
		}
	}
}

func covers(pattern, name string) bool {
	prefix, all := strings.CutSuffix(pattern, "/...")
	return pattern == name || all && strings.HasPrefix(name, prefix+"/")
}

// shared are the modules that both programs stand on, and the system's own. The
// structured fields of HTTP are written by the one and read by the other.
func shared(path string) bool {
	for _, prefix := range []string{"github.com/spf13/", "golang.org/x/", "github.com/dunglas/httpsfv"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
