package defect

// clockKinds are the defects of the clock that a limiter goes by.
func clockKinds() []kind {
	return []kind{
		wallClock(),
	}
}
