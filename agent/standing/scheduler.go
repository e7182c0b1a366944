// Package standing asks kept questions again. A Scheduler stores a question with the basis of its answer and detects
// changes of the basis (look). It then starts a new run of the question (startIfQuiet) and stores the differences of
// the new answer (record). Run is its loop. Several servers may share a store, which leases each due question to one
// of them. Each step is stored before the next and is idempotent.
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

// Timings and limits of kept questions.
const (
	claimTime  = time.Minute     // length of a claim: after it another server takes over
	atOnce     = 4               // questions processed concurrently, each of another user
	pollTime   = 2 * time.Second // polling interval for an active run
	giveWay    = 5 * time.Second // delay of a retry while the user has active runs
	quietMost  = 2 * time.Minute // maximum wait for further changes
	perHour    = 6               // maximum runs of a question in an hour
	firstWait  = time.Minute     // backoff after a failure, doubled after each further one
	longestWay = 6 * time.Hour   // maximum backoff
	maxRested  = 30              // maximum documents in a basis
	maxLines   = 12_000          // maximum stored sentences of a basis
	topHits    = 8               // search results that are watched
	maxText    = 4 << 20         // maximum bytes of a document whose sentences are stored
)

// Runs starts runs. agent.Runs implements it.
type Runs interface {
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
}

// Config holds the dependencies of a Scheduler. Zero times take their defaults.
type Config struct {
	Store   chat.Store
	Library *corpus.Library
	Runs    Runs
	Log     *slog.Logger
	Every   time.Duration // polling interval for due questions; 0: 2 s
	Quiet   time.Duration // wait after a change for further changes; 0: 10 s
}

// Scheduler stores questions and asks them again. It is safe for concurrent use. All state is in the store, so several
// Schedulers may share one.
type Scheduler struct {
	cfg  Config
	loop fair.Loop[chat.Standing]
}

// New returns a Scheduler. No work starts until Run is called.
func New(cfg Config) *Scheduler {
	cfg.Every, cfg.Quiet = cmp.Or(cfg.Every, 2*time.Second), cmp.Or(cfg.Quiet, 10*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	k := &Scheduler{cfg: cfg}
	k.loop = fair.Loop[chat.Standing]{
		Slots: fair.NewSlots(atOnce, 1), Every: cfg.Every,
		Due: func(ctx context.Context) ([]string, error) { return cfg.Store.DueStanding(ctx, time.Now()) },
		Claim: func(ctx context.Context, user string) (chat.Standing, bool, error) {
			now := time.Now()
			return cfg.Store.ClaimStanding(ctx, user, now, now.Add(claimTime))
		},
		Do: func(ctx context.Context, kept chat.Standing) error {
			if err := k.step(ctx, kept); err != nil {
				return fmt.Errorf("check the monitored question %s: %w", kept.ID, err)
			}
			return nil
		},
		Failed: func(ctx context.Context, err error) {
			cfg.Log.WarnContext(ctx, "could not check a monitored question", "error", err)
		},
	}
	return k
}

// Run processes due questions until ctx is cancelled. A failure is logged and retried after the claim expires. A
// claim expires after claimTime, so a crashed server needs no cleanup. Users take turns, and a user's questions are
// processed one at a time.
func (k *Scheduler) Run(ctx context.Context) { k.loop.Run(ctx) }

// step takes the next step of a question. An active run has priority, then a requested run or a detected change,
// then a check for changes.
func (k *Scheduler) step(ctx context.Context, kept chat.Standing) error {
	switch {
	case kept.Asking != "":
		return k.followRun(ctx, kept)
	case kept.Wanted, !kept.Noticed.IsZero():
		return k.startIfQuiet(ctx, kept)
	default:
		return k.compareLibrary(ctx, kept)
	}
}

// scope returns the scope of a question's documents.
func scope(kept chat.Standing) chat.Scope { return chat.Scope{User: kept.User} }

// change stores a new state of a question, unless the question was deleted meanwhile. If its user requested a run in
// between, it stays due.
func (k *Scheduler) change(ctx context.Context, kept chat.Standing, change func(*chat.Standing)) error {
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

// schedule schedules the next step; zero: when the library changes.
func (k *Scheduler) schedule(ctx context.Context, kept chat.Standing, at time.Time) error {
	return k.change(ctx, kept, func(s *chat.Standing) { s.DueAt = at })
}

// startIfQuiet starts a run once the documents have not changed for a while and the user has no active run. The order
// matters: first the quiet time and whether there is still a difference, neither for a requested run. Then come the
// hourly limit and the user's own runs, which have priority. Each branch stores the time of the next check, so no
// state is in memory.
func (k *Scheduler) startIfQuiet(ctx context.Context, kept chat.Standing) error {
	version, err := k.cfg.Library.Version(ctx, scope(kept))
	if err != nil {
		return err
	}
	// A requested run needs no check for changes.
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
			return k.schedule(ctx, kept, time.Now().Add(pollTime))
		case !different && !busy: // a deleted document was restored
			return k.change(ctx, kept, func(s *chat.Standing) {
				s.Noticed, s.Version, s.DueAt = time.Time{}, version, time.Time{}
			})
		}
	}
	if until := nextHour(kept.Recent); !until.IsZero() {
		return k.schedule(ctx, kept, until)
	}
	if busy, err := k.cfg.Store.HasRuns(ctx, scope(kept)); err != nil || busy {
		return errors.Join(err, k.schedule(ctx, kept, time.Now().Add(giveWay)))
	}
	return k.startRun(ctx, kept, version)
}

