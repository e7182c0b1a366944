// Package webhook sends what changed in kept questions to the addresses that their users set, signed as the Standard
// Webhooks specification says. A store owes each message from the moment of the change on; a Sender claims what is due,
// sends it, and notes what became of it. Several servers may share a store. Whatever dies, a message is sent at least
// once, and its id is the same each time.
//
// It must never follow a redirect, tell a user what a reply said, or reach an address that Config.Client may not reach:
// a webhook is an address that a user typed in.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/fair"
)

// Times and bounds of sending.
const (
	claimTime = time.Minute // a server that died has its messages sent by others after that
	atOnce    = 16          // messages on their way, each to another user
	maxReply  = 1 << 10     // bytes of a reply that are read, and thrown away
)

// waits is how long is waited after each time in vain. After the last, a message is given up. After some 15 hours in
// all nobody is served by news that old.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}

// Config wires a Sender.
type Config struct {
	Store chat.WebhookStore
	// Client reaches the addresses that a webhook may reach; local is set for a webhook of the local user.
	Client func(local bool) *http.Client
	// Gone reports whether a user's keys were revoked, so that nothing is sent for them; nil: nobody's.
	Gone func(user string) bool
	// Sentence says what a difference is.
	Sentence func(context.Context, chat.Difference) string
	Log      *slog.Logger
	Every    time.Duration    // between two looks for what is due; 0: 2 s
	Timeout  time.Duration    // of one message, with its reply; 0: 10 s
	Now      func() time.Time // nil: time.Now
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	cfg  Config
	loop fair.Loop[chat.Notice]
}

// New makes a Sender. Nothing is sent until Run.
func New(cfg Config) *Sender {
	cfg.Every, cfg.Timeout = cmp.Or(cfg.Every, 2*time.Second), cmp.Or(cfg.Timeout, 10*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Sender{cfg: cfg}
	s.loop = fair.Loop[chat.Notice]{
		Slots: fair.NewSlots(atOnce, 1), Every: cfg.Every, Do: s.deliver,
		Due: func(ctx context.Context) ([]string, error) { return s.cfg.Store.DueNotices(ctx, s.cfg.Now()) },
		Claim: func(ctx context.Context, user string) (chat.Notice, bool, error) {
			now := s.cfg.Now()
			return s.cfg.Store.ClaimNotice(ctx, user, now, now.Add(claimTime).Truncate(time.Microsecond))
		},
		Failed: func(ctx context.Context, err error) {
			s.cfg.Log.WarnContext(ctx, "webhooks could not be looked after", "error", err)
		},
	}
	return s
}

// Run sends what is due until ctx ends. Messages of one user are sent one after another, in order, so an address that
// hangs holds up its own user alone.
func (s *Sender) Run(ctx context.Context) { s.loop.Run(ctx) }

// deliver sends a message and notes what became of it. SettleNotice drops what it is told when the claim was lost
// meanwhile: then another server sends, and its finding counts. That is why a message may come twice.
func (s *Sender) deliver(ctx context.Context, n chat.Notice) error {
	if s.cfg.Gone != nil && s.cfg.Gone(n.User) {
		return nil // the claim ends by itself
	}
	err := s.send(ctx, n)
	if ctx.Err() != nil {
		return ctx.Err() // the server stops: the claim ends by itself
	}
	now := s.cfg.Now().UTC().Truncate(time.Microsecond)
	d := chat.Delivery{At: now}
	if err != nil {
		d.Trouble = chat.MessageOf(err)
		if n.Failed < len(waits) {
			d.Again = now.Add(waits[n.Failed])
		}
		s.cfg.Log.WarnContext(ctx, "webhook could not be delivered", "user", n.User, "message", n.ID, "error", err,
			"given_up", d.Again.IsZero())
	}
	_, err = s.cfg.Store.SettleNotice(ctx, n, d)
	return err
}

// send sends a message once. It fails with a sentence that tells nothing of the reply but its status.
func (s *Sender) send(ctx context.Context, n chat.Notice) error {
	body, err := s.bodyOf(ctx, n)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.To.URL, bytes.NewReader(body))
	if err != nil {
		return unreachable(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Footnote")
	for name, value := range sign(n.To.Secret, n.ID, s.cfg.Now(), body) {
		req.Header.Set(name, value)
	}
	client := *s.cfg.Client(n.To.Local)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return explain(err)
	}
	// What the reply says is nobody's business; a little of it is read so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, resp.Body, maxReply)
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: fmt.Sprintf("The address answered %d: it leads elsewhere, which is "+
				"not followed. Set the address that it leads to.", resp.StatusCode),
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: fmt.Sprintf("The address answered %d.", resp.StatusCode),
	}
}

