package defect

// identityKinds are the defects of who a client is.
func identityKinds() []kind {
	return []kind{}
}
