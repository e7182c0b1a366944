package chat

import "time"

// RunStats counts what the runs of one process did since its start. It starts at zero with the process, as counters of
// Prometheus may; what lasts is in the store.
type RunStats struct {
	Running int
	Ended   map[RunStatus]Took
	Tools   map[ToolEnd]Took
	Spent   map[string]Spent // on the turns that called a tool, by tool; calls of one turn share what it took
	Tokens  Tokens
	Cost    float64 // of runs whose models all have a price
}

// Spent is what was taken from models, and what that cost. Cost is nil without a price.
type Spent struct {
	Tokens Tokens
	Cost   *float64
}

// And is the sum of both. Its cost is of what has a price; nil when nothing has. Neither of the two is changed, and
// their costs are never shared.
func (s Spent) And(more Spent) Spent {
	sum := Spent{Tokens: Tokens{In: s.Tokens.In + more.Tokens.In, Out: s.Tokens.Out + more.Tokens.Out}, Cost: s.Cost}
	if more.Cost != nil {
		cost := *more.Cost
		if s.Cost != nil {
			cost += *s.Cost
		}
		sum.Cost = &cost
	}
	return sum
}

// Share is the part of one of n, of which the first gets what is left over: tokens are whole. The n parts add up to the
// whole: this divides what a turn of the model took among the tools it called. n must be at least 1 and i in [0, n).
func (s Spent) Share(i, n int) Spent {
	part := Spent{Tokens: Tokens{In: s.Tokens.In / n, Out: s.Tokens.Out / n}}
	if i == 0 {
		part.Tokens.In, part.Tokens.Out = part.Tokens.In+s.Tokens.In%n, part.Tokens.Out+s.Tokens.Out%n
	}
	if s.Cost != nil {
		cost := *s.Cost / float64(n)
		part.Cost = &cost
	}
	return part
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
