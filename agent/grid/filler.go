// Package grid fills tables over many documents. A Filler claims due grids and asks each waiting cell's question as
// a run over the cell's document. So each cell has an answer with checked quotes, and a log. Run is its loop.
// Several servers may share a store, which leases each due grid to one of them. The idempotency key of a cell's run
// is derived from the cell. So a server that takes over finds the started run, and no cell is asked twice.
package grid

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
)

// Timings and limits of filling.
const (
	claimTime   = 8 * time.Second  // length of a claim: unless renewed, another server fills the grid after it
	sliceTime   = 2 * time.Second  // time slice in which cells of a grid are started before the next grid has its turn
	runTime     = 20 * time.Second // maximum wait of a slice for its runs
	gridsAtOnce = 16               // concurrent grids of all users on one server
	gridsOfUser = 4                // concurrent grids of one user
	cellsAtOnce = 2                // concurrent cells of one grid
	giveWay     = 2 * time.Second  // delay of a retry while the user has active runs
	firstLook   = 10 * time.Millisecond
	longestLook = 500 * time.Millisecond // maximum polling interval for an active run
	firstWait   = 10 * time.Second       // backoff after an error of the server, doubled after each further one
	longestWait = 30 * time.Minute       // maximum backoff
	maxFailures = 5                      // consecutive failed cells after which the grid stops
	maxQuotes   = 3                      // citations that are stored with a cell
	maxText     = 600                    // maximum runes of an answer in a cell
)

// Runs starts runs. agent.Runs implements it.
type Runs interface {
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
}

// Config holds the dependencies of a Filler. Zero times take their defaults.
type Config struct {
	Store   chat.Store
	Library *corpus.Library
	Runs    Runs
	Log     *slog.Logger
	Every   time.Duration // polling interval for due grids; 0: 2 s
	Alone   bool          // no other process uses the store: claims of a previous process expire when Run starts
}

// Filler creates and fills grids. It is safe for concurrent use. Its durable state is in the store.
type Filler struct {
	cfg   Config
	loop  fair.Loop[chat.Grid]
	begun sync.Map // ids of active runs that this process started
}

// New returns a Filler. No work starts until Run is called.
func New(cfg Config) *Filler {
	cfg.Every = cmp.Or(cfg.Every, 2*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	f := &Filler{cfg: cfg}
	f.loop = fair.Loop[chat.Grid]{
		Slots: fair.NewSlots(gridsAtOnce, gridsOfUser), Every: cfg.Every,
		Due: func(ctx context.Context) ([]string, error) { return cfg.Store.DueGrids(ctx, time.Now()) },
		Claim: func(ctx context.Context, user string) (chat.Grid, bool, error) {
			now := time.Now()
			return cfg.Store.ClaimGrid(ctx, user, now, now.Add(claimTime))
		},
		Do: func(ctx context.Context, g chat.Grid) error {
			if err := f.fill(ctx, g); err != nil {
				return fmt.Errorf("fill the table %s: %w", g.ID, err)
			}
			return nil
		},
		Failed: func(ctx context.Context, err error) {
			cfg.Log.WarnContext(ctx, "could not fill the table", "error", err)
		},
	}
	return f
}

// Run fills due grids until ctx is cancelled.
func (f *Filler) Run(ctx context.Context) {
	if f.cfg.Alone {
		if err := f.cfg.Store.FreeGrids(ctx, time.Now(), claimTime); err != nil && ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "could not resume tables of an earlier process", "error", err)
		}
	}
	f.loop.Run(ctx)
}

// scope returns the scope of a grid's documents.
func scope(g chat.Grid) chat.Scope { return chat.Scope{User: g.User} }

// change stores a new state of a grid. If the grid was removed meanwhile, it returns the zero Grid, whose state
// stops all work.
func (f *Filler) change(ctx context.Context, g chat.Grid, change func(*chat.Grid)) (chat.Grid, error) {
	changed, err := f.cfg.Store.ChangeGrid(ctx, scope(g), g.ID, func(g *chat.Grid) error {
		change(g)
		return nil
	})
	if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
		return chat.Grid{}, nil
	}
	return changed, err
}
