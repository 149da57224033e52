package defect

// storeKinds are the defects of where states are kept and how they are shared.
func storeKinds() []kind {
	return []kind{
		noTTL(),
		race(),
		instances(),
		staticShare(),
		outage(),
		costIgnored(),
		charge(),
		evict(),
		leak(),
	}
}
