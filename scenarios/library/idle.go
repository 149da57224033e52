package library

func idle() Trap {
	return Trap{
		Name: "idle", Says: "a drained key left alone until it has all again, and for half as long behind it: all is there and no more",
		Finds: []Kind{Overfull}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.rested("empty", "idled", d.after()+d.fill+d.fill/2) },
	}
}
