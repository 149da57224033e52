package assertions
import ("testing";"time";"github.com/ratehammer/ratehammer/results";"github.com/ratehammer/ratehammer/scenarios";"github.com/ratehammer/ratehammer/cmd/target/virtual";"fmt")
func TestZ(t *testing.T) {
	rng, n, w := draw(5)
	server := alone(algorithm(t, fmt.Sprintf("sliding-counter{rate=%s}", rate(n, w))), rng)
	l := asBucket(n, w)
	net := virtual.Network{OneWay: 500 * time.Microsecond, Spread: 0.4, Tail: 0.01, TailBy: 30}
	s, _ := scenarios.Standard(l, scenarios.Circumstances{RTT: 2 * net.OneWay, Seed: 5})
	plan, _ := s.Plan(scenarios.Supply{})
	right := l; right.Contract, right.Burst = scenarios.SlidingCounter, 0
	j, err := New([]scenarios.Limit{right}, Options{Fresh: true, Wanted: s.Wanted})
	if err != nil { t.Fatal(err) }
	for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}, net, server, 5) { j.Block(b) }
	v := j.Verdict(&results.Run{Planned: 1, Sent: 1})
	t.Log(v.Status, broken(v))
	d := newDiagnosis(j.sample, []scenarios.Limit{l}, 0)
	t.Log(d.clues.first, d.clues.most, d.clues.empty, d.clues.fresh, len(d.sample.hits), len(d.moments), d.sizes())
	_, ok := d.fits(l); t.Log("declared fits", ok)
	x, ok := d.fits(right); t.Log("right fits", ok, x.theory)
	e, ok := d.explain(family{scenarios.SlidingCounter, ""}); t.Log(e.limit, ok)
	if ok { t.Log(d.holds(e), e.by.lo, e.by.hi, e.waits) }
}
