package chat

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

const day = 24 * time.Hour

// DaySpent is the cause of a CodeTooMany: a user asked as many questions as one may in 24 hours.
type DaySpent struct {
	Until time.Time // when the next one can be asked
}

// Error says until when.
func (e *DaySpent) Error() string { return "until " + e.Until.UTC().Format(time.RFC3339) }

// Daily is a Store in which each user but LocalUser can start so many runs in any 24 hours. They are counted from the runs that are
// stored, so the limit holds after a restart and for all servers that share the store; servers that start a user's last run at the
// very same moment can each start one.
type Daily struct {
	Store
	most int
	mu   sync.Mutex // from counting to starting
}

// NewDaily limits a store. most is at least 1.
func NewDaily(store Store, most int) *Daily { return &Daily{Store: store, most: most} }

// StartRun fails with CodeTooMany and a *DaySpent when the user asked too much. A request that was sent before, under the same
// IdempotencyKey, starts nothing and always passes.
func (d *Daily) StartRun(ctx context.Context, user string, req RunRequest, lease Lease) (Run, bool, error) {
	if user == LocalUser {
		return d.Store.StartRun(ctx, user, req, lease)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	first, err := d.Store.Asked(ctx, user, req.IdempotencyKey, time.Now().Add(-day), d.most)
	if err != nil {
		return Run{}, false, fmt.Errorf("count the day's questions: %w", err)
	}
	if first.IsZero() {
		return d.Store.StartRun(ctx, user, req, lease)
	}
	until := first.Add(day)
	return Run{}, false, &Error{
		Code: CodeTooMany, Err: &DaySpent{until},
		Message: "You asked " + strconv.Itoa(d.most) + " questions in 24 hours, which is the limit here. You can ask again at " +
			until.UTC().Format("15:04") + " UTC.",
	}
}
