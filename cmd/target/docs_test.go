package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/internal/lab"
)

const docs = "../../docs/target.md"

// block is a fenced part of the page.
type block struct{ language, text string }

func blocks(t *testing.T) (all []block) {
	t.Helper()
	src, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(src), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

// Every command of the page is run. Those of one block are asked of the server
// that its first line starts; what stands behind # has to be in the output.
func TestDocsRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	lab.Need(t, "curl", "curl")
	dir := t.TempDir()
	ports := map[string]string{}
	ran := 0
	for _, b := range blocks(t) {
		switch b.language {
		case "yaml":
			if err := os.WriteFile(filepath.Join(dir, "target.yaml"), []byte(freePorts(t, b.text, ports)), 0o600); err != nil {
				t.Fatal(err)
			}
		case "sh":
			t.Run(strings.SplitN(b.text, "\n", 2)[0], func(t *testing.T) {
				for line := range strings.Lines(freePorts(t, b.text, ports)) {
					runLine(t, dir, strings.TrimSuffix(line, "\n"))
					ran++
				}
			})
		}
	}
	if ran < 40 {
		t.Errorf("only %d lines were run", ran)
	}
}

// freePorts gives each port of the page one that is free here; that of Redis one
// of a Redis.
func freePorts(t *testing.T, text string, ports map[string]string) string {
	return regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).ReplaceAllStringFunc(text, func(at string) string {
		if ports[at] == "" {
			if ports[at] = fmt.Sprintf("127.0.0.1:%d", lab.Port(t)); at == "127.0.0.1:6379" {
				ports[at] = lab.Redis(t).Address
			}
		}
		return ports[at]
	})
}

func runLine(t *testing.T, dir, line string) {
	t.Helper()
	command, want, _ := strings.Cut(line, "   # ")
	if args, serves := strings.CutPrefix(command, "target "); serves {
		start(t, dir, args)
		return
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	// 28 is the end of a time that the command itself has set.
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 28 {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	for piece := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(strings.ToLower(string(out)), strings.ToLower(piece)) {
			t.Errorf("%s\ngot %s\nwant it to have %q", command, out, piece)
		}
	}
}

// start runs the program until the test ends.
func start(t *testing.T, dir, args string) {
	t.Helper()
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `exec "$0" `+args, program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = t.Output()
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
	readURL(t, out)
}

// Every way to start the server that some page shows can be started.
func TestPagesServe(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "../../README.md") {
		src, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^[ \t>-]*target serve ([^#\n]*)`).FindAllStringSubmatch(string(src), -1) {
			seen++
			var o serveOptions
			c := &cobra.Command{}
			o.addFlags(c)
			err := c.ParseFlags(words(m[1]))
			if err == nil && o.file == "" {
				_, err = o.config(c)
			}
			if err != nil {
				t.Errorf("%s: target serve %s: %v", page, m[1], err)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d commands were found", seen)
	}
}

// words splits a command line as a shell does, as far as the pages need it.
func words(line string) (words []string) {
	for _, w := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return words
}

// The page names every flag, and everything that a flag can be given.
func TestDocsAreComplete(t *testing.T) {
	src, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	page := string(src)
	newServe().Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(page, "--"+f.Name) {
			t.Errorf("the page does not name --%s", f.Name)
		}
	})
	lists := [][]mode.Doc{limiter.List(), key.List(), server.Stores(), dialect.Families(), dialect.RetryAfters(), server.Modes(), server.Methods(), defect.List(), server.HTTPVersions(), server.NodeStores(), server.Fronts()}
	for _, d := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(d.Name, ":")
		if !regexp.MustCompile("[`{ |]" + regexp.QuoteMeta(name) + "[`{ |:,]").MatchString(page) {
			t.Errorf("the page does not name %s", d.Name)
		}
	}
}
