package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// RedisOptions says where the states are kept. The zero value but for the
// Address works.
type RedisOptions struct {
	Address string                                                               // host and port
	Prefix  string                                                               // of every key; empty: "ratehammer:". Servers with the same prefix and the same limits in the same order share the budgets
	Timeout time.Duration                                                        // for a decision whose context has no earlier end; 0: 1 s
	Spare   time.Duration                                                        // how much longer than needed a key is kept, since the clock it expires by may be corrected; 0: 1 s
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // connects; nil: as usual
	Lease   time.Duration                                                        // after which a place of a concurrency limit is free again though nobody gave it back; 0: 1 minute
	Now     func() int64                                                         // the moment of a decision in microseconds since 1970, for tests; nil: Redis's own time
}

func (o RedisOptions) withDefaults() RedisOptions {
	if o.Prefix == "" {
		o.Prefix = "ratehammer:"
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	if o.Spare < time.Millisecond {
		o.Spare = time.Second
	}
	if o.Lease < time.Millisecond {
		o.Lease = time.Minute
	}
	return o
}

// redis keeps the states in a Redis, which may be shared. One script reads,
// decides and writes: no other decision comes between, and a key is never
// written without the time after which it is gone.
//
// The clock is Redis's own, in microseconds, so that servers with clocks of their
// own agree. It is a wall clock: where it goes back, a state goes on from the
// latest moment it has seen, and nobody gains.
//
// The script tells what its decision rests on, and the algorithm itself computes
// the figures from that. So they are the same as in memory, and a script that
// decided otherwise than the algorithm would be found out at once.
type redis struct {
	options  RedisOptions
	clock    *clock.Clock
	client   *goredis.Client
	limits   []Limit
	scripted []scripted
	names    []string // what the keys of each limit begin with
	decide   *goredis.Script
	release  *goredis.Script
}

// NewRedis gives a store in a Redis for the limits; c tells the moments between
// which a decision was made. It returns an error if a limit cannot be decided
// there. It does not connect: that is for the first decision to do, since a store
// that is down may come up again.
func NewRedis(o RedisOptions, limits []Limit, c *clock.Clock) (Store, error) {
	r := &redis{options: o.withDefaults(), clock: c, limits: slices.Clone(limits)}
	if slices.ContainsFunc(limits, torn) {
		return newTornRedis(r)
	}
	for i, l := range r.limits {
		if l.Apart {
			return nil, fmt.Errorf("%s in Redis: the script charges all limits or none", l.Name)
		}
		s, err := script(l.Algorithm, r.options.Lease)
		if err != nil {
			return nil, err
		}
		r.scripted = append(r.scripted, s)
		// Another limit must not take this one's states for its own: with other
		// settings they are in other units, and with another name or algorithm they
		// are somebody else's.
		r.names = append(r.names, fmt.Sprintf("%s%d:%s:%T:%s%v:", r.options.Prefix, i, l.Name, l.Algorithm, s.kind, s.settings))
	}
	text, err := compose(r.scripted)
	if err != nil {
		return nil, err
	}
	back, err := sources.ReadFile("lua/release.lua")
	if err != nil {
		return nil, fmt.Errorf("reading the script release: %w", err)
	}
	r.decide, r.release = goredis.NewScript(text), goredis.NewScript(string(back))
	r.connect()
	return r, nil
}

// connect prepares the connections.
func (r *redis) connect() {
	// Each failure comes back as an error. The module would print it as well, for
	// the whole process.
	goredis.SetLogger(silent{})
	r.client = goredis.NewClient(&goredis.Options{
		Addr:     r.options.Address,
		Protocol: 2,
		// A command whose answer was lost may have been run: sent again it would be
		// charged twice.
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           r.options.Timeout,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		Dialer:                r.options.Dial,
	})
}

// silent prints nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (r *redis) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if err := check(asks, len(r.limits)); err != nil {
		return err
	}
	if err := r.checkCosts(asks); err != nil {
		return err
	}
	keys, args := r.question(asks)
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	from := r.clock.Read()
	reply, err := r.decide.Run(ctx, r.client, keys, args...).Slice()
	if err != nil {
		return fmt.Errorf("deciding in Redis at %s: %w", r.options.Address, err)
	}
	answer, err := r.answer(asks, reply)
	if err != nil {
		return fmt.Errorf("deciding in Redis at %s: %w", r.options.Address, err)
	}
	answer.From, answer.At = from, r.clock.Read()
	if settle != nil {
		settle(answer)
	}
	return nil
}

// checkCosts asks a key that was never used: a cost that it does not admit can
// never be.
func (r *redis) checkCosts(asks []Ask) error {
	for _, a := range asks {
		algorithm := r.limits[a.Limit].Algorithm
		if _, err := algorithm.Decide(algorithm.Fresh(0), 0, a.Cost); err != nil {
			return err
		}
	}
	return nil
}

