package results

import (
	"testing"
	"time"
)

func TestAsks(t *testing.T) {
	const date = "Tue, 01 Dec 2026 10:00:00 GMT"
	tests := []struct {
		text, date string
		want       RetryAfter
	}{
		{"", date, RetryAfter{}},
		{"1", "", RetryAfter{RetrySeconds, time.Second}},
		{"0", "", RetryAfter{RetrySeconds, 0}},
		{" 120 ", "", RetryAfter{RetrySeconds, 2 * time.Minute}},
		{"007", "", RetryAfter{RetrySeconds, 7 * time.Second}},
		{"99999999999999999999999", "", RetryAfter{RetrySeconds, maxWait}},
		{"1.5", date, RetryAfter{Form: RetryUnreadable}},
		{"2.0", date, RetryAfter{Form: RetryUnreadable}},
		{"-1", date, RetryAfter{Form: RetryUnreadable}},
		{"1, 2", date, RetryAfter{Form: RetryUnreadable}},
		{"soon", date, RetryAfter{Form: RetryUnreadable}},
		{"Tue, 01 Dec 2026 10:00:30 GMT", date, RetryAfter{RetryDate, 30 * time.Second}},
		{"Tue, 01 Dec 2026 09:59:58 GMT", date, RetryAfter{RetryDate, -2 * time.Second}},
		{"Tuesday, 01-Dec-26 10:00:07 GMT", date, RetryAfter{RetryDate, 7 * time.Second}},
		{"Tue, 01 Dec 2026 10:00:30 GMT", "", RetryAfter{Form: RetryUndated}},
		{"Tue, 01 Dec 2026 10:00:30 UTC", date, RetryAfter{Form: RetryUnreadable}},
	}
	for _, tt := range tests {
		h := Hit{RetryAfter: tt.text, Date: tt.date}
		if got := h.Asks(); got != tt.want {
			t.Errorf("%q beside %q: got %+v, want %+v", tt.text, tt.date, got, tt.want)
		}
	}
}

func FuzzAsks(f *testing.F) {
	f.Add("1", "")
	f.Add("Tue, 01 Dec 2026 10:00:30 GMT", "Tue, 01 Dec 2026 10:00:00 GMT")
	f.Fuzz(func(t *testing.T, text, date string) {
		h := Hit{RetryAfter: text, Date: date}
		a := h.Asks()
		if a.Wait > maxWait || !a.Readable() && a.Wait != 0 || (a.Form == RetryAbsent) != (text == "") {
			t.Errorf("%q beside %q: got %+v", text, date, a)
		}
	})
}

func TestMerge(t *testing.T) {
	find := func(s Status, l Level) Finding { return Finding{Status: s, Level: l} }
	tests := []struct {
		name   string
		all    []Finding
		strict bool
		want   Status
	}{
		{"nothing checked", nil, false, Inconclusive},
		{"only information", []Finding{find(Kept, Info), find(Broken, Info)}, true, Inconclusive},
		{"kept", []Finding{find(Kept, Must), find(Inconclusive, Info)}, false, Kept},
		{"inconclusive wins over kept", []Finding{find(Kept, Must), find(Inconclusive, Must), find(Kept, Must)}, false, Inconclusive},
		{"broken wins over all", []Finding{find(Inconclusive, Must), find(Broken, Must), find(Kept, Must)}, false, Broken},
		{"advice does not weigh in", []Finding{find(Kept, Must), find(Broken, Should)}, false, Kept},
		{"but when it was asked to", []Finding{find(Kept, Must), find(Broken, Should)}, true, Broken},
		{"only advice", []Finding{find(Kept, Should)}, false, Inconclusive},
	}
	for _, tt := range tests {
		if got := Merge(tt.all, tt.strict); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	if Status(0) != Inconclusive || Outcome(0) != Unknown {
		t.Errorf("the zero values must claim nothing")
	}
}
