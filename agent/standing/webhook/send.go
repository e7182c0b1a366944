// Package webhook sends what changed in kept questions to the addresses that their users set, signed as the Standard
// Webhooks specification says. A store owes each message from the moment of the change on; a Sender claims what is due,
// sends it, and notes what became of it. Several servers may share a store. Whatever dies, a message is sent at least
// once, and its id is the same each time.
//
// message.go writes and signs a message, setup.go makes the secret, send.go has the loop. It must never follow a
// redirect, tell a user what a reply said, or reach an address that Config.Client may not reach: a webhook is an
// address that a user typed in.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
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
