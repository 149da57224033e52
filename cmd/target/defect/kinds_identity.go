package defect

// identityKinds are the defects of who a client is.
func identityKinds() []kind {
	return []kind{
		leftmost(),
		perAddress(),
		connBucket(), // replaces the key
		chosenKey(),  // adds to it
		batch(),
		attach(),
	}
}
