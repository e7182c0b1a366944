// Package shares makes and opens public links to one answer with its quotes. A link's token is only in its address:
// the store has its hash. A link gives access to the answer and its quotes, never to a document.
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

// Lifetimes of a link, in days.
const (
	DefaultDays = 7
	MaxDays     = 30
)

// tokenLength is the length of rand.Text, which has 130 bits.
const tokenLength = 26

// Path is the prefix of links, followed by the token.
const Path = "/s/"

// Service creates and opens links. It is safe for concurrent use.
type Service struct {
	Store chat.Store
	Logs  *runlog.Reader
	Gone  func(user string) bool // reports whether a user's links are closed
}

// ShareRequest is the body of POST /agent/runs/{id}/shares.
type ShareRequest struct {
	Days int `json:"days"` // The lifetime in days, from 1 to 30; default 7.
}

// SharedLink is a link with its address, which is returned only once.
type SharedLink struct {
	chat.Share
	URL string `json:"url"` // The URL of the shared answer. It is returned only once.
}

// ShareList is the body of GET /shares.
type ShareList struct {
	Shares []chat.Share `json:"shares"` // The open links, newest first.
}

// Make creates a link to a run's answer. origin is the server's public address, such as https://ask.example.org.
func (v *Service) Make(ctx context.Context, s chat.Scope, runID, origin string, days int) (SharedLink, error) {
	if days == 0 {
		days = DefaultDays
	}
	if days < 1 || days > MaxDays {
		return SharedLink{}, httpio.Invalid("The link must expire in 1 to 30 days.")
	}
	t, err := v.Logs.Trace(ctx, s, runID)
	if err != nil {
		return SharedLink{}, err
	}
	if t.Status == chat.RunRunning {
		return SharedLink{}, &chat.Error{
			Code: chat.CodeConflict, Message: "This answer is still in progress. Share it when it is done.",
		}
	}
	if t.Answer == nil {
		return SharedLink{}, &chat.Error{
			Code:    chat.CodeConflict,
			Message: "No answer to share. Ask again first.",
		}
	}
	token := rand.Text()
	until := time.Now().Add(time.Duration(days) * 24 * time.Hour)
	h, err := v.Store.AddShare(ctx, s, runID, sha256.Sum256([]byte(token)), until)
	return SharedLink{Share: h, URL: origin + Path + token}, err
}

// Open returns the share and the run of a token, and counts the opening. It fails with the same chat.CodeNotFound
// for an unknown, expired or ended link, for a deleted answer, and for a user whose keys were revoked.
func (v *Service) Open(ctx context.Context, token string) (chat.Share, *runlog.Trace, error) {
	if len(token) != tokenLength {
		return chat.Share{}, nil, chat.NoSuch("link")
	}
	user, h, err := v.Store.OpenShare(ctx, sha256.Sum256([]byte(token)), time.Now())
	if err != nil {
		return h, nil, err
	}
	if v.Gone(user) {
		return h, nil, chat.NoSuch("link")
	}
	t, err := v.Logs.Trace(ctx, chat.Scope{User: user}, h.RunID)
	return h, t, err
}
