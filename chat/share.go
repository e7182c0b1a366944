package chat

import (
	"context"
	"crypto/sha256"
	"time"
)

// MaxShares is how many links to answers a user may have at a time.
const MaxShares = 200

// Share is a link by which anybody reads one answer with its quotes. Its token is told once, when it is made: only the
// token's hash is kept. It holds no token, so neither a list of links nor a copy of the database opens anything.
type Share struct {
	// Its id.
	ID        string    `json:"id" api:"shared"` // to end it; it opens nothing
	RunID     string    `json:"run_id"`
	SessionID string    `json:"session_id"`
	Question  string    `json:"question"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`         // When it ends.
	Opens     int64     `json:"opens"`              // How often it was opened.
	OpenedAt  time.Time `json:"opened_at,omitzero"` // When it was opened last; left out while it never was.
}

// TokenHash is the SHA-256 of a link's token. Tokens are random and long, so a fast hash without a salt is enough:
// there is nothing to guess.
type TokenHash [sha256.Size]byte

// ShareStore keeps the links to answers. Its promises are those of Store. A link of a hidden session's run is hidden
// with it and goes when it is purged.
type ShareStore interface {
	// AddShare stores a link to a run's answer until a time, under a fresh id. It fails with CodeTooMany when the user
	// has MaxShares, those that are over left out, and with CodeConflict when the hash is known.
	AddShare(ctx context.Context, s Scope, runID string, hash TokenHash, until time.Time) (Share, error)

	// Shares returns the user's links that are not over at a time, the latest first.
	Shares(ctx context.Context, s Scope, now time.Time) ([]Share, error)

	// DropShare ends a link.
	DropShare(ctx context.Context, s Scope, id string) error

	// OpenShare returns the link with a hash and its user, and counts that it was opened at this time. It fails with
	// CodeNotFound when there is none, when it is over, and when its run is hidden or gone.
	OpenShare(ctx context.Context, hash TokenHash, now time.Time) (user string, share Share, err error)
}

// TooManyShares is the error for one link too many.
func TooManyShares() error {
	return &Error{
		Code:    CodeTooMany,
		Message: "You have shared 200 answers, which is the limit here. End some of these links first.",
	}
}
