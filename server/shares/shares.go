// Package shares makes links by which anybody reads one answer with its quotes, and opens them. A link's token is in
// its address alone: the store has its hash. What it opens is the answer and the quotes, never a document.
package shares

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// How long a link opens its answer, in days.
const (
	DefaultDays = 7
	MaxDays     = 30
)

// tokenLength is the length of rand.Text, which has 130 bits.
const tokenLength = 26

// Path is where links are opened, with the token behind it.
const Path = "/s/"

// Desk makes links and opens them. It is safe for concurrent use.
type Desk struct {
	Store chat.Store
	Logs  *runlog.Reader
	Gone  func(user string) bool // whose links open nothing
}

// ShareRequest is the body of POST /agent/runs/{id}/shares.
type ShareRequest struct {
	Days int `json:"days"` // How many days it is open, from 1 to 30; 7 without it.
}

// SharedLink is a link with its address, which is told this once.
type SharedLink struct {
	chat.Share
	URL string `json:"url"` // Where the answer is read. It is told only here.
}

// ShareList is the body of GET /shares.
type ShareList struct {
	Shares []chat.Share `json:"shares"` // Those that are open, the latest first.
}

// Make makes a link to a run's answer. origin is where the server is reached, such as https://ask.example.org.
func (d *Desk) Make(ctx context.Context, s chat.Scope, runID, origin string, days int) (SharedLink, error) {
	if days == 0 {
		days = DefaultDays
	}
	if days < 1 || days > MaxDays {
		return SharedLink{}, httpio.Invalid("A link can be open for 1 to 30 days.")
	}
	t, err := d.Logs.Trace(ctx, s, runID)
	if err != nil {
		return SharedLink{}, err
	}
	if t.Status == chat.RunRunning {
		return SharedLink{}, &chat.Error{
			Code: chat.CodeConflict, Message: "This answer is still being made. Share it when it is done.",
		}
	}
	if t.Answer == nil {
		return SharedLink{}, &chat.Error{
			Code:    chat.CodeConflict,
			Message: "There is no answer to share: ask again first.",
		}
	}
	token := rand.Text()
	until := time.Now().Add(time.Duration(days) * 24 * time.Hour)
	h, err := d.Store.AddShare(ctx, s, runID, sha256.Sum256([]byte(token)), until)
	return SharedLink{Share: h, URL: origin + Path + token}, err
}

// Open returns what a token opens, and counts that. It fails with chat.CodeNotFound for a link that never was, is over
// or was ended, one to an answer that was deleted, and one of a user whose keys were revoked: nobody can tell these
// apart.
func (d *Desk) Open(ctx context.Context, token string) (chat.Share, *runlog.Trace, error) {
	if len(token) != tokenLength {
		return chat.Share{}, nil, chat.NoSuch("link")
	}
	user, h, err := d.Store.OpenShare(ctx, sha256.Sum256([]byte(token)), time.Now())
	if err != nil {
		return h, nil, err
	}
	if d.Gone(user) {
		return h, nil, chat.NoSuch("link")
	}
	t, err := d.Logs.Trace(ctx, chat.Scope{User: user}, h.RunID)
	return h, t, err
}
