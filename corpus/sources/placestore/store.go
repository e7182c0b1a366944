// Package placestore defines the store of places and their items. It does not store secrets.
//
// Its input is the owner's settings and the results of syncs. Its output is the queue of due places, and wanted and
// missing items. Each sync has a number, and each item the number of the last sync that listed it, so missing items
// have a lower number. sql/store implements the port for both databases; storetest is its contract test.
package placestore

import (
	"context"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Schedule is the interval of automatic syncs of a place.
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

// Every returns the delay after a successful sync; 0 means on request only. It excludes the duration of the sync
// itself.
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

// Setup is the owner's configuration of a place. It is encoded as JSON, so fields are only added. A change creates a
// new Revision. Secrets has the names of the fields whose values are stored elsewhere.
type Setup struct {
	Kind      string            `json:"kind"`
	Name      string            `json:"name"` // the folder of its documents in the library; unique per user
	Namespace string            `json:"namespace"`
	Settings  map[string]string `json:"settings"`          // without secrets
	Secrets   []string          `json:"secrets,omitempty"` // the fields that have one
	SecretsAt string            `json:"secrets_at,omitempty"`
	Schedule  Schedule          `json:"schedule"`
	Paused    bool              `json:"paused,omitempty"`
	Removing  Removal           `json:"removing,omitempty"`
	// Local is set if the local user entered the settings, at a server without other users. Only then may the place
	// reach the machine's own networks. It is false for places of versions that did not store it.
	Local bool `json:"local,omitempty"`
}

// Removal is the state of a removal, and what happens to the place's documents.
type Removal string

// The removals.
const (
	NotRemoved    Removal = ""
	KeepDocuments Removal = "keep"
	DropDocuments Removal = "delete"
)

// Progress is the state of a place's syncs. The holder of the lease writes it.
type Progress struct {
	LookedAt  time.Time      `json:"looked_at"`         // when the last sync ended; zero: never
	SuccessAt time.Time      `json:"success_at"`        // when the last complete sync ended
	Failure   *Failure       `json:"failure,omitempty"` // of the last sync
	Failures  int            `json:"failures"`          // consecutive failed syncs
	Going     bool           `json:"going,omitempty"`   // the last sync was interrupted: the report continues
	Cuts      int            `json:"cuts,omitempty"`    // consecutive time slices that ended before the sync did
	Note      locale.Message `json:"note,omitempty"`    // a message about the last sync that is no failure
	Counts    Counts         `json:"counts"`
	Report    Report         `json:"report"`
	Seen      string         `json:"seen,omitempty"` // the place's state at the last complete sync
}

// Failure is the error of a sync or an item: a code of chat.Error and its message.
type Failure struct {
	Code    chat.Code      `json:"code"`
	Message locale.Message `json:"message"`
}

// Counts counts a place's items.
type Counts struct {
	Items   int `json:"items"`
	Refused int `json:"refused"`
	Waiting int `json:"waiting"` // to be fetched
}

// Report counts the changes of the last sync in the library.
type Report struct {
	Added     int       `json:"added"`
	Changed   int       `json:"changed"`
	Removed   int       `json:"removed"`
	Documents []Touched `json:"documents,omitempty"` // the first MaxTouched of them
}

// MaxTouched is the maximum number of documents in a report.
const MaxTouched = 100

// Touched is a document that a sync added, changed or removed.
type Touched struct {
	Document string `json:"document_id"`
	Name     string `json:"name"`
	What     string `json:"what"` // added, changed, removed
}

// Place is a place that is followed.
type Place struct {
	ID        string
	User      string
	Revision  int64 // changes with each update
	Looks     int64 // started syncs
	CreatedAt time.Time
	NextAt    time.Time // the next sync; zero: none is scheduled
	Looking   bool      // a server holds the lease
	Deaths    int       // processes that died while they synchronised it; see MaxDeaths
	Setup
	Progress
}

// MaxDeaths is the number of processes that may die while they synchronise a place. After that the place is paused
// until its owner changes it or requests a synchronisation. After fewer deaths it is synchronised while its process
// works on no other place.
const MaxDeaths = 2

// PausedByDeaths reports whether the place is paused because of its deaths.
func (p Place) PausedByDeaths() bool { return p.Deaths >= MaxDeaths && p.Removing == NotRemoved }

// Trouble returns the failure that the owner reads: the pause after MaxDeaths, else the failure of the last sync.
func (p Place) Trouble() *Failure {
	if !p.PausedByDeaths() {
		return p.Failure
	}
	return &Failure{
		Code: chat.CodeInternal,
		Message: "The server was terminated twice while syncing this source, so the source is paused. Resume it to " +
			"try again, or remove it.",
	}
}

// State returns the place's state as a word. The most important one for the owner takes precedence.
func (p Place) State() string {
	switch {
	case p.Removing != NotRemoved:
		return "removing"
	case p.Looking:
		return "looking"
	case p.Paused, p.PausedByDeaths():
		return "paused"
	case p.Failure != nil:
		return "failed"
	case p.LookedAt.IsZero() || !p.NextAt.IsZero() && p.NextAt.Before(time.Now()):
		return "waiting"
	}
	return "idle"
}

// Item is an item of a place. The store has its further state: wanted, postponed, and the number of its last sync.
type Item struct {
	Key      string
	Version  string // the settled version; empty: the item is fetched whenever it is listed
	Document string // empty: none
	Name     string
	Link     string
	Refusal  *Failure
	Listed   []byte // encoded listing, for the worker that fetches the item
}

// Listed is an item in the list of a sync.
type Listed struct {
	Key, Version, Name, Link string
	Body                     []byte
}

// Lease is a server's right to work on a place until it expires. It is a duration instead of a time, since only the
// database's clock counts.
type Lease struct {
	Owner string
	For   time.Duration
}

// ErrLost is returned when the lease expired, another server has it, or the place was removed.
var ErrLost = errors.New("the lease of the source was lost")

// Never schedules no sync.
const Never time.Duration = -1

// Store stores places. storetest.Test is its contract test. It is safe for concurrent use, and each write is one
// transaction. Methods with an owner return ErrLost unless that owner's lease is valid. For another user's place, or
// one that is being removed, methods with a user return chat.CodeNotFound.
type Store interface {
	// CreatePlace stores a place that is due at once. The caller chooses its ID. It returns chat.CodeConflict if the
	// user has a place with this name, and chat.CodeTooMany beyond MaxPlaces.
	CreatePlace(ctx context.Context, id, user string, setup Setup) (Place, error)
	Place(ctx context.Context, user, id string) (Place, error)
	// Places returns the places of a user ordered by name, those being removed last.
	Places(ctx context.Context, user string) ([]Place, error)
	// UpdatePlace changes the setup of a place with this revision, else it returns chat.CodeConflict. The next sync
	// is due after a duration, or Never. A negative duration other than Never leaves the due time unchanged. Deaths
	// become 0.
	UpdatePlace(ctx context.Context, user, id string, revision int64, setup Setup, due time.Duration) (Place, error)

	// DuePlaces returns up to limit due places without a lease: the oldest of each user, then the second of each
	// user, and so on. So one user's places never fill the limit alone.
	DuePlaces(ctx context.Context, limit int) ([]Place, error)
	// LeasePlace leases a due place; ok is false if it is not due or another server has it.
	LeasePlace(ctx context.Context, id string, lease Lease) (p Place, ok bool, err error)
	// RenewPlace renews a lease and stores progress unless it is nil. It returns the place's revision: a changed one
	// means that the worker has to stop.
	RenewPlace(ctx context.Context, id string, lease Lease, progress *Progress) (revision int64, err error)
	// ReleasePlace stores progress and releases the lease. If the place has another revision, its due time from
	// UpdatePlace stays. Deaths become 0 unless progress is of a sync that continues.
	ReleasePlace(ctx context.Context, id, owner string, revision int64, progress Progress, due time.Duration) error
	// DropPlace deletes a place and its items.
	DropPlace(ctx context.Context, id, owner string) error
	// CountDeaths ends each expired lease and counts a death for its place. A place with MaxDeaths is no longer due.
	// all includes valid leases, when no other process has the database open.
	CountDeaths(ctx context.Context, all bool) error
	// PlaceExists reports whether any user has the place.
	PlaceExists(ctx context.Context, id string) (bool, error)

	// BeginSync starts a sync and returns its number.
	BeginSync(ctx context.Context, id, owner string) (look int64, err error)
	// RecordItems records up to MaxBatch items as listed in a sync. New items, and items with an empty version or one
	// that differs from the settled version, are wanted.
	RecordItems(ctx context.Context, id, owner string, look int64, items []Listed) error
	// WantedItems returns up to limit items that are wanted, were listed in the sync, and were not postponed in it.
	// Those that were postponed in earlier syncs are last.
	WantedItems(ctx context.Context, id string, look int64, limit int) ([]Item, error)
	// SettleItem stores the result of an item, which is then no longer wanted. Listed stays.
	SettleItem(ctx context.Context, id, owner string, item Item) error
	// PostponeItem postpones an item to a later sync.
	PostponeItem(ctx context.Context, id, owner string, look int64, key string) error
	// UnsettleItems marks other items that share a document as wanted in this sync or the next, and removes their
	// reference to it.
	UnsettleItems(ctx context.Context, id, owner, document, except string) error
	// SharedItems counts the other items of the place that have a document and were listed in a sync or a later one.
	SharedItems(ctx context.Context, id, document, except string, since int64) (int, error)
	// MissingItems returns up to limit items that were not listed in a sync.
	MissingItems(ctx context.Context, id string, look int64, limit int) ([]Item, error)
	// ForgetItem deletes an item.
	ForgetItem(ctx context.Context, id, owner, key string) error
	CountItems(ctx context.Context, id string) (Counts, error)
	// Items returns up to limit items of a user's place after a key, ordered by key; optionally only refused ones.
	Items(ctx context.Context, user, id string, refused bool, after string, limit int) ([]Item, error)
}

// MaxBatch is the maximum number of items in a call of RecordItems.
const MaxBatch = 100
