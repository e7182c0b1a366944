// Package grants stores which programs may use /mcp for which users: self-registered clients, the users' grants, and
// the tokens of both. It is the authorization server of OAuth 2.1 without its HTTP: codes for PKCE with S256,
// short-lived access tokens, and refresh tokens that rotate with each use. Secrets are stored as SHA-256 only. A
// grant ends with the user's key that authorised it.
//
// grants.go has the book and the token lookup, client.go registers clients, authorize.go handles a request up to its
// tokens. server/oauth is its HTTP, grantstest the test suite of its stores. The package must never store a secret
// itself, nor accept a token for another resource than its own. Why there are records of one shape:
// docs/decisions/access.md.
package grants

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
)

// Kind is the kind of a record.
type Kind string

// The kinds, and the owners of their records.
const (
	KindClient  Kind = "client"  // no owner: ""
	KindGrant   Kind = "grant"   // owned by its user
	KindCode    Kind = "code"    // owned by its grant, as are the following
	KindAccess  Kind = "access"  //
	KindRefresh Kind = "refresh" //
	KindConsent Kind = "consent" // owned by its client: its consent page is open
)

// Record is the stored form of a client, a grant or a secret.
type Record struct {
	Kind    Kind
	ID      string // of a secret: its SHA-256 in hex
	Owner   string
	Used    bool // the secret was used; the client has a grant
	Made    time.Time
	Expires time.Time
	Body    []byte // JSON
}

// Store stores records. Times are UTC in whole microseconds. It is safe for concurrent use.
type Store interface {
	// Put stores a new record and evicts the oldest of the same kind and owner beyond most. Of clients it evicts
	// only those that were never used and have no record of KindConsent.
	Put(ctx context.Context, r Record, most int) error
	// Get returns a record, even if expired. It fails with chat.CodeNotFound.
	Get(ctx context.Context, kind Kind, id string) (Record, error)
	// Use marks a record as used; first is true for exactly one caller. It fails with chat.CodeNotFound.
	Use(ctx context.Context, kind Kind, id string) (r Record, first bool, err error)
	// Drop deletes a record; a missing one is a no-op.
	Drop(ctx context.Context, kind Kind, id string) error
	// List returns the records of an owner, oldest first.
	List(ctx context.Context, kind Kind, owner string) ([]Record, error)
	// Sweep deletes records that expired before now.
	Sweep(ctx context.Context, now time.Time) error
}

// Lifetimes and limits of records. An access token is as short-lived as clients support. A refresh token expires
// after 30 days without use. A code only has to survive a redirect (RFC 6749, section 4.1.2, recommends at most ten
// minutes).
const (
	accessLife  = time.Hour
	refreshLife = 30 * 24 * time.Hour
	codeLife    = time.Minute
	clientLife  = 24 * time.Hour // without a grant
	consentLife = 10 * time.Minute
	usedLife    = 365 * 24 * time.Hour

	mostClients = 1000 // without a grant
	mostGrants  = 50   // of a user
	mostTokens  = 50   // of a kind, of a grant
)

// AccessPrefix begins every access token.
const AccessPrefix = "fno_"

// refreshPrefix distinguishes a refresh token from an access token in a log.
const refreshPrefix = "fnr_"

// Issuer reads and writes grants. It is safe for concurrent use.
type Issuer struct {
	Store Store
	Keys  *keys.File
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
}

// now returns the time in UTC, from the clock or the test's.
func (iss *Issuer) now() time.Time {
	if iss.Now != nil {
		return iss.Now().UTC()
	}
	return time.Now().UTC()
}

// Enabled reports whether there are keys, and so a use for grants. It is safe for a nil Issuer. Unreadable keys count
// as none: without keys no grant is needed.
func (iss *Issuer) Enabled() bool {
	if iss == nil || iss.Keys == nil {
		return false
	}
	needed, err := iss.Keys.Needed()
	return err == nil && needed
}

// Grant is a user's authorisation of a program.
type Grant struct {
	ID       string    `json:"-"`
	Since    time.Time `json:"-"`
	User     string    `json:"user"`
	Key      string    `json:"key"` // SHA-256 of the key that the user was signed in with, in hex
	Client   string    `json:"client"`
	Name     string    `json:"name"` // the client's own name
	Resource string    `json:"resource"`
}

// Tokens are the tokens issued to a client.
type Tokens struct {
	Access, Refresh string
	Seconds         int // lifetime of Access
}

// Error is an OAuth error.
type Error struct{ Code, Message string }

// Error returns the message for logs.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// invalidGrant returns the error for an invalid code or token (RFC 6749, section 5.2).
func invalidGrant(why string) error { return &Error{"invalid_grant", why} }

