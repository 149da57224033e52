package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
)

// embed starts the reference server inside this process, with the limit that is
// promised, or the default one, and the defects asked for.
func embed(l *scenarios.Limit, defects []string) (*server.Server, string, error) {
	if l.Burst == 0 && l.Rate.Count == 0 {
		l.Burst, l.Rate = 10, scenarios.Rate{Count: 5, Per: 1e9}
	}
	if l.Burst == 0 || l.Rate.Count == 0 {
		_, _, err := complete(*l, nil)
		return nil, "", err
	}
	limit := fmt.Sprintf("token-bucket{burst=%d,rate=%v}", l.Burst, l.Rate)
	m, err := mode.Parse(limit)
	if err != nil {
		return nil, "", err
	}
	cfg := server.Config{Limit: m, Key: l.Key}
	said := "reference server in this process, " + limit
	var errs []error
	for _, d := range defects {
		m, err := mode.Parse(d)
		if err != nil {
			errs = append(errs, fmt.Errorf("--defect: %w", err))
		}
		cfg.Defects = append(cfg.Defects, m)
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
