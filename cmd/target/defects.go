package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

func newDefects() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "defects",
		Short: "List the defects and traps that the server knows",
		Long: `List the defects: each with its settings, what is wrong, the rows of
docs/defects.md, a command that shows it and where it was seen in public; and apart from
them the traps, which look wrong and are right. target serve --all serves all of them,
each defect beside its clean twin.

` + exitHelp,
		Args: wrongUse(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return writeCatalogue(c.OutOrStdout())
			}
			_, err := io.WriteString(c.OutOrStdout(), catalogue())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return c
}

// listed is a defect as JSON.
type listed struct {
	Name     string   `json:"name"`
	Settings string   `json:"settings"` // grammar
	Text     string   `json:"text"`
	Rows     []string `json:"rows"`
	Example  string   `json:"example"`
	Serve    string   `json:"serve"` // the command line that shows it
	Deeds    []string `json:"deeds"` // what has to be posted to the admin side for it to show
	Wrong    string   `json:"wrong"` // path with target serve --all
	Right    string   `json:"right"` // path of its clean twin
	Reports  []string `json:"reports"`
}

// listedTrap is a trap as JSON.
type listedTrap struct {
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Rows    []string `json:"rows"`
	Limits  []string `json:"limits"`
	Path    string   `json:"path"` // with target serve --all
	Reports []string `json:"reports"`
}

// entries are the defects in the order of their first rows; mutants without a
// number come last.
func entries() (all []listed) {
	for _, e := range defect.Catalogue() {
		all = append(all, listed{
			Name: e.Name, Settings: e.Settings, Text: e.Text, Rows: append([]string{}, e.Rows...), Example: e.Example, Serve: serveLine(e), Deeds: append([]string{}, e.On.Deeds...),
			Wrong: defectsPath + e.Name + "/wrong", Right: defectsPath + e.Name + "/right", Reports: append([]string{}, e.Reports...),
		})
	}
	slices.SortStableFunc(all, func(a, b listed) int { return cmp.Compare(strings.Join(a.Rows, " "), strings.Join(b.Rows, " ")) })
	return all
}

func traps() (all []listedTrap) {
	for _, t := range defect.Traps() {
		all = append(all, listedTrap{t.Name, t.Text, t.Rows, t.Limits, trapsPath + t.Name, append([]string{}, t.Reports...)})
	}
	return all
}

// serveLine is the command that serves a defect where it can be seen.
func serveLine(e defect.Entry) string {
	var b strings.Builder
	b.WriteString("target serve")
	flag := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " --%s '%s'", name, value)
		}
	}
	on := e.On
	flag("limit", cmp.Or(on.Limit, server.DefaultLimit))
	flag("limit", on.Beside)
	flag("key", on.Key)
	flag("cost-header", on.CostHeader)
	flag("cost-body", on.CostBody)
	flag("store", on.Store)
	if on.Keeps {
		flag("store", "memory{persist=states.jsonl}")
	}
	flag("mode", on.Mode)
	flag("retry-after", on.RetryAfter)
	flag("fields", on.Fields)
	flag("defect", e.Example)
	return b.String()
}

func writeCatalogue(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		Defects []listed     `json:"defects"`
		Traps   []listedTrap `json:"traps"`
	}{entries(), traps()})
}

// catalogue is the list for people.
func catalogue() string {
	var b strings.Builder
	b.WriteString("Defects (--defect), in the order of docs/defects.md; M stands for those without a row there:\n")
	for _, e := range entries() {
		grammar := e.Name
		if e.Settings != "" {
			grammar += "{" + e.Settings + "}"
		}
		fmt.Fprintf(&b, "\n%s  %s\n  %s\n  see it: %s\n", strings.Join(e.Rows, " "), grammar, e.Text, e.Serve)
		for _, deed := range e.Deeds {
			fmt.Fprintf(&b, "  then:   curl -X POST http://127.0.0.1:9090%s   # the admin side, with --admin 127.0.0.1:9090\n", deed)
		}
		writeReports(&b, e.Reports)
	}
	b.WriteString("\nTraps (target serve --all): right, though they look wrong:\n")
	for _, t := range traps() {
		fmt.Fprintf(&b, "\n%s  %s  %s\n  %s\n", strings.Join(t.Rows, " "), t.Path, strings.Join(t.Limits, " and "), t.Text)
		writeReports(&b, t.Reports)
	}
	return b.String()
}

func writeReports(b *strings.Builder, reports []string) {
	if len(reports) > 0 {
		fmt.Fprintf(b, "  reported: %s\n", strings.Join(reports, ", "))
	}
}
