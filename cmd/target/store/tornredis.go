package store

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// tornRedis keeps the states in a Redis as a limiter does that was written
// without a script: GET, a decision in this process and on its clock, SET. The
// way to Redis and back is the gap in which others read the same.
type tornRedis struct{ *redis }

// newTornRedis makes such a store of one that has no scripts yet.
func newTornRedis(r *redis) (Store, error) {
	for i := range r.limits {
		l := &r.limits[i]
		if !l.Torn {
			return nil, fmt.Errorf("%s: read and written apart, and another limit in the same Redis is not: give them different stores", l.Name)
		}
		if l.Now == nil {
			l.Now = clock.Instant.Since1970
		}
		if err := survives(l.Algorithm); err != nil {
			return nil, err
		}
		r.names = append(r.names, fmt.Sprintf("%s%d:%s:%T:torn:", r.options.Prefix, i, l.Name, l.Algorithm))
	}
	r.connect()
	return tornRedis{r}, nil
}

// survives is the error of states that are not the same once they have been
// written down and read.
func survives(a limiter.Algorithm) error {
	s := a.Fresh(1)
	if _, err := a.Decide(s, 1, 1); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	again := a.Fresh(2)
	if err == nil {
		err = json.Unmarshal(text, again)
	}
	if err != nil || !reflect.DeepEqual(again, s) {
		return fmt.Errorf("%s in Redis, read and written apart: a state of %T cannot be written down (%v)", a.Promise().Contract, s, err)
	}
	return nil
}

func (r tornRedis) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if err := check(asks, len(r.limits)); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	t := tear(r.limits, asks, r.clock.Read())
	err := r.read(limited, t, asks)
	if err == nil {
		err = t.decide(ctx)
	}
	if err == nil {
		err = r.write(limited, t, asks)
	}
	if err != nil {
		return fmt.Errorf("deciding in Redis at %s: %w", r.options.Address, err)
	}
	if settle != nil {
		settle(t.answer(asks, r.clock.Read()))
	}
	return nil
}

func (r tornRedis) read(ctx context.Context, t *tearing, asks []Ask) error {
	var keys []string
	for _, a := range asks {
		keys = append(keys, r.key(a))
	}
	texts, err := r.client.MGet(ctx, keys...).Result()
	if err != nil {
		return err
	}
	for i, text := range texts {
		written, ok := text.(string)
		if t.known[i] = ok; !ok {
			continue
		}
		if err := json.Unmarshal([]byte(written), t.parts[i].State); err != nil {
			return fmt.Errorf("reading a state: %w", err)
		}
	}
	return nil
}

func (r tornRedis) write(ctx context.Context, t *tearing, asks []Ask) error {
	_, err := r.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i, a := range asks {
			if !t.writes(i) {
				continue
			}
			if err := r.put(ctx, p, a, &t.parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// put writes a state with the time after which it does not matter any more.
func (r tornRedis) put(ctx context.Context, to goredis.Cmdable, a Ask, p *limiter.Part) error {
	text, err := json.Marshal(p.State.Clone()) // which leaves behind what a log no longer needs
	if err != nil {
		return fmt.Errorf("writing a state: %w", err)
	}
	life := p.Decision.Reset
	if life < 0 {
		life = r.options.Lease
	}
	return to.Set(ctx, r.key(a), text, roundUp(life)+r.options.Spare).Err()
}

// Release reads and writes apart too.
func (r tornRedis) Release(ctx context.Context, asks []Ask) error {
	if err := check(asks, len(r.limits)); err != nil {
		return err
	}
	asks = slices.DeleteFunc(slices.Clone(asks), func(a Ask) bool {
		_, releases := r.limits[a.Limit].Algorithm.(limiter.Releaser)
		return !releases || a.Lease == 0
	})
	if len(asks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	t := tear(r.limits, asks, r.clock.Read())
	err := r.read(ctx, t, asks)
	for i, a := range asks {
		if err == nil && t.known[i] {
			p := &t.parts[i]
			p.Algorithm.(limiter.Releaser).Release(p.State, p.Now, a.Cost)
			p.Decision = p.Algorithm.View(p.State, p.Now)
			err = r.put(ctx, r.client, a, p)
		}
	}
	if err != nil {
		return fmt.Errorf("releasing in Redis at %s: %w", r.options.Address, err)
	}
	return nil
}
