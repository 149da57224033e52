package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
)

// embed starts the reference server inside this process, with the limits that are
// promised, and the defects asked for, which are the first one's.
func embed(promised []scenarios.Limit, defects []string) (*server.Server, string, error) {
	var cfg server.Config
	var modes []string
	for _, l := range promised {
		if _, _, err := complete(l, nil); err != nil {
			return nil, "", err
		}
		kept, err := keeping(l)
		if err != nil {
			return nil, "", err
		}
		cfg.Limits, modes = append(cfg.Limits, kept), append(modes, kept.Algorithm.String())
	}
	said := "reference server in this process, " + strings.Join(modes, " and ")
	var errs []error
	for _, d := range defects {
		m, err := mode.Parse(d)
		if err != nil {
			errs = append(errs, fmt.Errorf("--defect: %w", err))
		}
		cfg.Limits[0].Defects = append(cfg.Limits[0].Defects, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, "", err
	}
	if len(defects) > 0 {
		said += ", made wrong by " + strings.Join(defects, " and ")
	}
	s, err := server.Start(cfg)
	if err != nil {
		return nil, "", &probes.Hinted{Err: err, Hint: "defects are listed by: target serve --help"}
	}
	return s, said, nil
}

// keeping is the reference server's limit that keeps a promise.
func keeping(l scenarios.Limit) (server.Limit, error) {
	m, err := mode.Parse(modeOf(l))
	if err != nil {
		return server.Limit{}, err
	}
	k, err := key.Parse(l.Key.String())
	return server.Limit{Name: cmp.Or(l.Name, server.DefaultName), Algorithm: m, Key: k, CostHeader: l.CostHeader, CostBody: l.CostBody}, err
}

// fillIn gives a limit without numbers those of the reference server.
func fillIn(l *scenarios.Limit) {
	has, _ := l.Contract.Numbers()
	if l.Burst > 0 || l.Rate.Count > 0 {
		return
	}
	if has.Burst {
		l.Burst = 10
	}
	if has.Rate {
		l.Rate = scenarios.Rate{Count: 5, Per: time.Second}
	}
}

// modeOf is the reference server's limiter that makes a promise.
func modeOf(l scenarios.Limit) string {
	align := ""
	if l.Align != "" {
		align = ",align=" + string(l.Align)
	}
	switch l.Contract {
	case scenarios.Lumps:
		return fmt.Sprintf("lumps{burst=%d,rate=%v%s}", l.Burst, l.Rate, align)
	case scenarios.FixedWindow:
		if align == "" {
			align = ",align=epoch"
		}
		return fmt.Sprintf("fixed-window{rate=%v%s}", l.Rate, align)
	case scenarios.SlidingLog, scenarios.SlidingCounter:
		return fmt.Sprintf("%s{rate=%v%s}", l.Contract, l.Rate, align)
	case scenarios.Quota:
		return fmt.Sprintf("token-bucket{burst=%d,rate=%v}", l.Rate.Count, l.Rate)
	case scenarios.Concurrency:
		return fmt.Sprintf("concurrency{burst=%d}", l.Burst)
	case scenarios.Nginx:
		return fmt.Sprintf("nginx{rate=%v,burst=%d,nodelay}", l.Rate, l.Burst-1)
	case scenarios.GCRA, scenarios.Queue:
		return fmt.Sprintf("%s{burst=%d,rate=%v}", l.Contract, l.Burst, l.Rate)
	}
	return fmt.Sprintf("token-bucket{burst=%d,rate=%v}", l.Burst, l.Rate)
}
