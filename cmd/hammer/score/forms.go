package score

import "github.com/ratehammer/ratehammer/cmd/target/defect"

// form is one way in which a defect can be wrong.
type form struct {
	mode  string // as it would be given to target serve
	on    defect.On
	nodes bool // on two nodes with one store, whose clocks differ by a second, that are asked in turn
}

// formsOf are the forms of a defect, its example first. They are all that its
// settings name that a client of the example's server could tell from what is right:
// reloads that change the promise need more than one.
func formsOf(e defect.Entry) []form {
	all := []form{{mode: e.Example, on: e.On}}
	for _, m := range modes[e.Name] {
		all = append(all, form{mode: m, on: e.On})
	}
	switch e.Name {
	case "ra": // which is off by a token's time at most
		all = append(all, form{mode: "ra{form=full-interval}", on: defect.On{Limit: "token-bucket{burst=5,rate=1/5s}"}})
	case "wall-clock": // of which one node alone shows nothing
		all = append(all, form{mode: "wall-clock{form=clamp}", on: e.On, nodes: true})
	}
	return all
}

// modes are the forms beside the examples, by the defect's name.
var modes = map[string][]string{
	"window":           {"window{align=start}", "window{align=first-hit}"},
	"weighted":         {"weighted{arith=int}"},
	"off-by-one":       {"off-by-one{delta=-1}"},
	"burst-map":        {"burst-map{form=times5}", "burst-map{form=none}"},
	"lumpy":            {"lumpy{lump=5,align=first-hit}"},
	"rate":             {"rate{ppm=-20000}"},
	"underfill":        {"underfill{eff=0.65,form=lost,tick=1s}"},
	"idle":             {"idle{form=overflow,after=2s}"},
	"charges-refusals": {"charges-refusals{form=drain}"},
	"lockout":          {"lockout{for=3s,extend=true}"},
	"wall-clock": {"wall-clock{step=-10s,every=2s}", "wall-clock{step=10s,every=2s}", "wall-clock{step=10s,every=30s}",
		"wall-clock{form=floor,step=-10s,every=2s}", "wall-clock{form=max,step=-10s,every=2s}", "wall-clock{form=drain,step=-10s,every=2s}"},
	"instances":  {"instances{n=3,route=rr}", "instances{n=3,route=random}"},
	"share":      {"share{n=3,route=rr}", "share{n=3,route=random}"},
	"evict":      {"evict{form=clear-all,max-keys=100}", "evict{form=idle,after=500ms}"},
	"chosen-key": {"chosen-key{part=header:User-Agent}", "chosen-key{part=cookie:session}"},
	"attach":     {"attach{form=report-only}"},
	"reload":     {"reload{scope=inflate}"},
	"remaining":  {"remaining{form=neg}", "remaining{form=burst-only}", "remaining{form=random}"},
	"reset":      {"reset{form=seconds}", "reset{form=zero}"},
	"ra": {"ra{form=exclusive}", "ra{form=zero}", "ra{form=neg}", "ra{form=neg-epoch}", "ra{form=window}",
		"ra{form=ms}", "ra{form=epoch}", "ra{form=common-deadline}"},
}