// secret returns a new secret and its hash. The text has 34 letters and digits of rand.Text's alphabet of 32, 170
// bits: a hash of that needs no salt.
func secret(prefix string) (text, sum string) {
	text = prefix + strings.ToLower(rand.Text()+rand.Text()[:8])
	return text, hash(text)
}

// hash returns the form in which secrets are stored and looked up.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// put encodes a value and stores it as a record.
func (iss *Issuer) put(ctx context.Context, r Record, value any, most int) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store a %s: %w", r.Kind, err)
	}
	r.Body, r.Made = body, iss.now()
	if err := iss.Store.Put(ctx, r, most); err != nil {
		return fmt.Errorf("store a %s: %w", r.Kind, err)
	}
	return nil
}

// grant reads a valid grant: neither it nor its user's key has expired. The context valid ends with the key.
func (iss *Issuer) grant(ctx context.Context, id string) (g Grant, valid context.Context, err error) {
	r, err := iss.Store.Get(ctx, KindGrant, id)
	if err != nil {
		return g, nil, err
	}
	if g, err = readGrant(r); err != nil {
		return g, nil, err
	}
	sum, err := hex.DecodeString(g.Key)
	if err != nil || len(sum) != sha256.Size {
		return g, nil, fmt.Errorf("grant %s has no key", id)
	}
	user, valid, err := iss.Keys.UserOf([sha256.Size]byte(sum))
	if err != nil {
		return g, nil, err
	}
	if user != g.User || !iss.now().Before(r.Expires) {
		return g, nil, &chat.Error{Code: chat.CodeNotFound, Message: "This grant was revoked."}
	}
	return g, valid, nil
}

// readGrant decodes a grant from its record. It does not check its expiry.
func readGrant(r Record) (g Grant, err error) {
	if err := json.Unmarshal(r.Body, &g); err != nil {
		return g, fmt.Errorf("read a grant: %w", err)
	}
	g.ID, g.Since = r.ID, r.Made
	return g, nil
}

// User returns the user of a token for a resource, and a context that is cancelled with the user's key. It fails
// with chat.CodeUnauthorized for any invalid token. Each call looks up token, grant and key, so a revocation is
// effective at once on every replica. All failures have the same message.
func (iss *Issuer) User(ctx context.Context, token, resource string) (string, context.Context, error) {
	ended := &chat.Error{
		Code: chat.CodeUnauthorized, Message: "This token is invalid or expired. Connect to the server again.",
	}
	r, err := iss.Store.Get(ctx, KindAccess, hash(token))
	if err == nil && (!iss.now().Before(r.Expires) || r.Used) {
		return "", nil, ended
	}
	var g Grant
	var valid context.Context
	if err == nil {
		g, valid, err = iss.grant(ctx, r.Owner)
	}
	switch {
	case err == nil && g.Resource == resource:
		return g.User, valid, nil
	case err == nil || chat.CodeOf(err) == chat.CodeNotFound || chat.CodeOf(err) == chat.CodeUnauthorized:
		return "", nil, ended
	}
	return "", nil, err
}

// List returns a user's grants, oldest first.
func (iss *Issuer) List(ctx context.Context, user string) ([]Grant, error) {
	records, err := iss.Store.List(ctx, KindGrant, user)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	var out []Grant
	for _, r := range records {
		g, err := readGrant(r)
		if err != nil {
			return nil, err
		}
		if iss.now().Before(r.Expires) {
			out = append(out, g)
		}
	}
	return out, nil
}

// RevokeGrant revokes a user's grant, and with it its tokens. It fails with chat.CodeNotFound for another user's grant.
// The tokens need no deletion: without their grant they are invalid, and Sweep deletes them when they expire.
func (iss *Issuer) RevokeGrant(ctx context.Context, user, id string) error {
	r, err := iss.Store.Get(ctx, KindGrant, id)
	if err != nil {
		return err
	}
	if r.Owner != user {
		return &chat.Error{Code: chat.CodeNotFound, Message: "There is no such connection."}
	}
	return iss.Store.Drop(ctx, KindGrant, id)
}

// RevokeToken revokes the grant of a token that its client gives back. Any other token is a no-op. It is RFC 7009's
// revocation: an unknown token is no error there (section 2.2).
func (iss *Issuer) RevokeToken(ctx context.Context, token string) error {
	for _, kind := range []Kind{KindRefresh, KindAccess} {
		r, err := iss.Store.Get(ctx, kind, hash(token))
		if err == nil {
			return iss.Store.Drop(ctx, KindGrant, r.Owner)
		}
		if chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	return nil
}

// Run sweeps expired records until ctx is cancelled. It needs Log.
func (iss *Issuer) Run(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := iss.Store.Sweep(ctx, iss.now()); err != nil && ctx.Err() == nil {
			iss.Log.WarnContext(ctx, "could not delete expired grants", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
