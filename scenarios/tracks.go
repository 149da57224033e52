package scenarios

// About says what a part of the standard scenario asks.
type About struct{ Name, Says string }

// Tracks are the parts of the standard scenario.
func Tracks() []About {
	return []About{
		{"volley", "many requests at once on full keys: exactly the burst is admitted"},
		{"pressure", "a drained key polled densely and for long: tokens come when the rate says, neither earlier nor later"},
		{"obey", "a refused request comes back as Retry-After says, neither earlier nor later, and is admitted"},
		{"rest", "a drained key left alone for half the time it takes to fill: half the burst is there"},
		{"twins", "one key drained while another asks for all it has: the second is not short of anything"},
		{"below", "a drained key asked at 96 % of the rate: nothing is refused"},
		{"above", "a drained key asked at 108 % of the rate: some of it is refused"},
		{"idle", "a drained key left alone for longer than it takes to fill: the burst is there and no more"},
		{"edge", "a drained key polled until more is admitted, then all it has asked for just before and just after that comes again: it is not twice the burst"},
		{"pilot", "the same at the end of the time that a full key's first request may have opened"},
	}
}
