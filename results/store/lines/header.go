package lines

// Header is the first line. Its texts are kept as they are: what they mean is
// the business of whoever reads the promise.
type Header struct {
	Expect string `json:"expect,omitempty"` // status and, if broken, the check that says so: "kept", "broken bound.upper"; empty: nothing is expected
	Note   string `json:"note,omitempty"`   // for people
	Start  string `json:"start,omitempty"`  // what a bucket holds when its key is first used: full, or unknown; empty: full
	// Asked is how many phases, from the first on, ask whether the promise is kept: the
	// requests of those behind them were sent after a breach, to find what it comes from,
	// and no finding rests on them. 0: all ask.
	Asked int   `json:"asked,omitempty"`
	Tick  int64 `json:"tick_ns,omitempty"` // step of the client's clock, by which an end may be too early; 0: the ends are late enough
	Limit
	Limits []Limit `json:"limits,omitempty"` // further limits, all of which hold
}

// Limit is one promise, in the words of a scenario file.
type Limit struct {
	Name     string `json:"name,omitempty"`      // empty: it has none
	Contract string `json:"contract,omitempty"`  // such as token-bucket; empty: the default one
	Burst    int64  `json:"burst,omitempty"`     // tokens; 0: not given
	Rate     string `json:"rate,omitempty"`      // tokens per time, such as 5/s; empty: not given
	Align    string `json:"align,omitempty"`     // where windows begin: epoch, start or first-hit; empty: anywhere
	Key      string `json:"key,omitempty"`       // what clients are told apart by; empty: the default
	Quantum  string `json:"quantum,omitempty"`   // step of the limiter's clock, such as 1ms; empty: its clock is exact
	Over     int64  `json:"over_ppm,omitempty"`  // how much faster than promised it may refill, in parts per million; 0: not at all
	Under    int64  `json:"under_ppm,omitempty"` // how much slower, likewise
}

// All are the limits of the header, the one written in its own fields first.
func (h Header) All() []Limit {
	if h.Limit == (Limit{}) {
		return h.Limits
	}
	return append([]Limit{h.Limit}, h.Limits...)
}

const headerExample = `{"expect":"kept","burst":10,"rate":"5/s"}`
