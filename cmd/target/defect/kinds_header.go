package defect

// headerKinds are the defects of what clients are told.
func headerKinds() []kind {
	return []kind{
		retryAfter(),
		remaining(),
		reset(),
		policyTold(),
	}
}
