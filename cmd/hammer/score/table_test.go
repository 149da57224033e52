package score

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// views are those of the published table.
var views = Views(Scenarios(), Distances())

// row is a line of the published table: the case, and how often each view called
// it broken.
type row struct {
	group Group
	name  string
	cells [][2]int // broken, of runs
}

func published(t *testing.T) (rows []row) {
	t.Helper()
	src, err := os.ReadFile("../../../docs/score.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(defect|twin|trap|right) +(.*?)  +(\d+/\d+.*)$`)
	for text := range strings.Lines(string(src)) {
		m := line.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		r := row{group: Group(m[1]), name: m[2]}
		for _, c := range regexp.MustCompile(`(\d+)/(\d+)`).FindAllStringSubmatch(m[3], -1) {
			broken, err1 := strconv.Atoi(c[1])
			runs, err2 := strconv.Atoi(c[2])
			if err1 != nil || err2 != nil {
				t.Fatalf("%s: cannot be read", text)
			}
			r.cells = append(r.cells, [2]int{broken, runs})
		}
		rows = append(rows, r)
	}
	return rows
}

// The page holds every case there is, accuses nothing that is right, and what it
// says of each view holds for a seed of which it does not speak.
func TestScorePage(t *testing.T) {
	all, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]Case{}
	for _, c := range all {
		cases[c.Name] = c
	}
	rows := published(t)
	if len(rows) != len(all) {
		t.Errorf("the page has %d cases, there are %d", len(rows), len(all))
	}
	for _, r := range rows {
		c, ok := cases[r.name]
		if !ok || len(r.cells) != len(views) {
			t.Errorf("%s: is no case, or has %d figures where there are %d views", r.name, len(r.cells), len(views))
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t, c)
		})
	}
}

// check tries the cheapest view that catches a defect, and the first one of what is
// right.
func (r row) check(t *testing.T, c Case) {
	for i, v := range views {
		caught := r.cells[i][0]*100 >= r.cells[i][1]*95
		if r.group != Defect && r.cells[i][0] > 0 {
			t.Errorf("%s: the page accuses what is right", v.Name)
		}
		if r.group == Defect && !caught {
			continue
		}
		o, err := Run(c.Subject, Trial{Network: v.Network, Thorough: v.Thorough, Identity: v.Thorough, Seed: 7001})
		if err != nil {
			t.Fatal(err)
		}
		if broken := o.Status == results.Broken; broken != (r.group == Defect) {
			t.Errorf("%s: got broken %v: %s", v.Name, broken, o.Headline)
		}
		return
	}
}
