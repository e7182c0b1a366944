// Package grid fills tables over many documents. A Filler takes the grids for which there is something to do, and asks
// each waiting cell's question as a run that reads the cell's document only: so each cell has an answer whose quotes
// were checked, and a log that shows how it was found. Run is its loop; several servers may share a store, which gives
// what is due to one of them for a while. A cell's run has a key that is made of the cell, so that a server that takes
// over finds the run that was begun, and no cell is asked twice.
package grid

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

// Times and bounds of the filling.
const (
	claimTime   = time.Minute      // a server that died has its grids filled by others after that
	sliceTime   = 20 * time.Second // that a grid is filled before others have their turn
	gridsAtOnce = 4                // of all users, by one server
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
}

// Filler makes grids and fills them. It is safe for concurrent use. Like a Keeper of kept questions it has all its
// state in the store.
type Filler struct {
	cfg  Config
	wake chan struct{} // holds one: something is due now
}

// New makes a Filler. Nothing is asked until Run.
func New(cfg Config) *Filler {
	cfg.Every = cmp.Or(cfg.Every, 2*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Filler{cfg: cfg, wake: make(chan struct{}, 1)}
}

// Run fills what is due until ctx ends. While there is work it goes on without waiting for the tick.
func (f *Filler) Run(ctx context.Context) {
	tick := time.NewTicker(f.cfg.Every)
	defer tick.Stop()
	for {
		more, err := f.Work(ctx)
		if err != nil && ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "tables could not be filled", "error", err)
		}
		if more && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-f.wake:
		}
	}
}

// Work fills the grids that are due for one slice each, and reports whether there were any. It returns when the slices
// are over, so a slow grid holds up the other gridsAtOnce-1 for sliceTime at most.
func (f *Filler) Work(ctx context.Context) (some bool, err error) {
	now := time.Now()
	due, err := f.cfg.Store.ClaimGrids(ctx, now, now.Add(claimTime), gridsAtOnce)
	if err != nil {
		return false, err
	}
	var all sync.WaitGroup
	for _, g := range due {
		all.Go(func() {
			if err := f.fill(ctx, g); err != nil && ctx.Err() == nil {
				f.cfg.Log.WarnContext(ctx, "table could not be filled", "table", g.ID, "error", err)
			}
		})
	}
	all.Wait()
	return len(due) > 0, nil
}

// hurry has Run look at once.
func (f *Filler) hurry() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
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
