package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// withOthers is a limit with those that hold beside it, each under a name of its own.
func (p *promise) withOthers(l scenarios.Limit) (all []scenarios.Limit, err error) {
	var errs []error
	all = []scenarios.Limit{l}
	for _, text := range p.also {
		other := l
		other.Name, other.Contract, other.Align, other.Burst, other.Rate = "", "", "", 0, scenarios.Rate{}
		if err := describe(&other, text); err != nil {
			errs = append(errs, fmt.Errorf("--also %s: %w", text, err))
		}
		all = append(all, other)
	}
	all = library.Together(all...)
	for i, one := range all {
		if slices.ContainsFunc(all[:i], func(o scenarios.Limit) bool { return o.Name == one.Name }) {
			errs = append(errs, fmt.Errorf("--also %s: another limit is called %q: give it a name of its own", p.also[i-1], one.Name))
		}
	}
	return all, errors.Join(errs...)
}

// describe reads what a limit promises from CONTRACT{burst=...,rate=...,align=...,name=...}.
func describe(l *scenarios.Limit, text string) error {
	m, err := mode.Parse(text)
	if err != nil {
		return err
	}
	if l.Contract, err = scenarios.ParseContract(m.Name); err != nil {
		return err
	}
	for _, s := range m.Settings {
		switch s.Key {
		case "name":
			l.Name = s.Value
		case "burst":
			if l.Burst, err = strconv.ParseInt(s.Value, 10, 64); err != nil {
				err = fmt.Errorf("burst %q is no whole number", s.Value)
			}
		case "rate":
			l.Rate, err = scenarios.ParseRate(s.Value)
		case "align":
			l.Align, err = scenarios.ParseAlign(s.Value)
		default:
			err = fmt.Errorf("%s is not known: write burst, rate, align or name", s.Key)
		}
		if err != nil {
			return err
		}
	}
	return incomplete(*l)
}

// incomplete says which numbers of its contract a limit lacks, and what else is wrong.
func incomplete(l scenarios.Limit) error {
	has, _ := l.Contract.Numbers()
	var lacks []string
	if has.Burst && l.Burst == 0 {
		lacks = append(lacks, "burst")
	}
	if has.Rate && l.Rate.Count == 0 {
		lacks = append(lacks, "rate")
	}
	if len(lacks) > 0 {
		return fmt.Errorf("it has no %s: write for example token-bucket{burst=100,rate=100/m}", strings.Join(lacks, " and no "))
	}
	return l.Check()
}