// nextHour returns the time at which the hourly limit allows the next run; zero: now.
func nextHour(recent []time.Time) time.Time {
	if len(recent) < perHour {
		return time.Time{}
	}
	if until := recent[len(recent)-perHour].Add(time.Hour); until.After(time.Now()) {
		return until
	}
	return time.Time{}
}

// startRun starts the run. Its idempotency key has the question and its turn, so each turn starts one run, whichever
// server does it and however often. A run from before a crash is found by this key. The run is a sibling of the
// previous one, so that earlier answers are not in its history.
func (k *Scheduler) startRun(ctx context.Context, kept chat.Standing, version int64) error {
	req := kept.Request
	req.IdempotencyKey = "kept-" + kept.ID + "-" + strconv.Itoa(kept.Turn)
	run, _, err := k.cfg.Runs.Start(ctx, kept.User, req)
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		return k.schedule(ctx, kept, time.Now().Add(over.Wait))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound && req.Sibling != "":
		// its session was deleted: a new one is used
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

// sessionOf returns the id of a session for a question's runs.
func sessionOf(id string, turn int) string { return "kept-" + id + "-" + strconv.Itoa(turn) }

// fail schedules a retry with backoff. The turn is incremented, so that the retry is another run. A detected change
// stays recorded.
func (k *Scheduler) fail(ctx context.Context, kept chat.Standing, err error) error {
	k.cfg.Log.WarnContext(ctx, "could not rerun a monitored question", "question", kept.ID, "error", err)
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

// wait returns the backoff after a number of earlier failures. The shift is limited to avoid an overflow.
func wait(before int) time.Duration {
	return min(firstWait<<min(before, 10), longestWay)
}

// compareLibrary compares the documents of the basis and the search results with the current library, whose version has
// changed since the last check. A difference delays the question by Config.Quiet, since documents are often added
// together.
func (k *Scheduler) compareLibrary(ctx context.Context, kept chat.Standing) error {
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

// now returns the time in the store's precision. PostgreSQL stores microseconds, so a finer time would differ after
// it is read back.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// isDifferent reports whether a document of the basis changed or was deleted, or whether the search returns new
// passages. busy reports that a document is being processed, so that the check has to wait. A document whose new
// version failed counts as unchanged, since its old text remains. A passage is new only if its document is newer
// than the answer, since a change of ranking may return others.
func (k *Scheduler) isDifferent(ctx context.Context, kept chat.Standing) (different, busy bool, err error) {
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
	// The search runs only if no document of the basis has changed.
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

// search returns the current best passages for a question. It is the ordinary search; queries of the model are not
// known here.
func (k *Scheduler) search(ctx context.Context, kept chat.Standing) ([]corpus.Result, error) {
	found, err := k.cfg.Library.Search(ctx, scope(kept).In(kept.Request.Namespace), corpus.Query{
		Text: kept.Request.Message, Limit: topHits, Documents: kept.Request.DocumentIDs,
	})
	return found.Results, err
}
