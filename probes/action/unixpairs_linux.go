package action

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"
)

// What the kernel lists of Unix sockets in /proc names no other end; sock_diag(7) does.
const (
	sockDiag     = 4  // NETLINK_SOCK_DIAG
	byFamily     = 20 // SOCK_DIAG_BY_FAMILY
	showPeer     = 4  // UDIAG_SHOW_PEER
	peerIs       = 2  // UNIX_DIAG_PEER
	requestSize  = 16 + 24
	answerHeader = 16 // of unix_diag_msg; attributes follow
)

// unixPairs are the other ends of all Unix sockets that are connected in our network
// namespace, both as links of /proc; none where that is not to be seen.
func unixPairs() map[string]string {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, sockDiag)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	patience := syscall.NsecToTimeval(int64(time.Second))
	if syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &patience) != nil {
		return nil
	}
	ask, order := make([]byte, requestSize), binary.NativeEndian
	order.PutUint32(ask[0:], requestSize)
	order.PutUint16(ask[4:], byFamily)
	order.PutUint16(ask[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	ask[16] = syscall.AF_UNIX
	order.PutUint32(ask[20:], ^uint32(0)) // in every state
	order.PutUint32(ask[28:], showPeer)
	if syscall.Sendto(fd, ask, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}) != nil {
		return nil
	}
	pairs, buffer := map[string]string{}, make([]byte, 1<<16)
	for {
		n, _, err := syscall.Recvfrom(fd, buffer, 0)
		if err != nil {
			return pairs
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return pairs
		}
		for _, m := range messages {
			if m.Header.Type == syscall.NLMSG_DONE || m.Header.Type == syscall.NLMSG_ERROR {
				return pairs
			}
			if own, peer, ok := pairOf(m.Data); ok {
				pairs[linkOf(own)] = linkOf(peer)
			}
		}
	}
}

func linkOf(inode uint32) string { return fmt.Sprintf("socket:[%d]", inode) }

// pairOf reads a unix_diag_msg: four bytes, the inode, a cookie of eight, and attributes
// of which each begins with its length and its kind and is filled up to four bytes.
func pairOf(data []byte) (own, peer uint32, ok bool) {
	if len(data) < answerHeader {
		return 0, 0, false
	}
	order := binary.NativeEndian
	own = order.Uint32(data[4:])
	for rest := data[answerHeader:]; len(rest) >= 4; {
		size := int(order.Uint16(rest))
		if size < 4 || size > len(rest) {
			return 0, 0, false
		}
		if order.Uint16(rest[2:]) == peerIs && size >= 8 {
			return own, order.Uint32(rest[4:]), true
		}
		rest = rest[min((size+3)&^3, len(rest)):]
	}
	return 0, 0, false
}
