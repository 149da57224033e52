package fields

import (
	"math"
	"time"

	"github.com/dunglas/httpsfv"
)

// structured reads the fields RateLimit and RateLimit-Policy (RFC 9651). What is
// malformed is to be ignored, and is told.
func (r *reader) structured() {
	if text := r.joined["ratelimit-policy"]; text != "" {
		r.policies(Draft08, "ratelimit-policy", text)
	}
	text := r.joined["ratelimit"]
	if text == "" {
		return
	}
	if d, err := httpsfv.UnmarshalDictionary([]string{text}); err == nil && r.dictionary(d) {
		return
	}
	list, err := httpsfv.UnmarshalList([]string{text})
	if err != nil {
		r.fault("ratelimit: %q is no structured field: %v", text, err)
		return
	}
	for _, member := range list {
		if item, ok := member.(httpsfv.Item); ok {
			r.item(item)
		} else {
			r.fault("ratelimit: %q has a list where an item has to be", text)
		}
	}
}

// dictionary reads draft -07: limit=100, remaining=0, reset=21.
func (r *reader) dictionary(d *httpsfv.Dictionary) bool {
	left, some := d.Get("remaining")
	if !some {
		return false
	}
	t := r.told(group{Draft07, "", ""})
	t.Remaining = r.member("remaining", left)
	if m, ok := d.Get("limit"); ok {
		t.Limit = r.member("limit", m)
	}
	if m, ok := d.Get("reset"); ok {
		if n := r.member("reset", m); n.Told {
			t.Reset = delta("reset", n.N)
		}
	}
	return true
}

func (r *reader) member(name string, m httpsfv.Member) Number {
	if item, ok := m.(httpsfv.Item); ok {
		return r.integer(name, item.Value)
	}
	r.fault("ratelimit: %s is no integer", name)
	return Number{}
}

// item reads draft -08: "name";r=0;t=187. A name is a String; r has to be there.
func (r *reader) item(item httpsfv.Item) {
	name, ok := item.Value.(string)
	if !ok {
		r.fault("ratelimit: the name %v of a limit is no string", item.Value)
		return
	}
	left, ok := item.Params.Get("r")
	if !ok {
		r.fault("ratelimit: limit %q has no r, what is left of it", name)
		return
	}
	partition := ""
	if pk, ok := item.Params.Get("pk"); ok {
		if b, is := pk.([]byte); is {
			partition = string(b)
		} else {
			r.fault("ratelimit: pk of limit %q is no sequence of bytes", name)
		}
	}
	t := r.told(group{Draft08, partition, name})
	t.Remaining = r.integer("r of "+name, left)
	if m, ok := item.Params.Get("t"); ok {
		if n := r.integer("t of "+name, m); n.Told {
			t.Reset = delta("t", n.N)
		}
	}
	for _, p := range r.answer.Policies {
		if p.Name == name && p.Dialect == Draft08 {
			t.Limit = Number{p.Quota, true}
		}
	}
}

func (r *reader) integer(name string, value any) Number {
	n, ok := value.(int64)
	if !ok {
		r.fault("ratelimit: %s is %v, which is no integer", name, value)
		return Number{}
	}
	if n < 0 {
		r.fault("ratelimit: %s is %d, which is negative", name, n)
	}
	return Number{n, true}
}

// delta is a moment in seconds from the answer on, as a standard has it.
func delta(field string, n int64) Moment {
	m := Moment{Field: field, Unit: Seconds, Known: true, Grain: time.Second}
	m.Wait = clampSeconds(n)
	return m
}

// policies reads a list of them: "name";q=10;w=60 (draft -08), 10;w=60 (draft
// -07, and behind RateLimit-Limit up to -06), 10;window=1;name="per-ip" (Envoy).
func (r *reader) policies(d Dialect, field, text string) {
	list, err := httpsfv.UnmarshalList([]string{text})
	if err != nil {
		r.fault("%s: %q is no list of policies: %v", field, text, err)
		return
	}
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if !ok {
			r.fault("%s: %q has a list where a policy has to be", field, text)
			continue
		}
		if p, ok := r.policy(d, field, item); ok {
			r.answer.Policies = append(r.answer.Policies, p)
		}
	}
}

func (r *reader) policy(d Dialect, field string, item httpsfv.Item) (p Policy, ok bool) {
	p.Dialect = d
	switch v := item.Value.(type) {
	case string:
		p.Name = v
		q, some := item.Params.Get("q")
		if p.Quota, ok = q.(int64); !some || !ok || p.Quota < 0 {
			r.fault("%s: policy %q has no q, its number of requests", field, v)
			return p, false
		}
	case int64:
		if d == Draft08 {
			p.Dialect = Draft07
		}
		if p.Quota = v; v < 0 {
			r.fault("%s: a quota of %d", field, v)
			return p, false
		}
	default:
		r.fault("%s: %v is no policy", field, v)
		return p, false
	}
	for _, name := range []string{"w", "window"} {
		if w, some := item.Params.Get(name); some {
			n, is := w.(int64)
			if !is || n < 1 {
				r.fault("%s: a window of %v seconds", field, w)
				return p, false
			}
			p.Window = clampSeconds(n)
		}
	}
	if unit, some := item.Params.Get("qu"); some {
		p.Unit, _ = unit.(string)
	}
	if name, some := item.Params.Get("name"); some {
		p.Name, _ = name.(string)
	}
	return p, true
}

// Requests reports whether the policy counts requests.
func (p Policy) Requests() bool { return p.Unit == "" || p.Unit == "requests" }

func clampSeconds(n int64) time.Duration { return times(n, time.Second) }
func clampMillis(n int64) time.Duration  { return times(n, time.Millisecond) }

// times is n of a unit, at most a hundred years either way.
func times(n int64, unit time.Duration) time.Duration {
	if n > math.MaxInt64/int64(time.Second) || n < -math.MaxInt64/int64(time.Second) {
		if n < 0 {
			return -longest
		}
		return longest
	}
	return clamp(time.Duration(n) * unit)
}
