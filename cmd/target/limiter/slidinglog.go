package limiter

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// SlidingLog admits N tokens in any time of length W: it remembers each
// admission of the last W, (now-W, now]. A key takes 40 bytes and 16 for each
// moment that it remembers, up to N of them and as many in reserve.
//
// In a closed window of length T it admits at most f(T) = N * (floor(T/W) + 1):
// that is how many half-open windows of length W it takes to cover it, and N
// tokens every W give as much.
//
// It can be told to log refusals too, as limiters do whose log is written before
// it is counted. Then who keeps asking is never admitted again, and f is a bound
// that is reached only by who waits.
type SlidingLog struct {
	promise scenarios.Limit
	grid    Grid // only its period counts
	refused bool
}

// Log is the state of one key. Its entries are in the order of time.
type Log struct {
	Entries []Entry // of the window, behind those that have left it
	gone    int     // how many at the start have left the window
	Sum     int64   // tokens of those that have not
}

// Entry is what was logged at one moment.
type Entry struct {
	At   int64 // nanoseconds
	Cost int64 // tokens
}

// NewLog is a log of these entries, in the order of time. Those without a cost
// are left out.
func NewLog(entries ...Entry) *Log {
	k := &Log{}
	for _, e := range entries {
		if e.Cost > 0 {
			k.add(e)
		}
	}
	return k
}

// Clone is a copy.
func (k *Log) Clone() State {
	return &Log{Entries: append([]Entry(nil), k.live()...), Sum: k.Sum}
}

func (k *Log) live() []Entry { return k.Entries[k.gone:] }

func slidingLog() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "sliding-log",
			Settings: "rate=TOKENS/WINDOW,log-refused=true|false",
			Example:  "sliding-log{rate=10/10s}",
			Text:     "Remembers every admission of the last window; at most tokens*(floor(T/window)+1) pass in any time T. With log-refused refusals are remembered as well, and who keeps asking stays refused.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			rate, refused := r.Rate("rate"), r.Bool("log-refused")
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewSlidingLog(rate, refused))
		},
	}
}

// NewSlidingLog admits rate.Count tokens in any rate.Per, and logs refusals too
// if it is told to. It returns an error if the rate is no limit.
func NewSlidingLog(rate scenarios.Rate, logRefused bool) (*SlidingLog, error) {
	p, grid, err := window(scenarios.SlidingLog, rate, Epoch)
	if err != nil {
		return nil, err
	}
	return &SlidingLog{promise: p, grid: grid, refused: logRefused}, nil
}

// Promise is the tokens and the window as the rate.
func (l *SlidingLog) Promise() scenarios.Limit { return l.promise }

// LogsRefused reports whether refusals are logged too.
func (l *SlidingLog) LogsRefused() bool { return l.refused }

// Fresh is an empty log.
func (l *SlidingLog) Fresh(int64) State { return &Log{} }

// Decide drops what has left the window, and admits what there is room for.
func (l *SlidingLog) Decide(s State, now, cost int64) (d Decision, err error) {
	most := l.promise.Rate.Count
	if cost < 1 || cost > most {
		return d, &CostError{Cost: cost, Most: most}
	}
	k := s.(*Log)
	l.slide(k, now)
	before := k.Sum
	if d.Admitted = before <= most-cost; d.Admitted || l.refused {
		k.add(Entry{now, cost})
		k.trim(most)
	}
	l.tell(&d, before, k, now)
	if !d.Admitted {
		d.Wait = l.wait(k, now, cost)
	}
	return d, nil
}

// View looks at the window of now.
func (l *SlidingLog) View(s State, now int64) (d Decision) {
	k := *s.(*Log) // the entries are shared, and only looked at
	k.drop(now - l.grid.Period)
	l.tell(&d, k.Sum, &k, now)
	return d
}

// tell fills in the figures of a key of whose log this was the sum before.
func (l *SlidingLog) tell(d *Decision, before int64, k *Log, now int64) {
	most := l.promise.Rate.Count
	d.Before, d.After, d.Unit, d.Limit = most-before, most-k.Sum, 1, most
	d.Remaining = max(0, d.After)
	if live := k.live(); len(live) > 0 {
		d.Reset = time.Duration(live[len(live)-1].At + l.grid.Period - now)
	}
}

// wait is until enough entries have left the window: one of moment t leaves it
// at t+W.
func (l *SlidingLog) wait(k *Log, now, cost int64) time.Duration {
	excess := k.Sum + cost - l.promise.Rate.Count
	for _, e := range k.live() {
		if excess -= e.Cost; excess <= 0 {
			return time.Duration(e.At + l.grid.Period - now)
		}
	}
	return 0 // nothing is in excess: not for a refusal
}

// slide drops what has left the window, and gives its room back once that is
// half of all.
func (l *SlidingLog) slide(k *Log, now int64) {
	k.drop(now - l.grid.Period)
	if k.gone > 0 && k.gone >= len(k.Entries)/2 {
		n := copy(k.Entries, k.live())
		k.Entries, k.gone = k.Entries[:n], 0
	}
}

// drop takes the entries of the moment end and before for gone.
func (k *Log) drop(end int64) {
	for k.gone < len(k.Entries) && k.Entries[k.gone].At <= end {
		k.Sum -= k.Entries[k.gone].Cost
		k.gone++
	}
}

// add logs an entry. One that is earlier than the last is taken for that moment.
func (k *Log) add(e Entry) {
	k.Sum += e.Cost
	if n := len(k.Entries); n > k.gone && k.Entries[n-1].At >= e.At {
		k.Entries[n-1].Cost += e.Cost
		return
	}
	k.Entries = append(k.Entries, e)
}

// trim drops the entries that cannot matter any more, since those after them
// alone keep the window full until they have left it. It is what bounds a log of
// refusals.
func (k *Log) trim(most int64) {
	for live := k.live(); len(live) > 0 && k.Sum-live[0].Cost >= most; live = k.live() {
		k.Sum -= live[0].Cost
		k.gone++
	}
}

// Forgettable reports whether everything has left the window. A log that was
// written after now has not.
func (l *SlidingLog) Forgettable(s State, now int64) bool {
	live := s.(*Log).live()
	return len(live) == 0 || live[len(live)-1].At <= now-l.grid.Period
}
