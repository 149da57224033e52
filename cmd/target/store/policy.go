package store

// Policy is what answers when a store cannot decide.
type Policy uint8

// The policies.
const (
	None   Policy = iota // there is none: a store that is down is an error
	Open                 // everything is admitted
	Closed               // everything is refused
	Local                // a store in this process decides, with limits of its own
)

// String is the word that people choose the policy by.
func (p Policy) String() string {
	switch p {
	case Open:
		return "open"
	case Closed:
		return "closed"
	case Local:
		return "local"
	default:
		return "none"
	}
}
