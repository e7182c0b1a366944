// Package standing asks kept questions again. A Keeper keeps a question with what its answer rests on, notices when
// that is different (look), has the question asked again as a run (ask), and stores what the new answer says
// differently (record). Run is its loop; several servers may share a store, which gives what is due to one of them.
// Each step of it is stored before the next, and the same step taken twice comes to the same.
package standing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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

// askIfQuiet asks a question again, once its documents have not changed for a while, and when nothing of its user's own
// is under way. The order matters: first whether the documents are quiet (not for a question that its user wants asked
// now), then whether there is still a difference, then the limit of an hour, then the user's own runs, which come
// first. Each branch stores when to look next, so no state is in memory.
func (k *Keeper) askIfQuiet(ctx context.Context, kept chat.Standing) error {
	version, err := k.cfg.Library.Version(ctx, scope(kept))
	if err != nil {
		return err
	}
	// A question that its user wants asked now is not asked first whether anything changed.
	if !kept.Wanted {
		patient := time.Since(kept.Noticed) < quietMost
		if version != kept.Version && patient {
			return k.change(ctx, kept, func(s *chat.Standing) {
				s.Version, s.DueAt = version, time.Now().Add(k.cfg.Quiet)
			})
		}
		different, busy, err := k.isDifferent(ctx, kept)
		switch {
		case err != nil:
			return err
		case busy && patient:
			return k.later(ctx, kept, time.Now().Add(pollTime))
		case !different && !busy: // a document that was deleted came back
			return k.change(ctx, kept, func(s *chat.Standing) {
				s.Noticed, s.Version, s.DueAt = time.Time{}, version, time.Time{}
			})
		}
	}
	if until := nextHour(kept.Recent); !until.IsZero() {
		return k.later(ctx, kept, until)
	}
	if busy, err := k.cfg.Store.HasRuns(ctx, scope(kept)); err != nil || busy {
		return errors.Join(err, k.later(ctx, kept, time.Now().Add(giveWay)))
	}
	return k.start(ctx, kept, version)
}

// nextHour is when a question may be asked again that was asked at these times; zero: now.
func nextHour(recent []time.Time) time.Time {
	if len(recent) < perHour {
		return time.Time{}
	}
	if until := recent[len(recent)-perHour].Add(time.Hour); until.After(time.Now()) {
		return until
	}
	return time.Time{}
}

// start starts the run. One that was started before a server died is found by its key. The key is made of the question
// and of its count, so one count starts one run, whichever server does it and however often. The run is a sibling of
// the one before: earlier answers are no history that would shape the new one.
func (k *Keeper) start(ctx context.Context, kept chat.Standing, version int64) error {
	req := kept.Request
	req.IdempotencyKey = "kept-" + kept.ID + "-" + strconv.Itoa(kept.Turn)
	run, _, err := k.cfg.Runs.Start(ctx, kept.User, req)
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		return k.later(ctx, kept, time.Now().Add(over.Wait))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound && req.Sibling != "":
		// its conversation was deleted: it goes on in another
		return k.change(ctx, kept, func(s *chat.Standing) {
			s.Turn++
			s.Request.Sibling, s.Request.SessionID = "", sessionOf(s.ID, s.Turn)
			s.DueAt = time.Now()
		})
	case err != nil:
		return k.fail(ctx, kept, err)
	}
	return k.change(ctx, kept, func(s *chat.Standing) {
		s.Asking, s.Version, s.DueAt = run.ID, version, time.Now().Add(pollTime/2)
		s.Recent = append(s.Recent, now())
		s.Recent = s.Recent[max(0, len(s.Recent)-perHour):]
	})
}

// sessionOf names the conversation that holds a question's runs.
func sessionOf(id string, turn int) string { return "kept-" + id + "-" + strconv.Itoa(turn) }

// fail has a question asked again after a while, longer each time. The count goes on, so that the next try is another
// run. What was noticed stays noticed.
func (k *Keeper) fail(ctx context.Context, kept chat.Standing, err error) error {
	k.cfg.Log.WarnContext(ctx, "kept question could not be asked again", "question", kept.ID, "error", err)
	return k.change(ctx, kept, func(s *chat.Standing) {
		s.Trouble, s.DueAt = chat.MessageOf(err), time.Now().Add(wait(s.Failed))
		s.Failed, s.Wanted = s.Failed+1, false
		s.Turn++
		if s.Noticed.IsZero() {
			s.Noticed = now()
		}
		if s.Asking != "" {
			s.Request.Sibling, s.Asking = s.Asking, ""
		}
	})
}

// wait is how long to wait after a failure that others came before. The shift is bounded, so that it can't overflow.
func wait(before int) time.Duration {
	return min(firstWait<<min(before, 10), longestWay)
}

// look compares the documents that an answer rests on, and what a search finds, with what was there. The library has
// another version than when it was last looked at. A difference makes the question wait for Config.Quiet, since
// documents seldom come alone.
func (k *Keeper) look(ctx context.Context, kept chat.Standing) error {
	version, err := k.cfg.Library.Version(ctx, scope(kept))
	if err != nil {
		return err
	}
	different, busy, err := k.isDifferent(ctx, kept)
	if err != nil {
		return err
	}
	return k.change(ctx, kept, func(s *chat.Standing) {
		switch {
		case different:
			s.Noticed, s.Version, s.DueAt = now(), version, time.Now().Add(k.cfg.Quiet)
		case busy:
			s.DueAt = time.Now().Add(pollTime)
		default:
			s.Version, s.DueAt = version, time.Time{}
		}
	})
}

// now is the time as stores keep it. PostgreSQL keeps microseconds: a finer time would differ from itself after it was
// read back.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// isDifferent reports whether a document that the answer rests on has another version, is gone, or passages that are
// new came among the best for the question. busy: a document is being read, so that it is too early to say. A document
// whose new version failed counts as unchanged, as its old text is still there. A passage is new only if its document
// is newer than the answer: others may have moved among the best by a change of ranking.
func (k *Keeper) isDifferent(ctx context.Context, kept chat.Standing) (different, busy bool, err error) {
	for _, known := range kept.Basis.Documents {
		d, err := k.cfg.Library.Document(ctx, scope(kept), known.ID)
		switch {
		case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
			different = true
		case err != nil:
			return false, false, err
		case d.SHA256 == known.SHA256 || d.State == corpus.StateFailed || d.State == corpus.StateCancelled:
		case d.State == corpus.StateReady:
			different = true
		default:
			busy = true
		}
	}
	if different || busy {
		return different && !busy, busy, nil
	}
	// Passages are looked for only when no document has changed by itself.
	hits, err := k.search(ctx, kept)
	if err != nil {
		return false, false, err
	}
	known := map[uint64]bool{}
	for _, hash := range kept.Basis.Passages {
		known[hash] = true
	}
	for _, hit := range hits {
		if !known[passageHash(hit)] && hit.Document.UpdatedAt.After(kept.Basis.At) {
			return true, false, nil
		}
	}
	return false, false, nil
}

// search finds the best passages for a question, as they are now. It is the search that anybody may do; a model's own
// queries are not known here.
func (k *Keeper) search(ctx context.Context, kept chat.Standing) ([]corpus.Result, error) {
	found, err := k.cfg.Library.Search(ctx, scope(kept).In(kept.Request.Namespace), corpus.Query{
		Text: kept.Request.Message, Limit: topHits, Documents: kept.Request.DocumentIDs,
	})
	return found.Results, err
}
