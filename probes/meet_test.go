package probes

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Runs that meet count from one moment, at which all were ready; one that is stopped
// does not wait for who will not come.
func TestMeet(t *testing.T) {
	a, b := &Gun{}, &Gun{}
	Meet(a, b)
	var first, second time.Time
	var waiting sync.WaitGroup
	waiting.Go(func() { first = a.meeting.begin(context.Background()) })
	time.Sleep(time.Millisecond)
	ready := time.Now()
	second = b.meeting.begin(context.Background())
	waiting.Wait()
	if !first.Equal(second) || second.Before(ready) {
		t.Errorf("the runs count from %v and %v, want one moment behind %v", first, second, ready)
	}

	Meet(a, b)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if got := a.meeting.begin(stopped); got.IsZero() {
		t.Errorf("a stopped run counts from no moment")
	}
	if (&Gun{}).meeting.begin(context.Background()).IsZero() {
		t.Errorf("a run by itself counts from no moment")
	}
}
