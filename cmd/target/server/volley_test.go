package server

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// volley opens n connections, writes each request but for its last byte, lets
// go of all last bytes at once, and counts the answers by status.
func volley(t testing.TB, s *Server, key string, n int) map[int]int {
	t.Helper()
	address := strings.TrimPrefix(s.URL(), "http://")
	request := fmt.Sprintf("GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nConnection: close\r\n\r\n", key)
	statuses := make(chan int, n)
	release := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(n)
	for range n {
		done.Go(func() { statuses <- shot(address, request, &ready, release) })
	}
	ready.Wait()
	close(release)
	done.Wait()
	close(statuses)
	got := map[int]int{}
	for status := range statuses {
		got[status]++
	}
	return got
}

// shot gives the status of one request, or 0 if it was not answered.
func shot(address, request string, ready *sync.WaitGroup, release <-chan struct{}) int {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		defer conn.Close()
		_, err = io.WriteString(conn, request[:len(request)-1])
	}
	ready.Done()
	<-release
	if err != nil {
		return 0
	}
	if _, err := io.WriteString(conn, request[len(request)-1:]); err != nil {
		return 0
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	return res.StatusCode
}

// Of 200 at once a bucket of 10 admits 10, every time. A token takes an hour.
func TestVolleyIsExact(t *testing.T) {
	const rounds = 20
	s := startServer(t, byHeader(t, "token-bucket{burst=10,rate=1/h}"))
	for i := range rounds {
		got := volley(t, s, fmt.Sprintf("client-%d", i), 200)
		if want := (map[int]int{200: 10, 429: 190}); !maps.Equal(got, want) {
			t.Errorf("round %d: got %v, want %v", i, got, want)
		}
	}
	records, dropped := s.Truth()
	if len(records) != 200*rounds || dropped != 0 {
		t.Fatalf("truth: got %d records and %d dropped, want %d and none", len(records), dropped, 200*rounds)
	}
	checkReplay(t, records, s)
}
