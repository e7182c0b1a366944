package store

import (
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// CheckContent returns an error if the numbers of passages and terms differ.
func CheckContent(c corpus.Content) error {
	if c.Terms != nil && len(c.Terms) != len(c.Passages) {
		return &chat.Error{Code: chat.CodeInvalid, Message: "The numbers of passages and terms differ.",
			Err: fmt.Errorf("%d passages, %d terms", len(c.Passages), len(c.Terms))}
	}
	return nil
}

// Served is a document whose content is being replaced: the row's fields for publishing, read once under the lock of
// CheckVersion.
type Served struct {
	N, Content            int64 // Content is the current content; 0: none
	User, filename, given string
}

// BeginServing reads a document's row for publishing new content. The original of the current content is queued for
// removal, unless it has an equal hash, as when the file was parsed again.
func (ds *Documents) BeginServing(t Tx, id, sha256 string) (s Served, err error) {
	if err := t.One(`SELECT n, user_id, filename, CAST(given_meta AS text), content FROM documents WHERE id = $1`,
		[]any{id}, &s.N, &s.User, &s.filename, &s.given, &s.Content); err != nil {
		return s, err
	}
	_, err = t.Exec(`INSERT INTO removals (document, sha256) SELECT '', c.sha256 FROM contents c WHERE c.n = $1
		AND c.sha256 <> $2 ON CONFLICT DO NOTHING`, s.Content, sha256)
	return s, err
}

// Serve makes a stored content the document's current one. Readers see it from then on, so it must be in the
// transaction that publishes the index segment. Metadata of the upload takes precedence over that of the file.
func (ds *Documents) Serve(t Tx, s Served, content int64, c corpus.Content) error {
	meta, err := ds.mergeMeta(c.Extracted.Meta, s.given)
	if err != nil {
		return err
	}
	title := c.Extracted.Title
	if title == "" {
		title = s.filename
	}
	progress, err := ToJSON(corpus.Progress{Stage: "ready", Done: len(c.Passages), Total: len(c.Passages)})
	if err != nil {
		return err
	}
	_, err = t.Exec(`UPDATE documents SET content = $2, state = 'ready', failure = '', progress = $3, title = $4,
		title_fold = $5, search_fold = $6, pages = $7, language = $8, meta = $9, passages = $10 WHERE n = $1`, s.N,
		content, progress, title, strings.ToLower(title), searchFold(title, s.filename), c.Extracted.Pages,
		c.Extracted.Language, meta, len(c.Passages))
	return err
}
