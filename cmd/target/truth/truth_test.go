package truth

import (
	"strings"
	"sync"
	"testing"
)

// fill adds records whose cost is their number.
func fill(l *Ledger, from, to int64) {
	for i := from; i <= to; i++ {
		l.Add([]Record{{Cost: i}})
	}
}

func TestKeepsTheLatest(t *testing.T) {
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
		{"rounded up to 1024", 0, 1025, 2, 1025},
		{"rounded up to 2048", 1025, 2049, 2, 2049},
		{"round several times", 2048, 10_000, 7953, 10_000},
	}
	for _, tt := range tests {
		l := NewLedger(tt.keep)
		fill(l, 1, tt.added)
		if first, last := l.Bounds(); first != tt.first || last != tt.last {
			t.Errorf("%s: got %d to %d, want %d to %d", tt.name, first, last, tt.first, tt.last)
		}
		kept, dropped := l.All()
		if int64(len(kept)) != tt.last-tt.first+1 || dropped != tt.first-1 {
			t.Errorf("%s: got %d kept and %d dropped", tt.name, len(kept), dropped)
		}
		for i, rec := range kept {
			if want := tt.first + int64(i); rec.Seq != want || rec.Cost != want || rec.Request != want {
				t.Fatalf("%s: record %d: got %+v, want number %d", tt.name, i, rec, want)
			}
		}
	}
}

// The records of a request stand together and name it, whoever else adds.
func TestRequestsStandTogether(t *testing.T) {
	l := NewLedger(10_000)
	var wg sync.WaitGroup
	for g := range int64(4) {
		wg.Go(func() {
			for range 500 {
				l.Add([]Record{{Cost: g}, {Cost: g}, {Cost: g}})
			}
		})
	}
	wg.Wait()
	records, _ := l.All()
	if len(records) != 6000 {
		t.Fatalf("got %d records, want 6000", len(records))
	}
	for i, rec := range records {
		first := records[i-i%3]
		if rec.Request != first.Seq || rec.Cost != first.Cost {
			t.Fatalf("record %+v is not of the request of %+v", rec, first)
		}
	}
}

// Room is made when it is needed and not before.
func TestIsLazy(t *testing.T) {
	l := NewLedger(256 * 1024)
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
func TestRead(t *testing.T) {
	l := NewLedger(1024)
	buf := make([]Record, 100)
	fill(l, 1, 150)
	if n, dropped := l.Read(0, buf); n != 100 || dropped != 0 || buf[99].Seq != 100 {
		t.Errorf("first: got %d, %d dropped, want 100, none", n, dropped)
	}
	if n, dropped := l.Read(100, buf); n != 50 || dropped != 0 || buf[0].Seq != 101 {
		t.Errorf("second: got %d from %d, %d dropped, want 50 from 101, none", n, buf[0].Seq, dropped)
	}
	if n, dropped := l.Read(150, buf); n != 0 || dropped != 0 {
		t.Errorf("nothing new: got %d, %d dropped, want none", n, dropped)
	}
	fill(l, 151, 3000) // 1977 to 3000 are kept
	if n, dropped := l.Read(150, buf); n != 100 || dropped != 1826 || buf[0].Seq != 1977 {
		t.Errorf("behind: got %d from %d, %d dropped, want 100 from 1977, 1826 dropped", n, buf[0].Seq, dropped)
	}
}

// A follower is woken once for any number of records, and not after it stopped.
func TestFollow(t *testing.T) {
	l := NewLedger(1024)
	wake, stop := l.Follow()
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

func BenchmarkAdd(b *testing.B) {
	l := NewLedger(256 * 1024)
	key := strings.Repeat("k", 20)
	records := make([]Record, 1)
	b.ReportAllocs()
	for b.Loop() {
		records[0] = Record{Key: key, Limit: "default", Cost: 1}
		l.Add(records)
	}
}
