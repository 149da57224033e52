package server

import (
	"net"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func redisKind() storeKind {
	return storeKind{
		Doc: mode.Doc{
			Name:     "redis",
			Settings: "address=HOST:PORT,prefix=TEXT,timeout=DURATION,down=none|open|closed|local,lease=DURATION",
			Example:  "redis{address=127.0.0.1:6379,prefix=ratehammer:,timeout=1s,down=none,lease=1m}",
			Text:     "In a Redis, on its clock, by one script. While it is down, or takes longer than timeout: none answers 503, open admits, closed refuses with 503, local asks a store in this process with limits of its own (--fallback). lease is how long a place of a concurrency limit is held at most. The example shows the defaults.",
		},
		build: buildRedis,
	}
}

func buildRedis(r *mode.Reader) (opener, error) {
	o := store.RedisOptions{
		Address: r.TextOr("address", "127.0.0.1:6379"),
		Prefix:  r.TextOr("prefix", "ratehammer:"),
		Lease:   r.DurationOr("lease", time.Minute),
	}
	f := readFailure(r)
	_, _, err := net.SplitHostPort(o.Address)
	r.Require(err == nil, "address", "write HOST:PORT")
	r.Require(o.Lease >= time.Second && o.Lease <= 24*time.Hour, "lease", "give 1s to 24h")
	if err := r.Done(); err != nil {
		return opener{}, err
	}
	o.Timeout = f.timeout
	return opener{open: func(at opening) (store.Store, error) {
		mine := o
		mine.Prefix += at.apart
		mine.Dial = at.link.Dial
		s, err := store.NewRedis(mine, at.limits, at.clock)
		if err != nil {
			return nil, err
		}
		return f.guard(s, at)
	}}, nil
}
