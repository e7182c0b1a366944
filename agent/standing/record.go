package standing

import (
	"context"
	"time"

	"github.com/footnote/footnote/agent/standing/compare"
	"github.com/footnote/footnote/chat"
)

// followRun waits for a run, and compares its answer with the one before.
func (k *Keeper) followRun(ctx context.Context, kept chat.Standing) error {
	run, err := k.cfg.Store.Run(ctx, scope(kept), kept.Asking)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return k.fail(ctx, kept, &chat.Error{
			Code: chat.CodeNotFound, Message: "The conversation of this question was deleted while it was asked again.",
		})
	case err != nil:
		return err
	case run.Status == chat.RunRunning:
		return k.later(ctx, kept, time.Now().Add(pollTime))
	}
	log, err := chat.ReadTranscript(ctx, k.cfg.Store, scope(kept), run.ID)
	if err != nil {
		return err
	}
	if run.Status != chat.RunCompleted || log.Answer == nil {
		return k.fail(ctx, kept, log.Failure())
	}
	return k.record(ctx, kept, *log.Answer)
}

// record stores what an answer says differently than the one before, and what it rests on. The comparison is made
// before the change, as it reads documents; the change itself checks that the run is still the one that was followed.
// Quotes of the answer before whose words still stand are kept in the new basis, so that a sentence which the new
// answer does not cite is watched on.
func (k *Keeper) record(ctx context.Context, kept chat.Standing, answer chat.Answer) error {
	basis, err := k.basisOf(ctx, kept, kept.Asking, answer)
	if err != nil {
		return err
	}
	// Whether all documents could be read is asked before anything is stored.
	library, failed := k.library(ctx, kept)
	var differences []chat.Difference
	if kept.Basis.RunID != "" { // else this is its first answer
		differences = compare.Differences(kept.Basis, basis, library)
	}
	// What the new answer does not cite, and still stands, is watched on.
	for _, cite := range compare.Standing(kept.Basis, library) {
		if len(basis.Citations) < chat.MaxKeptQuotes && !cites(basis, cite) {
			basis.Citations = append(basis.Citations, cite)
		}
		if err := k.addDocument(ctx, kept, &basis, cite.DocumentID, cite.Title, ""); err != nil {
			return err
		}
	}
	if err := failed(); err != nil {
		return err
	}
	more := max(0, len(differences)-chat.MaxDifferences)
	return k.change(ctx, kept, func(s *chat.Standing) {
		if s.Asking != kept.Asking {
			return // another server was faster
		}
		if len(differences) > 0 {
			change := chat.Change{
				ID: chat.NewID(), At: now(), RunID: kept.Asking, BeforeRunID: kept.Basis.RunID,
				Differences: differences[:len(differences)-more], More: more,
			}
			s.Changes = append([]chat.Change{change}, s.Changes...)
			s.Changes = s.Changes[:min(len(s.Changes), chat.MaxChanges)]
		}
		s.Basis, s.AskedAt, s.Noticed, s.DueAt = basis, now(), time.Time{}, time.Time{}
		s.Request.Sibling, s.Asking, s.Wanted, s.Failed, s.Trouble = kept.Asking, "", false, 0, ""
		s.Turn++
		if s.RunID == "" {
			s.RunID = kept.Asking
		}
	})
}

func cites(b chat.Basis, cite chat.Citation) bool {
	for _, c := range b.Citations {
		if c.DocumentID == cite.DocumentID && c.Quote == cite.Quote {
			return true
		}
	}
	return false
}

// library reads documents for a comparison, each as it is now. failed is why one could not be read. A document that
// could not be read must not be taken for one that is gone: ask failed before the differences are used.
func (k *Keeper) library(ctx context.Context, kept chat.Standing) (library compare.Library, failed func() error) {
	var trouble error
	library = func(id string) (d compare.Document, ok bool) {
		found, err := k.cfg.Library.Document(ctx, scope(kept), id)
		if err == nil {
			d.Text, err = k.text(ctx, kept, id)
			d.SHA256, d.Fresh = found.SHA256, found.UpdatedAt.After(kept.Basis.At)
			return d, err == nil
		}
		if chat.CodeOf(err) != chat.CodeNotFound {
			trouble = err
		}
		return d, false
	}
	return library, func() error { return trouble }
}
