package chat

import (
	"context"

	"time"

	"github.com/footnote/footnote/text/locale"
)

// Limits of a kept question.
const (
	MaxChanges     = 20  // stored changes
	MaxDifferences = 12  // differences shown per change
	MaxKept        = 200 // kept questions of a user without a lower limit
	MaxKeptQuotes  = 40  // quotes stored per answer
)

// Standing is a kept question: it is asked again when the documents behind its answer change. Its fields from
// Noticed on are the state of a state machine in package standing: a difference is noticed, a run is started
// (Asking), and its answer is compared and stored as a Change. Each step is stored before the next, so that another
// server can continue.
type Standing struct {
	ID        string     `json:"id"`
	User      string     `json:"-"`
	Request   RunRequest `json:"request"` // for asking again; its session holds the runs
	RunID     string     `json:"run_id"`  // the run of the first answer
	CreatedAt time.Time  `json:"created_at"`
	Paused    bool       `json:"paused"`

	Basis   Basis     `json:"basis"`    // of the last answer
	AskedAt time.Time `json:"asked_at"` // when it was last asked again; zero: never
	Changes []Change  `json:"changes"`  // newest first
	SeenAt  time.Time `json:"seen_at"`  // when its user last viewed the changes

	Noticed time.Time      `json:"noticed"`           // when a difference was first noticed; zero: none
	Wanted  bool           `json:"wanted,omitempty"`  // its user requested it now
	Asking  string         `json:"asking,omitempty"`  // the run under way
	Turn    int            `json:"turn"`              // counts the started runs
	Recent  []time.Time    `json:"recent,omitempty"`  // runs within the last hour
	Failed  int            `json:"failed,omitempty"`  // consecutive failures
	Trouble locale.Message `json:"trouble,omitempty"` // reason for the failure, for people

	// Version is the library version of the last check for this question.
	Version int64 `json:"-"`
	// DueAt is the time of the next work. Zero: when the library's version changes.
	DueAt time.Time `json:"-"`
}

// Basis is the sources of an answer. It stores hashes of sentences and passages instead of texts, since only their
// presence is compared. The maximum is 12,000 sentences of 4 bytes each.
type Basis struct {
	RunID     string          `json:"run_id"`
	Answer    string          `json:"answer"`
	Citations []Citation      `json:"citations"` // at most MaxKeptQuotes, with a quote each
	Documents []KnownDocument `json:"documents"`
	Passages  []uint64        `json:"passages"` // hashes of the passages that a search for the question returned
	At        time.Time       `json:"at"`       // the time of the search
}

// KnownDocument is a version of a document behind an answer.
type KnownDocument struct {
	ID     string   `json:"id"`
	SHA256 string   `json:"sha256"`
	Title  string   `json:"title"`
	Lines  []uint32 `json:"lines,omitempty"` // hashes of its sentences; empty for a long document
}

// Knows returns the version of a document in the basis. It is a linear search: a basis has few documents.
func (b Basis) Knows(id string) (KnownDocument, bool) {
	for _, d := range b.Documents {
		if d.ID == id {
			return d, true
		}
	}
	return KnownDocument{}, false
}

// DifferenceKind is the kind of a quote's difference.
type DifferenceKind string

// The kinds of difference.
const (
	DifferenceChanged DifferenceKind = "changed" // the quote has other words at the same place
	DifferenceAdded   DifferenceKind = "added"   // a new quote
	DifferenceGone    DifferenceKind = "gone"    // a removed quote
)

// Difference is one quote before and after a change. Before is nil for an added quote, After for a removed one.
type Difference struct {
	Kind       DifferenceKind `json:"kind"` // Whether a quote changed, was added, or was removed.
	DocumentID string         `json:"document_id"`
	Title      string         `json:"title"`
	Removed    bool           `json:"removed,omitempty"` // The document was deleted.
	Before     *MarkedQuote   `json:"before"`            // The old quote; null for an added one.
	After      *MarkedQuote   `json:"after"`             // The new quote; null for a removed one.
	// The old words of the quote.
	//
	// Was and Now are the different words, with the neighbouring words needed to understand them, if both are
	// contiguous; else both are empty. They are substrings of the quotes.
	Was string `json:"was,omitempty"`
	// The new words of the quote; absent if they are not contiguous.
	Now string `json:"now,omitempty"`
}

