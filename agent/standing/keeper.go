// Package standing asks kept questions again. A Keeper keeps a question with what its answer rests on, notices when
// that is different (look), has the question asked again as a run (ask), and stores what the new answer says
// differently (record). Run is its loop; several servers may share a store, which gives what is due to one of them.
// Each step of it is stored before the next, and the same step taken twice comes to the same.
package standing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
)

// Times and bounds of the work on kept questions.
const (
	claimTime  = time.Minute     // a server that died has its work done by others after that
	atOnce     = 4               // questions looked after at a time, each of another user
	pollTime   = 2 * time.Second // between two looks at a run under way
	giveWay    = 5 * time.Second // until the next try while the user's own runs are under way
	quietMost  = 2 * time.Minute // changes that go on are waited for no longer
	perHour    = 6               // askings of one question in an hour
	firstWait  = time.Minute     // after a failure; twice as long after each further one
	longestWay = 6 * time.Hour   // at most
	maxRested  = 30              // documents that an answer is known to rest on
	maxLines   = 12_000          // sentences of all of them that are remembered
	topHits    = 8               // passages of a search that are watched
	maxText    = 4 << 20         // bytes of a document whose sentences are remembered
)

// Runs starts runs. agent.Runs is the one that serves.
type Runs interface {
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
}

// Config wires a Keeper. Zero times take their defaults.
type Config struct {
	Store   chat.Store
	Library *corpus.Library
	Runs    Runs
	Log     *slog.Logger
	Every   time.Duration // between two looks for what is due; 0: 2 s
	Quiet   time.Duration // after a change, for more to come; 0: 10 s
}

// Keeper keeps questions and asks them again. It is safe for concurrent use. All state is in the store; two Keepers
// over one store do no harm to each other.
type Keeper struct {
	cfg  Config
	loop fair.Loop[chat.Standing]
}

// New makes a Keeper. Nothing is asked until Run.
func New(cfg Config) *Keeper {
	cfg.Every, cfg.Quiet = cmp.Or(cfg.Every, 2*time.Second), cmp.Or(cfg.Quiet, 10*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{cfg: cfg}
	k.loop = fair.Loop[chat.Standing]{
		Slots: fair.NewSlots(atOnce, 1), Every: cfg.Every,
		Due: func(ctx context.Context) ([]string, error) { return cfg.Store.DueStanding(ctx, time.Now()) },
		Claim: func(ctx context.Context, user string) (chat.Standing, bool, error) {
			now := time.Now()
			return cfg.Store.ClaimStanding(ctx, user, now, now.Add(claimTime))
		},
		Do: func(ctx context.Context, kept chat.Standing) error {
			if err := k.step(ctx, kept); err != nil {
				return fmt.Errorf("look after the kept question %s: %w", kept.ID, err)
			}
			return nil
		},
		Failed: func(ctx context.Context, err error) {
			cfg.Log.WarnContext(ctx, "kept question could not be looked after", "error", err)
		},
	}
	return k
}

// Run does what is due until ctx ends. A failure is logged and tried again when the claim has ended. A claim holds for
// claimTime and ends by itself, so a server that dies needs no one to clean up after it. Users take turns, and one
// user's questions are looked after one at a time.
func (k *Keeper) Run(ctx context.Context) { k.loop.Run(ctx) }

// step does the next thing for a question. A run under way comes before all else; then what is wanted or was noticed;
// else it is only looked.
func (k *Keeper) step(ctx context.Context, kept chat.Standing) error {
	switch {
	case kept.Asking != "":
		return k.followRun(ctx, kept)
	case kept.Wanted, !kept.Noticed.IsZero():
		return k.askIfQuiet(ctx, kept)
	default:
		return k.look(ctx, kept)
	}
}

// scope is whose documents a question is about.
func scope(kept chat.Standing) chat.Scope { return chat.Scope{User: kept.User} }

// change stores what became of a question, unless it was removed meanwhile. One that its user wants asked since it was
// read stays due.
func (k *Keeper) change(ctx context.Context, kept chat.Standing, change func(*chat.Standing)) error {
	_, err := k.cfg.Store.ChangeStanding(ctx, scope(kept), kept.ID, func(s *chat.Standing) error {
		change(s)
		if s.Wanted && s.Asking == "" && s.DueAt.IsZero() {
			s.DueAt = time.Now()
		}
		return nil
	})
	if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
		return nil
	}
	return err
}

// later has the next step taken at a time; zero: when the library has another version.
func (k *Keeper) later(ctx context.Context, kept chat.Standing, at time.Time) error {
	return k.change(ctx, kept, func(s *chat.Standing) { s.DueAt = at })
}
