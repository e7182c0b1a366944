// Package grid fills tables over many documents. A Filler takes the grids for which there is something to do, and asks
// each waiting cell's question as a run that reads the cell's document only: so each cell has an answer whose quotes
// were checked, and a log that shows how it was found. Run is its loop; several servers may share a store, which gives
// what is due to one of them for a while. A cell's run has a key that is made of the cell, so that a server that takes
// over finds the run that was begun, and no cell is asked twice.
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

// Times and bounds of the filling.
const (
	claimTime   = 8 * time.Second  // unless it is renewed, after which another server fills the grid
	sliceTime   = 2 * time.Second  // during which cells of a grid are begun before another grid has its turn
	runTime     = 20 * time.Second // for which a slice waits for the runs that it began
	gridsAtOnce = 16               // of all users, by one server
	gridsOfUser = 4                // of them, of one user
	cellsAtOnce = 2                // of one grid
	giveWay     = 2 * time.Second  // until the next try while the user's own runs are under way
	firstLook   = 10 * time.Millisecond
	longestLook = 500 * time.Millisecond // between two looks at a run under way
	firstWait   = 10 * time.Second       // after a failure of ours; twice as long after each further one
	longestWait = 30 * time.Minute       // at most
	maxFailures = 5                      // cells in a row that can't be answered before the grid stops
	maxQuotes   = 3                      // that a cell keeps
	maxText     = 600                    // runes of an answer that a cell shows
)

// Runs starts runs. agent.Runs is the one that serves.
type Runs interface {
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
}

// Config wires a Filler. Zero times take their defaults.
type Config struct {
	Store   chat.Store
	Library *corpus.Library
	Runs    Runs
	Log     *slog.Logger
	Every   time.Duration // between two looks for what is due; 0: 2 s
	Alone   bool          // no other process uses the store: claims of an earlier one end when Run begins
}

// Filler makes grids and fills them. It is safe for concurrent use. Its durable state is in the store.
type Filler struct {
	cfg   Config
	loop  fair.Loop[chat.Grid]
	begun sync.Map // the ids of runs under way that this process began
}

// New makes a Filler. Nothing is asked until Run.
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
			cfg.Log.WarnContext(ctx, "table could not be filled", "error", err)
		},
	}
	return f
}

// Run fills what is due until ctx ends.
func (f *Filler) Run(ctx context.Context) {
	if f.cfg.Alone {
		if err := f.cfg.Store.FreeGrids(ctx, time.Now(), claimTime); err != nil && ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "tables of an earlier process are filled later", "error", err)
		}
	}
	f.loop.Run(ctx)
}

// scope is whose documents a grid is about.
func scope(g chat.Grid) chat.Scope { return chat.Scope{User: g.User} }

// change stores what became of a grid, unless it was removed meanwhile. A grid that was removed is the zero Grid then,
// whose state is none of those that go on.
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