// MarkedQuote is a quote with marks on the words that differ from another.
type MarkedQuote struct {
	Quote string `json:"quote"`
	// The differing words of the quote, as [from, to) in its characters.
	Marks [][2]int `json:"marks"`
	Place string   `json:"place,omitempty"`
	URL   string   `json:"url"` // address of the source at the words
}

// Change is the difference between an answer and the previous one.
type Change struct {
	ID          string       `json:"id"`
	At          time.Time    `json:"at"` // When it was detected.
	RunID       string       `json:"run_id"`
	BeforeRunID string       `json:"before_run_id"`  // The run of the previous answer.
	Differences []Difference `json:"differences"`    // The differences, changed quotes first.
	More        int          `json:"more,omitempty"` // further ones, not shown
}

// Unseen reports whether there is a change since its user last looked. Changes are sorted newest first, so only the
// first is compared.
func (s Standing) Unseen() bool { return len(s.Changes) > 0 && s.Changes[0].At.After(s.SeenAt) }

// StandingState is the state of a kept question. It is computed when it is shown and never stored.
type StandingState string

// The states of a kept question.
const (
	StandingUnchanged StandingState = "unchanged" // since it was kept
	StandingChanged   StandingState = "changed"   // something changed at some time
	StandingWaiting   StandingState = "waiting"   // queued to be asked again
	StandingAsking    StandingState = "asking"    // being asked again
	StandingPaused    StandingState = "paused"
	StandingFailed    StandingState = "failed" // asking failed and is retried
)

// State returns the current state of the question. Several states may apply at once; the order puts the most
// important first. A failure outranks waiting, since a failed question also waits.
func (s Standing) State() StandingState {
	switch {
	case s.Paused:
		return StandingPaused
	case s.Asking != "":
		return StandingAsking
	case s.Failed > 0:
		return StandingFailed
	case s.Wanted, !s.Noticed.IsZero():
		return StandingWaiting
	case len(s.Changes) > 0:
		return StandingChanged
	default:
		return StandingUnchanged
	}
}

// CheckStandingQuota fails with an *OverLimit if a user with that many kept questions can't keep another. A limit of
// MaxKept applies to every user. Stores call it in the transaction that adds the question.
func (l Limits) CheckStandingQuota(there int64) error {
	if most, holds := l.Of(KeptQuestions); holds && there >= most {
		return l.Over(KeptQuestions, time.Now(), time.Time{})
	}
	if there >= MaxKept {
		return Limits{KeptQuestions: MaxKept}.Over(KeptQuestions, time.Now(), time.Time{})
	}
	return nil
}

// StandingStore stores kept questions. Its guarantees are those of Store. They survive the deletion of their
// conversations. Work on them is claimed by moving DueAt ahead, a lease that needs no lock beyond one statement.
type StandingStore interface {
	// AddStanding stores a question for the scope's user under a new id, and returns it as stored. It fails with an
	// *OverLimit over the user's limit; concurrent calls never exceed it.
	AddStanding(ctx context.Context, s Scope, kept Standing) (Standing, error)

	// Standing returns a kept question.
	Standing(ctx context.Context, s Scope, id string) (Standing, error)

	// AllStanding returns the user's kept questions, newest first.
	AllStanding(ctx context.Context, s Scope) ([]Standing, error)

	// UnseenStanding counts the kept questions with a change since the user looked.
	UnseenStanding(ctx context.Context, s Scope) (int, error)

	// ChangeStanding changes a kept question and returns it as stored. change may be called more than once; nothing
	// is stored if it fails. Concurrent changes are not lost. Its user and times of creation stay.
	ChangeStanding(ctx context.Context, s Scope, id string, change func(*Standing) error) (Standing, error)

	// DropStanding deletes a kept question.
	DropStanding(ctx context.Context, s Scope, id string) error

	// DueStanding returns the users with kept questions that are due now; paused questions are excluded.
	DueStanding(ctx context.Context, now time.Time) (users []string, err error)

	// ClaimStanding returns the user's question that has been due longest and sets its DueAt to until, as a lease
	// for one caller. ok is false when no question is due. If the caller dies, the lease expires at that time.
	ClaimStanding(ctx context.Context, user string, now, until time.Time) (kept Standing, ok bool, err error)

	// SetStandingFeed sets the hash of the token that gives read access to a user's changes, nil for none.
	SetStandingFeed(ctx context.Context, s Scope, hash *TokenHash) error

	// StandingFeed returns the scope of the user with a feed token's hash.
	StandingFeed(ctx context.Context, hash TokenHash) (Scope, error)
}
