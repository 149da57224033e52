package defect

// boundKinds are the defects of what is admitted in a time, seen from the algorithm.
func boundKinds() []kind {
	return []kind{
		// These exchange the algorithm for another one, and may refuse what is found
		// there.
		fixedWindow(),
		sharedReset(),
		weighted(),
		lumpy(),
		calendarForms(),
		burstMap(),
		offByOne(),
		rateOff(),
		intRefill(),
		underfill(),

		startsEmpty(),
		losesRefill(),
		roundUp(),
		dropsFraction(),
		idle(),
		intoDebt(),
		chargesRefusals(),
		coarseClock(),

		fallbackSwap(),
		lockout(),
	}
}
