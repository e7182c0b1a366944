package standing

import (
	"context"
	"time"

	"github.com/footnote/footnote/agent/standing/compare"
	"github.com/footnote/footnote/chat"
)

// followRun polls a run, and compares its answer with the previous one.
func (k *Scheduler) followRun(ctx context.Context, kept chat.Standing) error {
	run, err := k.cfg.Store.Run(ctx, scope(kept), kept.Asking)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return k.fail(ctx, kept, &chat.Error{
			Code: chat.CodeNotFound, Message: "The conversation was deleted while this question was running.",
		})
	case err != nil:
		return err
	case run.Status == chat.RunRunning:
		return k.schedule(ctx, kept, time.Now().Add(pollTime))
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

// record stores the differences of an answer from the previous one, and its basis. The comparison reads documents,
// so it comes before the stored change, which checks that the run is still the followed one. Earlier quotes that are
// still in their documents are copied to the new basis. So a sentence that the new answer does not cite remains
// watched.
func (k *Scheduler) record(ctx context.Context, kept chat.Standing, answer chat.Answer) error {
	basis, err := k.basisOf(ctx, kept, kept.Asking, answer)
	if err != nil {
		return err
	}
	// Read errors of the library are checked before anything is stored.
	library, failed := k.library(ctx, kept)
	var differences []chat.Difference
	if kept.Basis.RunID != "" { // else this is the first answer
		differences = compare.Differences(kept.Basis, basis, library)
	}
	// Earlier quotes that the new answer does not cite, and that are still valid, remain watched.
	for _, cite := range compare.UnchangedCitations(kept.Basis, library) {
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
			return // another server has recorded it
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

// library returns a function that reads current documents for a comparison. failed returns a read error; check it
// before the differences are used, since a document that can't be read must not count as deleted.
func (k *Scheduler) library(ctx context.Context, kept chat.Standing) (library compare.Library, failed func() error) {
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
