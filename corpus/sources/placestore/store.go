// Package placestore keeps which places are followed, and what is known of the items of each. Secrets are not in it.
//
// What comes in are setups (what an owner said) and what looks saw; what goes out is what is due, wanted or missing. A
// look has a number, and each item the number of the look that listed it last: so what is missing is what has an older
// number. sql/store implements the port for both databases, storetest is its contract.
package placestore

import (
	"context"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
)

// Schedule says when a place is looked at by itself.
//
//api:open
type Schedule string

// The schedules.
const (
	OnRequest  Schedule = "request"
	EveryHour  Schedule = "hour"
	EveryDay   Schedule = "day"
	EveryWeek  Schedule = "week"
	MaxPlaces           = 100 // of one user
	MaxNameLen          = 80  // characters
)

// Every is how long is waited after a look that went well; 0: until somebody asks. It is only how long is waited: a
// look may take longer.
func (s Schedule) Every() time.Duration {
	switch s {
	case EveryHour:
		return time.Hour
	case EveryDay:
		return 24 * time.Hour
	case EveryWeek:
		return 7 * 24 * time.Hour
	case OnRequest:
	}
	return 0
}

// Setup is what a place's owner said of it. It is stored as JSON, so fields are only added. One who changes it gets a
// new Revision. Secrets names the fields whose values are kept elsewhere.
type Setup struct {
	Kind      string            `json:"kind"`
	Name      string            `json:"name"` // the folder of its documents in the library; one of its user
	Namespace string            `json:"namespace"`
	Settings  map[string]string `json:"settings"`          // without secrets
	Secrets   []string          `json:"secrets,omitempty"` // the fields that have one
	SecretsAt string            `json:"secrets_at,omitempty"`
	Schedule  Schedule          `json:"schedule"`
	Paused    bool              `json:"paused,omitempty"`
	Removing  Removal           `json:"removing,omitempty"`
	// Local says that the local user entered the settings, at a server that nobody else uses. Only then may the place
	// be on the machine's own networks. It is false for places of versions that did not keep it.
	Local bool `json:"local,omitempty"`
}

// Removal says what becomes of the documents of a place that is removed.
type Removal string

// The removals.
const (
	NotRemoved    Removal = ""
	KeepDocuments Removal = "keep"
	DropDocuments Removal = "delete"
)

// Progress is what is known of a place's looks. It is written by whoever holds the lease.
type Progress struct {
	LookedAt  time.Time `json:"looked_at"`         // when the last look ended; zero: never
	SuccessAt time.Time `json:"success_at"`        // when the last one that saw everything ended
	Failure   *Failure  `json:"failure,omitempty"` // of the last look
	Failures  int       `json:"failures"`          // looks in a row
	Going     bool      `json:"going,omitempty"`   // the last look was interrupted: the report goes on
	Cuts      int       `json:"cuts,omitempty"`    // turns in a row that ended before the look did
	Note      string    `json:"note,omitempty"`    // a sentence about the last look that is no failure
	Counts    Counts    `json:"counts"`
	Report    Report    `json:"report"`
	Seen      string    `json:"seen,omitempty"` // the state of a place that says it, as of a look that saw and read all
}

// Failure is why a look, or an item, failed: a code of chat.Error and its sentence.
type Failure struct {
	Code    chat.Code `json:"code"`
	Message string    `json:"message"`
}

// Counts counts a place's items.
type Counts struct {
	Items   int `json:"items"`
	Refused int `json:"refused"`
	Waiting int `json:"waiting"` // to be fetched
}

// Report says what the last look changed in the library.
type Report struct {
	Added     int       `json:"added"`
	Changed   int       `json:"changed"`
	Removed   int       `json:"removed"`
	Documents []Touched `json:"documents,omitempty"` // the first MaxTouched of them
}

// MaxTouched is how many documents a report names.
const MaxTouched = 100

// Touched is a document that a look added, changed or removed.
type Touched struct {
	Document string `json:"document_id"`
	Name     string `json:"name"`
	What     string `json:"what"` // added, changed, removed
}

// Place is a place that is followed.
type Place struct {
	ID        string
	User      string
	Revision  int64 // another after each Update
	Looks     int64 // that have begun
	CreatedAt time.Time
	NextAt    time.Time // the next look; zero: none is planned
	Looking   bool      // a server is at work on it
	Deaths    int       // processes that died while they synchronized it; see MaxDeaths
	Setup
	Progress
}

// MaxDeaths is how many processes may die while they synchronize a place. With as many it is paused until its owner
// changes it or asks for a synchronization. With fewer it is synchronized while its process works on no other place.
const MaxDeaths = 2

// Blamed reports whether its deaths pause the place.
func (p Place) Blamed() bool { return p.Deaths >= MaxDeaths && p.Removing == NotRemoved }

// Trouble is the failure that the owner reads: that the place is blamed, else the one of the last look.
func (p Place) Trouble() *Failure {
	if !p.Blamed() {
		return p.Failure
	}
	said := &chat.Error{
		Code: chat.CodeInternal,
		Message: "The server ended twice while it synchronized this place, so the place is paused. Resume it to try " +
			"again, or remove it.",
	}
	return &Failure{said.Code, said.Message}
}

