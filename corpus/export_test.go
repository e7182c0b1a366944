package corpus

import (
	"context"
	"time"
)

// PurgeBefore removes for good what was deleted before a time, which Run does by the clock.
func (l *Library) PurgeBefore(ctx context.Context, t time.Time) error { return l.purge(ctx, t) }

// RemoveAt does the removals that are due at a time, which Run does by the clock.
func (l *Library) RemoveAt(ctx context.Context, now time.Time) error { return l.doRemovals(ctx, now) }
