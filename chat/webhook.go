package chat

import (
	"context"
	"time"
)

// MaxNotices is how many changes of a user wait to be sent; further ones are given up.
const MaxNotices = 100

// Webhook is the address that is told of what changed in a user's kept questions. The secret lies in the database,
// since every server needs it and it opens nothing: it only proves to the receiver who sent a message.
type Webhook struct {
	User   string
	URL    string
	Origin string // where its user reached this server: links in what is sent begin with it
	Secret []byte // signs what is sent
	SetAt  time.Time
	Local  bool // the local user set it, so it may be on the machine's own networks

	SentAt   time.Time // when the address last took something; zero: never
	FailedAt time.Time // when it last failed to; zero: not since it took something
	Trouble  string    // why, for people
	Lost     int       // changes that were given up since it was set
	Waiting  int       // changes that are to be sent
}

// Notice is something that a webhook is to be told. DueAt is also the token of a claim: whoever lost the claim finds
// another time there and can't settle it.
type Notice struct {
	ID       string  `json:"-"`
	User     string  `json:"-"`
	Question string  `json:"question,omitempty"`
	KeptID   string  `json:"kept_id,omitempty"`
	Change   *Change `json:"change,omitempty"` // nil: that the webhook was set

	Failed int       `json:"-"` // times that it was sent in vain
	DueAt  time.Time `json:"-"` // until then whoever claimed it may settle it
	To     Webhook   `json:"-"`
}

// NoticeOf is what is told of a kept question's newest change. The question must have a change.
func NoticeOf(s Standing) Notice {
	return Notice{
		ID: s.Changes[0].ID, User: s.User, Question: s.Request.Message, KeptID: s.ID, Change: &s.Changes[0],
	}
}

// NewestChange is the id of a kept question's newest change, empty without one.
func (s Standing) NewestChange() string {
	if len(s.Changes) == 0 {
		return ""
	}
	return s.Changes[0].ID
}

// Delivery is what became of a notice that was sent.
type Delivery struct {
	At      time.Time
	Trouble string    // why it was not taken, for people; empty: it was
	Again   time.Time // when it is sent again; zero: it is given up
}

// WebhookStore keeps the address of each user that is told of changes, and what it is to be told. ChangeStanding owes a
// notice of a change that became the newest, together with it, if its user has a webhook; and none of one that was
// there. What is owed for a question goes with it. A notice is inserted in the transaction that stores its change, so
// no crash loses or doubles it; the address may still get one twice, when a server dies after sending and before
// settling.
type WebhookStore interface {
	// SetWebhook sets the user's webhook in the place of the one before, with nothing said of how it does; nil: none,
	// and what was owed goes. What was owed to the one before is due to the new one at SetAt, as if it had not failed,
	// and so is a notice without a change.
	SetWebhook(ctx context.Context, s Scope, hook *Webhook) error

	// Webhook returns the user's webhook.
	Webhook(ctx context.Context, s Scope) (Webhook, error)

	// DueNotices returns the users who have notices that are due now.
	DueNotices(ctx context.Context, now time.Time) (users []string, err error)

	// ClaimNotice returns the notice of a user that is due longest, to one caller only until its DueAt, which it sets
	// to the given time; ok is false when none is due. A caller that dies leaves it to others then.
	ClaimNotice(ctx context.Context, user string, now, until time.Time) (n Notice, ok bool, err error)

	// SettleNotice notes what became of a notice that was claimed, with its webhook. Nothing is noted, and settled is
	// false, once it is another's.
	SettleNotice(ctx context.Context, claimed Notice, d Delivery) (settled bool, err error)
}
