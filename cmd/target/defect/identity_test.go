package defect_test

import (
	"fmt"
	"net/http"
	"testing"
)

const hour10 = "token-bucket{burst=10,rate=1/h}"

// A trusted proxy adds the address that it was asked from, 198.51.100.7, to what
// the client wrote. 40 addresses made up in front of it: right are 10. Then the
// client spends what belongs to a victim, who right or wrong has written nothing.
func TestLeftmost(t *testing.T) {
	tests := []struct {
		defects             []string
		made, plain, victim int
	}{
		{nil, 10, 10, 10},
		{[]string{"xff-leftmost"}, 40, 10, 0},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: hour10, key: "xff{trusted=1}", defects: tt.defects})
		forwarded := func(text string) *http.Request { return request("/", "X-Forwarded-For", text) }
		if got := s.count(0, 40, func(i int) *http.Request { return forwarded(fmt.Sprintf("203.0.113.%d, 198.51.100.7", i)) }); got != tt.made {
			t.Errorf("%v: made up addresses: got %d admitted, want %d", tt.defects, got, tt.made)
		}
		if got := s.count(0, 40, func(int) *http.Request { return request("/") }); got != tt.plain {
			t.Errorf("%v: without the header: got %d admitted, want %d", tt.defects, got, tt.plain)
		}
		s.count(0, 40, func(int) *http.Request { return forwarded("192.0.2.99, 198.51.100.7") })
		if got := s.count(0, 10, func(int) *http.Request { return forwarded("192.0.2.99") }); got != tt.victim {
			t.Errorf("%v: the victim: got %d admitted, want %d", tt.defects, got, tt.victim)
		}
	}
}

// 11 requests from each of 64 addresses of one /64, and of others as the bits say.
func TestPerAddress(t *testing.T) {
	tests := []struct {
		key     string
		defects []string
		want    int
	}{
		{"xff{trusted=1}", nil, 10},
		{"xff{trusted=1}", []string{"v6-per-address"}, 640},
		{"xff{trusted=1}", []string{"v6-per-address{bits=124}"}, 40}, // 16 of the 64 have 124 bits in common
		{"xff{trusted=1,ipv6=48}+header:X-Api-Key", []string{"v6-per-address"}, 640},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: hour10, key: tt.key, defects: tt.defects})
		got := s.count(0, 64*11, func(i int) *http.Request {
			return request("/", "X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i%64), "X-Api-Key", "a")
		})
		if got != tt.want {
			t.Errorf("%s %v: got %d admitted, want %d", tt.key, tt.defects, got, tt.want)
		}
	}
}

// 200 requests of one client with 200 values that it makes up.
func TestChosenKey(t *testing.T) {
	made := map[string]func(i int) *http.Request{
		"path":            func(i int) *http.Request { return request(fmt.Sprintf("/verify/%d", i), "X-Api-Key", "a") },
		"query:code":      func(i int) *http.Request { return request(fmt.Sprintf("/verify?code=%d", i), "X-Api-Key", "a") },
		"header:X-Device": func(i int) *http.Request { return request("/", "X-Api-Key", "a", "X-Device", fmt.Sprint(i)) },
		"cookie:sid":      func(i int) *http.Request { return request("/", "X-Api-Key", "a", "Cookie", fmt.Sprintf("sid=%d", i)) },
	}
	for part, of := range made {
		for want, defects := range map[int][]string{10: nil, 200: {"chosen-key{part=" + part + "}"}} {
			s := simulate(t, site{limit: hour10, defects: defects})
			if got := s.count(0, 200, of); got != want {
				t.Errorf("%s %v: got %d admitted, want %d", part, defects, got, want)
			}
		}
	}
	// Without the part a client is as it is by right.
	s := simulate(t, site{limit: hour10, defects: []string{"chosen-key{part=query:code}"}})
	if got := s.count(0, 40, same("a")); got != 10 {
		t.Errorf("got %d admitted, want 10", got)
	}
}

// Totals of 200 requests of one client over so many connections. And two clients
// that come over one.
func TestConnBucket(t *testing.T) {
	for _, connections := range []int{1, 5, 40} {
		for want, defects := range map[int][]string{10: nil, min(200, 10*connections) + 1: {"conn-bucket"}} {
			s := simulate(t, site{limit: hour10, defects: defects})
			got := s.count(0, 200, func(i int) *http.Request { return over(i%connections, "a") })
			if defects != nil {
				want-- // keeps the two apart where there is one connection
			}
			if got != want {
				t.Errorf("%v, %d connections: got %d admitted, want %d", defects, connections, got, want)
			}
		}
	}
	for want, defects := range map[int][]string{20: nil, 10: {"conn-bucket"}} {
		s := simulate(t, site{limit: hour10, defects: defects})
		if got := s.count(0, 40, func(i int) *http.Request { return over(0, fmt.Sprint(i%2)) }); got != want {
			t.Errorf("%v, two clients over one connection: got %d admitted, want %d", defects, got, want)
		}
	}
}

// An identity that is wrong comes before the instances that keep it.
func TestConnBucketOfInstances(t *testing.T) {
	s := simulate(t, site{limit: hour10, defects: []string{"instances{n=2,route=rr}", "conn-bucket"}})
	if got := s.count(0, 100, func(i int) *http.Request { return over(i/2%3, "a") }); got != 60 {
		t.Errorf("got %d admitted, want 10 of each of 2 instances for each of 3 connections", got)
	}
}
