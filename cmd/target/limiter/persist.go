package limiter

import "encoding/json"

// logged is a log as it is written down, without what has left the window.
type logged struct {
	Entries []Entry
	Sum     int64
}

// MarshalJSON writes the log so that UnmarshalJSON reads one that is decided on
// as it is.
func (k *Log) MarshalJSON() ([]byte, error) { return json.Marshal(logged{k.live(), k.Sum}) }

// UnmarshalJSON reads what MarshalJSON has written.
func (k *Log) UnmarshalJSON(text []byte) error {
	var l logged
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	*k = Log{Entries: l.Entries, Sum: l.Sum}
	return nil
}
