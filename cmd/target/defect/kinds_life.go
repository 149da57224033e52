package defect

// lifeKinds are the defects of what survives a restart, and of what a reload does.
// They go around everything else.
func lifeKinds() []kind {
	return []kind{
		persistNone(),
		reload(),
	}
}
