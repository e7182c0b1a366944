// Package webhook sends the changes of kept questions to webhooks of their users, signed by the Standard Webhooks
// specification. The store queues a message in the same transaction as the change. A Sender claims due messages,
// sends them and stores the results. Several servers may share a store. Delivery is at least once, and retries have
// the same message id.
//
// A webhook is a URL that a user entered. Never follow a redirect, never show a user the body of a response, and
// never connect to an address that Config.Client does not allow.
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
	"github.com/footnote/footnote/text/locale"
)

// Timings and limits of sending.
const (
	claimTime = time.Minute // length of a claim: after it another server sends the message
	atOnce    = 16          // concurrent messages, each to another user
	maxReply  = 1 << 10     // bytes of a response that are read and discarded
)

// waits is the backoff after each failed attempt. After the last, some 15 hours in all, a message is dropped as
// outdated.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}

// Config holds the dependencies of a Sender.
type Config struct {
	Store chat.WebhookStore
	// Client returns the client for a webhook; local is true for a webhook of the local user, which may reach
	// private addresses.
	Client func(local bool) *http.Client
	// Gone reports whether a user's keys were revoked, so that messages are not sent; nil: no user is revoked.
	Gone func(user string) bool
	// Sentence describes a difference in one sentence.
	Sentence func(context.Context, chat.Difference) string
	Log      *slog.Logger
	Every    time.Duration    // polling interval for due messages; 0: 2 s
	Timeout  time.Duration    // timeout of a message with its response; 0: 10 s
	Now      func() time.Time // nil: time.Now
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	cfg  Config
	loop fair.Loop[chat.Notice]
}

// New returns a Sender. No message is sent until Run is called.
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
			s.cfg.Log.WarnContext(ctx, "could not process webhooks", "error", err)
		},
	}
	return s
}

// Run sends due messages until ctx is cancelled. A user's messages are sent sequentially, so a webhook that hangs
// delays only its own user.
func (s *Sender) Run(ctx context.Context) { s.loop.Run(ctx) }

// deliver sends a message and stores the result. SettleNotice ignores the result if the claim expired meanwhile:
// another server then sends the message again and stores its own result.
func (s *Sender) deliver(ctx context.Context, n chat.Notice) error {
	if s.cfg.Gone != nil && s.cfg.Gone(n.User) {
		return nil // the claim expires
	}
	err := s.send(ctx, n)
	if ctx.Err() != nil {
		return ctx.Err() // the server stops: the claim expires
	}
	now := s.cfg.Now().UTC().Truncate(time.Microsecond)
	d := chat.Delivery{At: now}
	if err != nil {
		d.Trouble = chat.MessageOf(err)
		if n.Failed < len(waits) {
			d.Again = now.Add(waits[n.Failed])
		}
		s.cfg.Log.WarnContext(ctx, "could not deliver to a webhook", "user", n.User, "message", n.ID, "error", err,
			"given_up", d.Again.IsZero())
	}
	_, err = s.cfg.Store.SettleNotice(ctx, n, d)
	return err
}

// send sends a message once. Its error discloses only the status of the response.
func (s *Sender) send(ctx context.Context, n chat.Notice) error {
	body, err := s.bodyOf(ctx, n)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
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
	// The body is discarded; reading a little of it allows the connection to be reused.
	_, _ = io.CopyN(io.Discard, resp.Body, maxReply)
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: locale.Say("The webhook URL returned status {1}. Redirects are not "+
				"followed. Enter the target URL.", resp.StatusCode),
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: locale.Say("The webhook URL returned status {1}.", resp.StatusCode),
	}
}

// explain converts a connection error to a message for the user without the URL.
func explain(err error) error {
	var told *chat.Error
	var timeout net.Error
	var sent *url.Error
	if errors.As(err, &sent) { // it contains the URL, whose path is often a secret, and errors are logged
		err = sent.Err
	}
	switch {
	case errors.As(err, &told): // the address is not allowed
		return told
	case errors.As(err, &timeout) && timeout.Timeout():
		return &chat.Error{
			Code: chat.CodeTimeout, Message: "The webhook URL timed out after 10 s.", Err: err,
		}
	}
	return unreachable(err)
}

func unreachable(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The webhook URL could not be reached.", Err: err}
}

// MaxBody is the maximum size of a message in bytes. A longer message omits the last differences.
const MaxBody = 256 << 10

// The types of messages.
const (
	TypeSet     = "webhook.set"      // the webhook was set
	TypeChanged = "standing.changed" // the answer of a kept question has changed
)

// Message is the JSON body of a webhook. Receivers parse it, so fields may be added but never changed.
type Message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // time of the event
	Data      Data      `json:"data"`
}

// Data is the event. For a webhook that was set only URL is present.
type Data struct {
	ID          string       `json:"id,omitempty"` // of the change
	QuestionID  string       `json:"question_id,omitempty"`
	Question    string       `json:"question,omitempty"`
	RunID       string       `json:"run_id,omitempty"` // of the new answer
	URL         string       `json:"url"`              // the page of kept questions
	Differences []Difference `json:"differences,omitempty"`
	More        int          `json:"more,omitempty"` // further differences
}

// Difference is a changed, new or removed quote.
type Difference struct {
	Kind     chat.DifferenceKind `json:"kind"`
	Text     string              `json:"text"` // the difference in one sentence
	Document Document            `json:"document"`
	Before   *Quote              `json:"before"` // null: the words are new
	After    *Quote              `json:"after"`  // null: the words are gone
	Was      string              `json:"was,omitempty"`
	Now      string              `json:"now,omitempty"`
}

// Document is the document of a quote.
type Document struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Removed bool   `json:"removed,omitempty"`
}

// Quote is a quotation from a document.
type Quote struct {
	Quote string `json:"quote"`
	Place string `json:"place,omitempty"`
	URL   string `json:"url"` // opens the document at the words
}

// bodyOf encodes a notice. It has no time of the attempt, so retries have the same body with a new signature.
// Differences are dropped from the end until it fits MaxBody, each with a new encoding, since too long messages are
// rare.
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

// sign returns the headers with the message id, the timestamp and the HMAC-SHA256 signature. The signed text is
// "id.timestamp.body", the header "v1," and the MAC in base64, by the Standard Webhooks specification
// (standardwebhooks.com). Receivers may refuse an old timestamp, so each attempt has its own.
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