// State says in a word how a place is. The first that fits is told, in the order of what matters to its owner.
func (p Place) State() string {
	switch {
	case p.Removing != NotRemoved:
		return "removing"
	case p.Looking:
		return "looking"
	case p.Paused, p.Blamed():
		return "paused"
	case p.Failure != nil:
		return "failed"
	case p.LookedAt.IsZero() || !p.NextAt.IsZero() && p.NextAt.Before(time.Now()):
		return "waiting"
	}
	return "idle"
}

// Item is what is known of an item of a place. Wanted, put off and the number of the look are the store's own.
type Item struct {
	Key      string
	Version  string // that was settled; empty: it is to be fetched whenever it is listed
	Document string // empty: none
	Name     string
	Link     string
	Refusal  *Failure
	Listed   []byte // a form of the item that was listed last, for whoever fetches it
}

// Listed is an item that a look sees.
type Listed struct {
	Key, Version, Name, Link string
	Body                     []byte
}

// Lease is a server's right to work on a place. It ends by itself. It is a duration and not a time, since the
// database's clock counts.
type Lease struct {
	Owner string
	For   time.Duration
}

// ErrLost says that another server has the place now, or that it is gone.
var ErrLost = errors.New("the lease of the place is lost")

// Never plans no look.
const Never time.Duration = -1

// Store keeps places. storetest.Test is this contract as tests. It is safe for concurrent use; each write is all or
// nothing. What names an owner fails with ErrLost unless that one's lease holds. Of another user's place, and of one
// that is being removed, a user gets chat.CodeNotFound.
type Store interface {
	// CreatePlace stores a place that is due at once. Its ID is chosen by the caller. It fails with chat.CodeConflict
	// for a name that the user has a place of, and with chat.CodeTooMany for more than MaxPlaces.
	CreatePlace(ctx context.Context, id, user string, setup Setup) (Place, error)
	Place(ctx context.Context, user, id string) (Place, error)
	// Places returns the places of a user in the order of their names, those being removed last.
	Places(ctx context.Context, user string) ([]Place, error)
	// UpdatePlace changes the setup of a place whose Revision is still that, else it fails with chat.CodeConflict.
	// The next look is due after a duration, or Never; a negative one other than Never leaves it as it is. Deaths
	// become 0.
	UpdatePlace(ctx context.Context, user, id string, revision int64, setup Setup, due time.Duration) (Place, error)

	// DuePlaces returns up to limit places that are due and that no server works on: the oldest of each user, then the
	// second of each user, and so on. One user's places never fill the limit while others have any.
	DuePlaces(ctx context.Context, limit int) ([]Place, error)
	// LeasePlace takes a place that is due; ok is false when it is not, or another server has it.
	LeasePlace(ctx context.Context, id string, lease Lease) (p Place, ok bool, err error)
	// RenewPlace prolongs a lease and stores progress unless that is nil. It returns the place's revision: another one
	// than that of the lease tells the worker to stop.
	RenewPlace(ctx context.Context, id string, lease Lease, progress *Progress) (revision int64, err error)
	// ReleasePlace stores progress and gives the lease back. When the place has another revision, it stays due as
	// UpdatePlace said. Deaths become 0 unless progress is of a look that goes on.
	ReleasePlace(ctx context.Context, id, owner string, revision int64, progress Progress, due time.Duration) error
	// DropPlace removes a place and its items for good.
	DropPlace(ctx context.Context, id, owner string) error
	// CountDeaths ends each lease that was neither renewed nor given back in time, and counts a death for its place. A
	// place that reaches MaxDeaths is due no more. all is for leases that hold as well: no other process has the
	// database open.
	CountDeaths(ctx context.Context, all bool) error
	// PlaceExists reports whether there is a place of any user.
	PlaceExists(ctx context.Context, id string) (bool, error)

	// BeginLook counts a look and returns its number.
	BeginLook(ctx context.Context, id, owner string) (look int64, err error)
	// SeeItems notes up to MaxBatch items as listed in a look. Those that are new, or whose version is empty or another
	// than what was settled, are wanted.
	SeeItems(ctx context.Context, id, owner string, look int64, items []Listed) error
	// WantedItems returns up to limit items that are wanted, were listed in the look, and were not put off in it; those
	// that were put off in earlier looks come last.
	WantedItems(ctx context.Context, id string, look int64, limit int) ([]Item, error)
	// SettleItem stores what became of an item; it is not wanted any more. Listed stays.
	SettleItem(ctx context.Context, id, owner string, item Item) error
	// PutOffItem has an item wait for a later look.
	PutOffItem(ctx context.Context, id, owner string, look int64, key string) error
	// UnsettleItems has other items that share a document fetched again in this look or the next, and takes it from
	// them.
	UnsettleItems(ctx context.Context, id, owner, document, except string) error
	// SharedItems counts the other items of the place that have a document and were listed in a look or after it.
	SharedItems(ctx context.Context, id, document, except string, since int64) (int, error)
	// MissingItems returns up to limit items that were not listed in a look.
	MissingItems(ctx context.Context, id string, look int64, limit int) ([]Item, error)
	// ForgetItem removes an item.
	ForgetItem(ctx context.Context, id, owner, key string) error
	CountItems(ctx context.Context, id string) (Counts, error)
	// Items returns up to limit items of a user's place behind a key, by key; refused alone if that is asked for.
	Items(ctx context.Context, user, id string, refused bool, after string, limit int) ([]Item, error)
}

// MaxBatch is how many items SeeItems takes at once.
const MaxBatch = 100
