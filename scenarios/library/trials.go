package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// manyTrials is how many volleys tell a race that shows in one of seven with
// 95 %: what is not seen in n trials has p < 3/n.
const manyTrials = 20

func trials() Trap {
	return Trap{
		Name: "trials", Says: "twenty large volleys on keys of their own: what happens in one of seven is seen with 95 %",
		Finds: []Kind{RareRace, Race, WrongSize}, Keys: manyTrials, Asks: always,
		phases: func(d *design) track {
			every := 150*time.Millisecond + time.Duration(4*d.over())*scenarios.RequestTime
			return track{
				length: manyTrials*every + d.c.RTT,
				phases: []scenarios.Phase{{Name: "trials", Volley: int(min(int64(4*d.over()), 20_000)), Held: true, Every: every, Keys: scenarios.Keys{Fresh: manyTrials}}},
			}
		},
	}
}
