package defect

// refusalKinds are the defects of what is charged, and for what.
func refusalKinds() []kind {
	return []kind{
		multi(),
		oversizeDrains(),
		parseFirst(),
	}
}
