package action

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
)

// Joined reports whether some processes, or any that descend from them, hold a connection
// to others, or to any that descend from those, over TCP or a Unix socket. It sees those
// of this machine, also in other network namespaces where addresses are not translated;
// false: there is none now, or it is not to be seen.
func Joined(some, others []int) bool {
	ours, theirs := endsOf(some), endsOf(others)
	for end := range ours.unix {
		if theirs.unix[end.peer()] {
			return true
		}
	}
	for end := range ours.tcp {
		if theirs.tcp[end.peer()] {
			return true
		}
	}
	return false
}

// end is one end of a connection over TCP. Loopback addresses are those of a namespace.
type end struct {
	local, remote netip.AddrPort
	space         string // the namespace; empty: addresses of others are told apart by themselves
}

func (e end) peer() end { return end{e.remote, e.local, e.space} }

// pipe is one end of a connection over a Unix socket.
type pipe struct{ local, remote string }

func (p pipe) peer() pipe { return pipe{p.remote, p.local} }

// ends are those that processes hold.
type ends struct {
	tcp  map[end]bool
	unix map[pipe]bool
}

func endsOf(pids []int) ends {
	all := ends{map[end]bool{}, map[pipe]bool{}}
	family, err := families(pids)
	if err != nil {
		return all
	}
	pairs, tables := unixPairs(), map[string]map[string]socket{}
	for _, pid := range family {
		folder := fmt.Sprintf("/proc/%d", pid)
		space, err := os.Readlink(folder + "/ns/net")
		if err != nil {
			continue
		}
		if tables[space] == nil {
			tables[space] = map[string]socket{}
			for _, s := range tcpSockets(folder) {
				tables[space][s.link] = s
			}
		}
		for _, link := range holds(folder) {
			if s, ok := tables[space][link]; ok {
				e := end{local: s.local, remote: s.remote}
				if s.local.Addr().IsLoopback() || s.remote.Addr().IsLoopback() {
					e.space = space
				}
				all.tcp[e] = true
			}
			if other, ok := pairs[link]; ok {
				all.unix[pipe{link, other}] = true
			}
		}
	}
	return all
}

// Named are processes with their names, which are empty where those are not to be seen.
func Named(pids []int) (all []Process) {
	for _, pid := range pids {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		all = append(all, Process{pid, strings.TrimSpace(string(name))})
	}
	return all
}