// explain turns what went wrong on the way into a sentence that names no address.
func explain(err error) error {
	var told *chat.Error
	var timeout net.Error
	var sent *url.Error
	if errors.As(err, &sent) { // it names the address, whose path is often a secret, and errors are logged
		err = sent.Err
	}
	switch {
	case errors.As(err, &told): // the address may not be reached
		return told
	case errors.As(err, &timeout) && timeout.Timeout():
		return &chat.Error{
			Code: chat.CodeTimeout, Message: "The address did not answer in time: it has 10 s.", Err: err,
		}
	}
	return unreachable(err)
}

func unreachable(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The address could not be reached.", Err: err}
}

// MaxBody is how many bytes a message may have. One that would be longer tells of fewer differences.
const MaxBody = 256 << 10

// The types of messages.
const (
	TypeSet     = "webhook.set"      // the address was set
	TypeChanged = "standing.changed" // a kept question's answer says something else
)

// Message is what is sent, as JSON. Receivers read it, so fields may be added and none may change.
type Message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when it happened
	Data      Data      `json:"data"`
}

// Data is what happened. All but URL is empty of a webhook that was set.
type Data struct {
	ID          string       `json:"id,omitempty"` // the change's
	QuestionID  string       `json:"question_id,omitempty"`
	Question    string       `json:"question,omitempty"`
	RunID       string       `json:"run_id,omitempty"` // whose answer it is
	URL         string       `json:"url"`              // the page of kept questions
	Differences []Difference `json:"differences,omitempty"`
	More        int          `json:"more,omitempty"` // further differences
}

// Difference is what became of a quote.
type Difference struct {
	Kind     chat.DifferenceKind `json:"kind"`
	Text     string              `json:"text"` // it in one sentence
	Document Document            `json:"document"`
	Before   *Quote              `json:"before"` // null: the words are new
	After    *Quote              `json:"after"`  // null: the words are gone
	Was      string              `json:"was,omitempty"`
	Now      string              `json:"now,omitempty"`
}

// Document is a document that a quote is in.
type Document struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Removed bool   `json:"removed,omitempty"`
}

// Quote is words of a document.
type Quote struct {
	Quote string `json:"quote"`
	Place string `json:"place,omitempty"`
	URL   string `json:"url"` // opens the document at the words
}

// bodyOf writes what a notice tells, the same each time. It holds no time of its own, since a message that is sent
// again is signed anew but must read the same. Differences are taken off the end until it fits, each with a new
// encoding: messages that are too long are rare.
func (s *Sender) bodyOf(ctx context.Context, n chat.Notice) ([]byte, error) {
	m := Message{Type: TypeSet, Timestamp: n.To.SetAt, Data: Data{URL: n.To.Origin + "/standing"}}
	if n.Change == nil {
		return json.Marshal(m)
	}
	m.Type, m.Timestamp = TypeChanged, n.Change.At
	m.Data = Data{
		ID: n.ID, QuestionID: n.KeptID, Question: n.Question, RunID: n.Change.RunID,
		URL: n.To.Origin + "/standing#kept-" + n.KeptID, More: n.Change.More,
	}
	for _, d := range n.Change.Differences {
		m.Data.Differences = append(m.Data.Differences, Difference{
			Kind: d.Kind, Text: s.cfg.Sentence(ctx, d),
			Document: Document{d.DocumentID, d.Title, n.To.Origin + "/d/" + d.DocumentID, d.Removed},
			Before:   quoteOf(n.To.Origin, d.Before), After: quoteOf(n.To.Origin, d.After), Was: d.Was, Now: d.Now,
		})
	}
	for {
		body, err := json.Marshal(m)
		if err != nil || len(body) <= MaxBody || len(m.Data.Differences) == 0 {
			return body, err
		}
		m.Data.Differences = m.Data.Differences[:len(m.Data.Differences)-1]
		m.Data.More++
	}
}

func quoteOf(origin string, q *chat.MarkedQuote) *Quote {
	if q == nil {
		return nil
	}
	return &Quote{q.Quote, q.Place, origin + q.URL}
}

// sign returns the headers that say which message this is, when it is sent, and that who knows the secret sent it. The
// signed text is "id.timestamp.body", the header "v1," and the MAC in base64, by the Standard Webhooks specification
// (standardwebhooks.com). Receivers may refuse a timestamp that is far off, so each try has its own.
func sign(secret []byte, id string, at time.Time, body []byte) map[string]string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(id + "." + stamp + ".")) // a hash does not fail
	_, _ = mac.Write(body)
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": stamp,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}
