package agent

import (
	"context"
	"time"
)

// usersEvery is the pause between two looks at whose keys were revoked.
const usersEvery = time.Second

// isRevoked reports whether a user may have no more work done.
func (r *Runs) isRevoked(user string) bool { return r.cfg.Revoked != nil && r.cfg.Revoked(user) }

// watchUsers ends the runs of users who have no valid key any more, until ctx ends. Each server does so for the runs
// it works on. A run that began while its user's key was being revoked is found by the next look. Their waiting
// questions are refused when it is their turn.
func (r *Runs) watchUsers(ctx context.Context) {
	tick := time.NewTicker(usersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.endRevoked()
		}
	}
}

// endRevoked ends the runs here of users who have left. Each user is looked up once in a round.
func (r *Runs) endRevoked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := map[string]bool{}
	for _, c := range r.active {
		user := c.User()
		gone, known := left[user]
		if !known {
			gone = r.cfg.Revoked(user)
			left[user] = gone
		}
		if gone {
			c.Revoke()
		}
	}
}
