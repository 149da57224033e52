package defect

// boundKinds are the defects of what is admitted in a time, seen from the algorithm.
func boundKinds() []kind {
	return []kind{
		offByOne(),
		startsEmpty(),
		losesRefill(),
	}
}
