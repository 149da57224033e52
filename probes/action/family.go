package action

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Owns reports whether a process is one of the server's, as the tools name it.
func (t Tools) Owns(pid int) bool {
	all := t.PIDs
	if t.Children {
		var err error
		if all, err = families(all); err != nil {
			return false
		}
	}
	return slices.Contains(all, pid)
}

// families are processes and all that descend from them, parents first.
func families(pids []int) (all []int, err error) {
	children, err := parents()
	if err != nil {
		return nil, fmt.Errorf("the children of processes are read from /proc: %w", err)
	}
	for todo := slices.Clone(pids); len(todo) > 0; todo = todo[1:] {
		if !slices.Contains(all, todo[0]) {
			all = append(all, todo[0])
			todo = append(todo, children[todo[0]]...)
		}
	}
	return all, nil
}

// parents are the children of each process.
func parents() (children map[int][]int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children = map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		words := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(words) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(words[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	return children, nil
}
