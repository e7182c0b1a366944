package agent

import (
	"context"
	"time"
)

// usersEvery is the polling interval for revoked keys.
const usersEvery = time.Second

// isRevoked reports whether a user's keys are revoked.
func (r *Runs) isRevoked(user string) bool { return r.cfg.Revoked != nil && r.cfg.Revoked(user) }

// watchUsers ends the local runs of users without a valid key, until ctx is cancelled. A run that started during the
// revocation is found by the next poll. Queued questions of these users are refused when they are sent.
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

// endRevoked ends the local runs of revoked users. Each user is looked up once in a round.
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
