package assertions

// About says what an assertion asks.
type About struct{ ID, Says string }

// All are the assertions, in the order in which their findings are told.
func All() []About {
	return []About{
		{CheckFitness, "the run was fired as planned, so that its record can be asked anything"},
		{CheckActed, "what was done to the server meanwhile, and that it was taken back (told)"},
		{CheckServerClock, "what the answers' Date tells of steps and drift of the server's wall clock (told)"},
		{CheckOutage, "while its store is away a limiter does what was declared (--expect); without a declaration what it does (told)"},
		{CheckRecovery, "once its store is there again the limiter is itself again, and how long that took"},
		{CheckCarried, "what was spent stays spent across a restart, a reload and an outage, unless --expect fresh declares otherwise"},
		{CheckLockout, "no move of the wall clock locks out a client that has something left"},
		{CheckAgain, "how long behind a fault the limiter answers again (told)"},
		{CheckOwnClock, "what happened to hammer's own clocks meanwhile (told)"},
		{CheckEnforced, "the limiter refuses at all when it has to"},
		{CheckUpper, "in every window of length T no more is admitted than the contract allows: burst + rate x T for a token bucket"},
		{CheckLower, "nothing is refused while every limit has room for it"},
		{CheckWindow, "one beginning of the windows, or of the lumps, explains all that was admitted and refused"},
		{CheckExact, "one order of decisions, and moments for them, explain all that a bucket admitted and refused taken together"},
		{CheckWait, "a queue holds back nothing for longer than its places take (told, since a late answer proves nothing)"},
		{CheckOrder, "a queue releases in the order of arrival"},
		{CheckIsolation, "what one client spends is not missing to another"},
		{CheckPresent, "a refusal says when to come back (advice)"},
		{CheckSyntax, "Retry-After is whole seconds or an HTTP-date"},
		{CheckPositive, "a refusal does not ask for a wait of nothing"},
		{CheckHonest, "who waits as Retry-After says is not refused again"},
		{CheckTight, "Retry-After does not ask for more time than is needed, but for the rounding of its unit"},
		{CheckConsistent, "the refusals of one wait tell of one moment (advice)"},
		{CheckHerd, "how much of a crowd clients are that come back as they were told (told)"},
		{CheckFields, "what is told of limits in header fields can be read (advice)"},
		{CheckRemaining, "no more is told to be left than there can be, and never less than nothing"},
		{CheckReset, "no reset is told that has passed, that is too early for a token, or too late for an empty key"},
		{CheckPolicy, "what is announced as a policy is what was declared (advice)"},
		{CheckCached, "no refusal comes out of a cache"},
		{CheckStorable, "no cache is told that it may store a refusal (advice)"},
		{CheckPrice, "what a refusal costs beside an admission (told)"},
	}
}

// IDs are the ids of All.
func IDs() []string {
	var ids []string
	for _, a := range All() {
		ids = append(ids, a.ID)
	}
	return ids
}