// question is what the script is given.
func (r *redis) question(asks []Ask) (keys []string, args []any) {
	now := any("")
	if r.options.Now != nil {
		now = r.options.Now()
	}
	args = append(args, now, r.options.Spare.Milliseconds())
	for _, a := range asks {
		s := r.scripted[a.Limit]
		keys = append(keys, r.key(a))
		args = append(args, s.kind, a.Cost)
		for _, n := range s.settings {
			args = append(args, n)
		}
	}
	return keys, args
}

// key is where the state of an ask is. What the client sent is hashed: it may be
// long, and secret, and Redis writes the keys of slow commands to a log.
func (r *redis) key(a Ask) string {
	sum := sha256.Sum256([]byte(a.Key))
	return r.names[a.Limit] + hex.EncodeToString(sum[:16])
}

// answer decides again on the states that the script has decided on.
func (r *redis) answer(asks []Ask, reply []any) (*Answer, error) {
	rows, err := r.rows(asks, reply)
	if err != nil {
		return nil, err
	}
	now := rows[0][0] * 1000
	parts := make([]limiter.Part, len(asks))
	wanted := -1
	for i, a := range asks {
		row := rows[i+1]
		parts[i] = limiter.Part{Algorithm: r.limits[a.Limit].Algorithm, State: r.scripted[a.Limit].state(row[1:]), Now: now, Cost: a.Cost}
		if row[0] == 0 && wanted < 0 {
			wanted = i
		}
	}
	refused, err := limiter.DecideAll(parts)
	if err != nil || refused != wanted {
		return nil, fmt.Errorf("the script and the algorithms decide otherwise: %d and %d refuse, %v", wanted, refused, err)
	}
	answer := &Answer{Admitted: refused < 0, Refused: refused}
	for i, a := range asks {
		answer.Moments = append(answer.Moments, now)
		answer.Decisions = append(answer.Decisions, inMicroseconds(parts[i].Decision))
		asks[i].Lease = 0
		if s := r.scripted[a.Limit]; answer.Admitted {
			asks[i].Lease = 1
			if s.lease > 0 {
				asks[i].Lease = rows[i+1][1+s.lease]
			}
		}
	}
	return answer, nil
}

// rows are the numbers of a reply: the moment, and a row for each ask.
func (r *redis) rows(asks []Ask, reply []any) ([][]int64, error) {
	if len(reply) != len(asks)+1 {
		return nil, fmt.Errorf("the script answers %d of %d", len(reply)-1, len(asks))
	}
	rows := make([][]int64, len(reply))
	for i, x := range reply {
		row := []any{x}
		if i > 0 {
			row, _ = x.([]any)
			if len(row) != 1+r.scripted[asks[i-1].Limit].numbers {
				return nil, fmt.Errorf("the script answers %v of a %s", x, r.scripted[asks[i-1].Limit].kind)
			}
		}
		for _, n := range row {
			number, ok := n.(int64)
			if !ok {
				return nil, fmt.Errorf("the script answers %v where a number is expected", n)
			}
			rows[i] = append(rows[i], number)
		}
	}
	return rows, nil
}

// inMicroseconds rounds up what a client is told to wait to the steps of the
// clock that it will be decided by: the moment of the decision was cut to them.
func inMicroseconds(d limiter.Decision) limiter.Decision {
	d.Wait, d.Delay, d.Reset = roundUp(d.Wait), roundUp(d.Delay), roundUp(d.Reset)
	return d
}

func roundUp(d time.Duration) time.Duration {
	const step = time.Microsecond
	if d <= 0 || d%step == 0 || d > 1<<63-1-step {
		return d
	}
	return d - d%step + step
}

// Release gives back the places of concurrency limits. If that fails their lease
// runs out.
func (r *redis) Release(ctx context.Context, asks []Ask) error {
	if err := check(asks, len(r.limits)); err != nil {
		return err
	}
	var keys []string
	var args []any
	for _, a := range asks {
		if r.scripted[a.Limit].lease > 0 && a.Lease > 0 {
			keys = append(keys, r.key(a))
			args = append(args, a.Lease, a.Cost)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	if err := r.release.Run(ctx, r.client, keys, args...).Err(); err != nil {
		return fmt.Errorf("releasing in Redis at %s: %w", r.options.Address, err)
	}
	return nil
}

// Len counts the keys that begin with the prefix, which takes long where there
// are many.
func (r *redis) Len() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n := 0
	scan := r.client.Scan(ctx, 0, escape(r.options.Prefix)+"*", 10_000).Iterator()
	for scan.Next(ctx) {
		n++
	}
	if scan.Err() != nil {
		return -1
	}
	return n
}

// escape makes a pattern that means the text itself.
func escape(text string) string {
	var pattern []rune
	for _, c := range text {
		if slices.Contains([]rune(`*?[]\^`), c) {
			pattern = append(pattern, '\\')
		}
		pattern = append(pattern, c)
	}
	return string(pattern)
}

// Close ends the connections.
func (r *redis) Close() error {
	if err := r.client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
		return fmt.Errorf("closing the connections to Redis at %s: %w", r.options.Address, err)
	}
	return nil
}
