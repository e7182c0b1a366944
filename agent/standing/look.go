package standing

import (
	"context"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

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
