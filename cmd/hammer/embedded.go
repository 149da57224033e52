package main

import (
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

// embed starts the reference server inside this process, with the limit that is
// promised, or the default one, and the defects asked for.
func embed(l *scenarios.Limit, defects []string) (*server.Server, string, error) {
	fillIn(l)
	if _, _, err := complete(*l, nil); err != nil {
		return nil, "", err
	}
	limit := modeOf(*l)
	m, err := mode.Parse(limit)
	if err != nil {
		return nil, "", err
	}
	k, err := key.Parse(l.Key.String())
	if err != nil {
		return nil, "", err
	}
	kept := server.Limit{Name: server.DefaultName, Algorithm: m, Key: k, CostHeader: l.CostHeader, CostBody: l.CostBody}
	said := "reference server in this process, " + limit
	var errs []error
	for _, d := range defects {
		m, err := mode.Parse(d)
		if err != nil {
			errs = append(errs, fmt.Errorf("--defect: %w", err))
		}
		kept.Defects = append(kept.Defects, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, "", err
	}
	if len(defects) > 0 {
		said += ", made wrong by " + strings.Join(defects, " and ")
	}
	s, err := server.Start(server.Config{Limits: []server.Limit{kept}})
	if err != nil {
		return nil, "", &probes.Hinted{Err: err, Hint: "defects are listed by: target serve --help"}
	}
	return s, said, nil
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
