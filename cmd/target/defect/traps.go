package defect

// Trap is a server that is right and looks wrong: who accuses it has made a
// mistake that others have made in public before.
type Trap struct {
	Name       string
	Text       string   // one sentence: why it is right
	Rows       []string // of docs/defects.md
	Limits     []string // all are asked
	Fields     string   // header fields that tell of the limits; empty: any
	BestEffort bool     // the limits are a wish and no promise
	Deeds      []string // what happens to it: paths of the admin side that are posted to; nil: nothing
	Reports    []string // where it was taken for wrong
}

// Traps are all of them.
func Traps() []Trap {
	return []Trap{
		{
			Name: "exact", Rows: []string{"T01", "T02", "T09"},
			Limits: []string{"fixed-window{rate=10/1m,align=first-hit}"}, Fields: "x-ratelimit",
			Text:    "Counts first and compares then, with 'more than', so exactly ten pass; after the first of ten nine remain, after the tenth none, and the eleventh is the first to be refused.",
			Reports: []string{"liwala/ay-framework issue 375", "knoxiboy/DoubtDesk issue 1103", "sidekiq/sidekiq issue 2897"},
		},
		{
			Name: "stepped-wall", Rows: []string{"T03"},
			Limits: []string{"token-bucket{burst=10,rate=5/s}"}, Deeds: []string{"/clock/step?by=-10s", "/clock/step?by=20s"},
			Text:    "Goes by a monotonic clock, so whatever the wall clock does (POST /clock/step?by=-10s) changes the Date and nothing else.",
			Reports: []string{"BaseIntelligence/bounty-challenge issue 15078"},
		},
		{
			Name: "burst-and-rate", Rows: []string{"T05"},
			Limits:  []string{"token-bucket{burst=10,rate=100/s}"},
			Text:    "More than the burst passes in a second, as it has to: 10 at once and 100 that are earned meanwhile.",
			Reports: []string{"golang/go issue 39970"},
		},
		{
			Name: "epoch-reset", Rows: []string{"T07"},
			Limits: []string{"fixed-window{rate=10/1m}"}, Fields: "x-ratelimit-epoch",
			Text:    "Reset is a moment, in seconds since 1970; who reads it as milliseconds finds himself in January 1970.",
			Reports: []string{"express-rate-limit/express-rate-limit issue 232"},
		},
		{
			Name: "two-logs", Rows: []string{"T10"},
			Limits:  []string{"sliding-log{rate=70/100s}", "sliding-log{rate=250/300s}"},
			Text:    "Two limits hold together, and the tighter explains all: 70 of 2000 requests in 40 s are neither too many nor too few.",
			Reports: []string{"mholt/caddy-ratelimit issue 24"},
		},
		{
			Name: "estimate", Rows: []string{"T11"},
			Limits:  []string{"sliding-counter{rate=10/10s}"},
			Text:    "Estimates the last window from two counters, as is declared, so the count does not fall to nothing exactly one window after the last request.",
			Reports: []string{"haproxy/haproxy issue 1913"},
		},
		{
			Name: "best-effort", Rows: []string{"T12"}, BestEffort: true,
			Limits:  []string{"fixed-window{rate=10/2s}"},
			Text:    "The limit is declared as best effort, so what passes beyond it around the edge of a window is a figure to report and no fault.",
			Reports: []string{"dev.classmethod.jp on API Gateway usage plans"},
		},
		{
			Name: "no-burst", Rows: []string{"T15"},
			Limits:  []string{"gcra{burst=1,rate=10/s}"},
			Text:    "Without a burst a refused request that comes early costs part of the slot, so a client that polls gets 32 to 39 of the 41 that burst and rate allow in 4 s.",
			Reports: nil,
		},
	}
}
