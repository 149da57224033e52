package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/scenarios"
)

// blocks of a Markdown file in a language.
func fenced(t *testing.T, file, language string) (blocks []string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(src), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// The scenario in the README can be read and planned.
func TestReadmeScenario(t *testing.T) {
	found := false
	for _, src := range fenced(t, "../../README.md", "yaml") {
		if !strings.Contains(src, "phases:") {
			continue
		}
		found = true
		s, err := scenarios.Parse("README.md", []byte(src), assertions.IDs())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Plan(scenarios.Supply{}); err != nil {
			t.Error(err)
		}
	}
	if !found {
		t.Error("there is no scenario in the README")
	}
}

// Every hammer command in the README and in docs has flags that there are.
func TestReadmeCommands(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, "../../README.md") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^[ \t>-]*(?:run: )?(?:go run \./cmd/)?hammer ((?:check|run|plan|judge|report|list|score)\b[^\n#]*)`).FindAllStringSubmatch(string(src), -1) {
			seen++
			args := words(m[1])
			root := newRoot(&console{out: &bytes.Buffer{}, talk: &bytes.Buffer{}})
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: hammer %s: %v", file, m[1], err)
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d commands were found", seen)
	}
}

// words splits a command line as a shell does, as far as the README needs it.
func words(line string) (words []string) {
	for _, w := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return words
}
