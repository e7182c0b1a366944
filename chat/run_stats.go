package chat

import "time"

// RunStats counts what the runs of one process did since its start.
type RunStats struct {
	Running int
	Ended   map[RunStatus]Took
	Tools   map[ToolEnd]Took
	Tokens  Tokens
	Cost    float64 // of runs whose models all have a price
}

// ToolEnd is a tool and how its calls ended.
type ToolEnd struct {
	Tool   string
	Status Status
}

// Took is how often something happened, and how long it took in all.
type Took struct {
	Times int
	Time  time.Duration
}

// And is Took with one more.
func (t Took) And(d time.Duration) Took { return Took{t.Times + 1, t.Time + d} }
