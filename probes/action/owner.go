package action

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is one of this machine.
type Process struct {
	PID  int
	Name string
}

func (p Process) String() string { return fmt.Sprintf("%d (%s)", p.PID, p.Name) }

// AnsweredBy are the processes of this machine that hold the other end of a connection of
// ours to an address: who answers what we ask there. None where that is not to be seen,
// as of another machine, another network namespace or system, or without the right.
func AnsweredBy(address string) (all []Process) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil
	}
	to = unmapped(to)
	var ends []string // of our connections to it, the other end, as a link of /proc tells it
	sockets, ours := tcpSockets("/proc/self"), holds("/proc/self")
	for _, own := range sockets {
		if own.remote != to || !slices.Contains(ours, own.link) {
			continue
		}
		for _, other := range sockets {
			if other.local == to && other.remote == own.local {
				ends = append(ends, other.link)
			}
		}
	}
	pids, err := processes()
	if err != nil || len(ends) == 0 {
		return nil
	}
	for _, pid := range pids {
		folder := fmt.Sprintf("/proc/%d", pid)
		if slices.ContainsFunc(holds(folder), func(link string) bool { return slices.Contains(ends, link) }) {
			name, _ := os.ReadFile(folder + "/comm")
			all = append(all, Process{pid, strings.TrimSpace(string(name))})
		}
	}
	return all
}

// holds are the sockets that a process holds.
func holds(folder string) (links []string) {
	fds, _ := filepath.Glob(folder + "/fd/*")
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && strings.HasPrefix(link, "socket:") {
			links = append(links, link)
		}
	}
	return links
}

// socket is a connection as the kernel lists it.
type socket struct {
	local, remote netip.AddrPort
	link          string
}

// tcpSockets are those of the network namespace that a process is in.
func tcpSockets(folder string) (all []socket) {
	for _, name := range []string{"/net/tcp", "/net/tcp6"} {
		text, err := os.ReadFile(folder + name)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			words := strings.Fields(lines.Text())
			if len(words) < 10 {
				continue
			}
			local, ok1 := kernelAddress(words[1])
			remote, ok2 := kernelAddress(words[2])
			if ok1 && ok2 {
				all = append(all, socket{local, remote, "socket:[" + words[9] + "]"})
			}
		}
	}
	return all
}

// kernelAddress reads an address as in 0100007F:1F90, whose words of four bytes are in
// the machine's order.
func kernelAddress(text string) (a netip.AddrPort, ok bool) {
	host, port, _ := strings.Cut(text, ":")
	raw, err1 := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err1 != nil || err2 != nil || len(raw)%4 != 0 {
		return a, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word) // little-endian, as all machines are that this runs on
	}
	ip, ok := netip.AddrFromSlice(raw)
	return unmapped(netip.AddrPortFrom(ip, uint16(n))), ok
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
