package chat

import (
	"context"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// MaxNotices is the maximum length of a user's queue of notices; further ones are dropped.
const MaxNotices = 100

// Webhook is the address that receives changes of a user's kept questions. The secret is stored in plain text in the
// database, since every server needs it. It opens nothing: it only authenticates the sender to the receiver.
type Webhook struct {
	User   string
	URL    string
	Origin string // the server's address for its user: the prefix of links in messages
	Secret []byte // signs messages
	SetAt  time.Time
	Local  bool // set by the local user, so private network addresses are allowed

	SentAt   time.Time      // last successful delivery; zero: never
	FailedAt time.Time      // last failure; zero: none since the last success
	Trouble  locale.Message // reason for the failure, for people
	Lost     int            // changes dropped since it was set
	Waiting  int            // queued changes
}

// Notice is a queued webhook message. DueAt is also the token of a claim: a caller that lost its lease finds another
// time there and can't settle the notice.
type Notice struct {
	ID       string  `json:"-"`
	User     string  `json:"-"`
	Question string  `json:"question,omitempty"`
	KeptID   string  `json:"kept_id,omitempty"`
	Change   *Change `json:"change,omitempty"` // nil: a test message after the webhook was set

	Failed int       `json:"-"` // failed attempts
	DueAt  time.Time `json:"-"` // the lease's deadline: its holder may settle until then
	To     Webhook   `json:"-"`
}

// NoticeOf returns the notice of a kept question's newest change. The question must have a change.
func NoticeOf(s Standing) Notice {
	return Notice{
		ID: s.Changes[0].ID, User: s.User, Question: s.Request.Message, KeptID: s.ID, Change: &s.Changes[0],
	}
}

// NewestChange returns the id of a kept question's newest change, empty without one.
func (s Standing) NewestChange() string {
	if len(s.Changes) == 0 {
		return ""
	}
	return s.Changes[0].ID
}

// Delivery is the result of sending a notice.
type Delivery struct {
	At      time.Time
	Trouble locale.Message // reason for the failure, for people; empty: success
	Again   time.Time      // time of the retry; zero: given up
}

// WebhookStore keeps each user's webhook and its queue of notices. ChangeStanding adds a notice with each change
// that becomes the newest, if the user has a webhook; an old change gets none. Deleting a question deletes its
// notices. A notice is inserted in the transaction that stores its change, so a crash neither loses nor duplicates
// it. Delivery is at least once: a server may die after sending and before settling.
type WebhookStore interface {
	// SetWebhook replaces the user's webhook and clears its delivery state; nil deletes it with its notices. Pending
	// notices become due for the new webhook at SetAt, with their failures cleared, and so does a notice without a
	// change.
	SetWebhook(ctx context.Context, s Scope, hook *Webhook) error

	// Webhook returns the user's webhook.
	Webhook(ctx context.Context, s Scope) (Webhook, error)

	// DueNotices returns the users with notices that are due now.
	DueNotices(ctx context.Context, now time.Time) (users []string, err error)

	// ClaimNotice returns the user's notice that has been due longest and sets its DueAt to until, as a lease for
	// one caller. ok is false when no notice is due. If the caller dies, the lease expires at that time.
	ClaimNotice(ctx context.Context, user string, now, until time.Time) (n Notice, ok bool, err error)

	// SettleNotice stores the result of a claimed notice, with its webhook. If the claim was lost, it stores nothing
	// and settled is false.
	SettleNotice(ctx context.Context, claimed Notice, d Delivery) (settled bool, err error)
}
