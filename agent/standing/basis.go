package standing

import (
	"context"
	"hash/fnv"

	"github.com/footnote/footnote/agent/standing/compare"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// basisOf collects the basis of a run's answer from the current library. Cited documents come before documents that
// were only read, so that maxRested drops the latter. Boxes and matched words are for the page and are not stored.
func (k *Scheduler) basisOf(
	ctx context.Context, kept chat.Standing, runID string, answer chat.Answer,
) (chat.Basis, error) {
	b := chat.Basis{RunID: runID, Answer: answer.Markdown, At: now()}
	for _, cite := range answer.Citations {
		if cite.Quote != "" && len(b.Citations) < chat.MaxKeptQuotes {
			cite.Boxes, cite.Matched = nil, nil
			b.Citations = append(b.Citations, cite)
		}
	}
	for _, cite := range b.Citations {
		if err := k.addDocument(ctx, kept, &b, cite.DocumentID, cite.Title, cite.SHA256); err != nil {
			return b, err
		}
	}
	for _, source := range answer.Sources {
		if err := k.addDocument(ctx, kept, &b, source.DocumentID, source.Title, ""); err != nil {
			return b, err
		}
	}
	hits, err := k.search(ctx, kept)
	for _, hit := range hits {
		b.Passages = append(b.Passages, passageHash(hit))
	}
	return b, err
}

// addDocument adds a document of an answer to its basis. sha256 is the version that was read, empty if unknown. If
// the document has changed since it was cited, the cited hash is kept without sentences. The old text is lost, so
// the next check reports a change. Sentences are stored as hashes, up to maxLines for all documents.
func (k *Scheduler) addDocument(
	ctx context.Context, kept chat.Standing, b *chat.Basis, id, title, sha256 string,
) error {
	if _, known := b.Knows(id); known || len(b.Documents) >= maxRested {
		return nil
	}
	d, err := k.cfg.Library.Document(ctx, scope(kept), id)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		if sha256 != "" { // deleted since it was cited
			b.Documents = append(b.Documents, chat.KnownDocument{ID: id, SHA256: sha256, Title: title})
		}
		return nil
	case err != nil:
		return err
	case chat.IsInternal(d.Namespace): // a captured web page, which does not change
		return nil
	}
	known := chat.KnownDocument{ID: id, SHA256: d.SHA256, Title: title}
	if sha256 != "" && sha256 != d.SHA256 {
		known.SHA256 = sha256
		b.Documents = append(b.Documents, known)
		return nil
	}
	text, err := k.text(ctx, kept, id)
	if err != nil {
		return err
	}
	if len(text) <= maxText {
		known.Lines = compare.Lines(text)
	}
	remembered := len(known.Lines)
	for _, other := range b.Documents {
		remembered += len(other.Lines)
	}
	if remembered > maxLines {
		known.Lines = nil
	}
	b.Documents = append(b.Documents, known)
	return nil
}

// text returns a document's text, empty if it currently has none.
func (k *Scheduler) text(ctx context.Context, kept chat.Standing, id string) (string, error) {
	text, err := k.cfg.Library.Text(ctx, scope(kept), id)
	if err != nil && (chat.CodeOf(err) == chat.CodeNotFound || chat.CodeOf(err) == chat.CodeConflict) {
		return "", nil
	}
	return text, err
}

// passageHash identifies a passage by its document and text. It is a 64-bit FNV-1a hash, not cryptographic, and
// short, as up to topHits of them are stored with each question.
func passageHash(hit corpus.Result) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(hit.Document.ID + "\x00" + hit.Passage.Text)) // a hash does not fail
	return h.Sum64()
}
