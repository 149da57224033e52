package score

import "github.com/ratehammer/ratehammer/cmd/target/defect"

// form is one way in which a defect can be wrong.
type form struct {
	mode string // as it would be given to target serve
	on   defect.On
}

// formsOf are the forms of a defect, its example first. They are all that its
// settings name that a client of the example's server could tell from what is right:
// reloads that change the promise, nodes with clocks of their own and the like need
// more than one server and one promise.
func formsOf(e defect.Entry) []form {
	all := []form{{e.Example, e.On}}
	for _, m := range modes[e.Name] {
		all = append(all, form{m, e.On})
	}
	if e.Name == "ra" { // which is off by a token's time at most
		all = append(all, form{"ra{form=full-interval}", defect.On{Limit: "token-bucket{burst=5,rate=1/5s}"}})
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
