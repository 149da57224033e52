package server

import (
	"testing"
)

// fill adds records whose cost is their number.
func fill(l *ledger, from, to int64) {
	for i := from; i <= to; i++ {
		l.add(Truth{Cost: i})
	}
}

func TestLedgerKeepsTheLatest(t *testing.T) {
	tests := []struct {
		name        string
		keep        int
		added       int64
		first, last int64
	}{
		{"empty", 1024, 0, 1, 0},
		{"some", 1024, 10, 1, 10},
		{"just full", 1024, 1024, 1, 1024},
		{"one too many", 1024, 1025, 2, 1025},
		{"rounded up to 2048", 1025, 2049, 2, 2049},
		{"round several times", 2048, 10_000, 7953, 10_000},
	}
	for _, tt := range tests {
		l := newLedger(tt.keep)
		fill(l, 1, tt.added)
		if first, last := l.bounds(); first != tt.first || last != tt.last {
			t.Errorf("%s: got %d to %d, want %d to %d", tt.name, first, last, tt.first, tt.last)
		}
		s := &Server{truth: l}
		kept, dropped := s.Truth()
		if int64(len(kept)) != tt.last-tt.first+1 || dropped != tt.first-1 {
			t.Errorf("%s: got %d kept and %d dropped", tt.name, len(kept), dropped)
		}
		for i, rec := range kept {
			if want := tt.first + int64(i); rec.Seq != want || rec.Cost != want {
				t.Fatalf("%s: record %d: got %+v, want number %d", tt.name, i, rec, want)
			}
		}
	}
}

// Room is made when it is needed and not before.
func TestLedgerIsLazy(t *testing.T) {
	l := newLedger(defaultTruthKeep)
	fill(l, 1, 1500)
	made := 0
	for _, c := range l.chunks {
		if c != nil {
			made++
		}
	}
	if made != 2 || len(l.chunks) != 256 {
		t.Errorf("got %d of %d chunks made, want 2 of 256", made, len(l.chunks))
	}
}

// A reader that falls behind is told how much it has lost, and goes on with
// what is there.
func TestLedgerRead(t *testing.T) {
	l := newLedger(1024)
	buf := make([]Truth, 100)
	fill(l, 1, 150)
	if n, dropped := l.read(0, buf); n != 100 || dropped != 0 || buf[99].Seq != 100 {
		t.Errorf("first: got %d, %d dropped, want 100, none", n, dropped)
	}
	if n, dropped := l.read(100, buf); n != 50 || dropped != 0 || buf[0].Seq != 101 {
		t.Errorf("second: got %d from %d, %d dropped, want 50 from 101, none", n, buf[0].Seq, dropped)
	}
	if n, dropped := l.read(150, buf); n != 0 || dropped != 0 {
		t.Errorf("nothing new: got %d, %d dropped, want none", n, dropped)
	}
	fill(l, 151, 3000) // 1977 to 3000 are kept
	if n, dropped := l.read(150, buf); n != 100 || dropped != 1826 || buf[0].Seq != 1977 {
		t.Errorf("behind: got %d from %d, %d dropped, want 100 from 1977, 1826 dropped", n, buf[0].Seq, dropped)
	}
}

// A follower is woken once for any number of records, and not after it stopped.
func TestLedgerFollow(t *testing.T) {
	l := newLedger(1024)
	wake, stop := l.follow()
	fill(l, 1, 5)
	<-wake
	select {
	case <-wake:
		t.Errorf("woken twice")
	default:
	}
	stop()
	fill(l, 6, 6)
	select {
	case <-wake:
		t.Errorf("woken after it stopped")
	default:
	}
	if len(l.followers) != 0 {
		t.Errorf("got %d followers, want 0", len(l.followers))
	}
}

func BenchmarkLedgerAdd(b *testing.B) {
	l := newLedger(defaultTruthKeep)
	b.ReportAllocs()
	for b.Loop() {
		l.add(Truth{Key: "client-0001"})
	}
}
