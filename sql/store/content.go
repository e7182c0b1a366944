package store

import (
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// CheckContent fails for a content whose passages and terms do not go together.
func CheckContent(c corpus.Content) error {
	if c.Terms != nil && len(c.Terms) != len(c.Passages) {
		return &chat.Error{Code: chat.CodeInvalid, Message: "Each passage needs its terms.",
			Err: fmt.Errorf("%d passages, %d terms", len(c.Passages), len(c.Terms))}
	}
	return nil
}

// Served is a document whose content is replaced. It is what publishing needs of the row, read once under the lock that
// CheckVersion took.
type Served struct {
	N, Content            int64 // Content is what served until now; 0: none
	User, filename, given string
}

// BeginServing reads what is to be known of a document to show another content of it. The original of what served until
// now is put down for removal. An equal hash is no older version: the file was read again, and its original stays.
func (ds *Documents) BeginServing(t Tx, id, sha256 string) (s Served, err error) {
	if err := t.One(`SELECT n, user_id, filename, CAST(given_meta AS text), content FROM documents WHERE id = $1`,
		[]any{id}, &s.N, &s.User, &s.filename, &s.given, &s.Content); err != nil {
		return s, err
	}
	_, err = t.Exec(`INSERT INTO removals (document, sha256) SELECT '', c.sha256 FROM contents c WHERE c.n = $1
		AND c.sha256 <> $2 ON CONFLICT DO NOTHING`, s.Content, sha256)
	return s, err
}

// Serve makes a stored content, which has a number, the document's. This update is the moment at which readers see the
// new content, so it must be in the transaction that makes the index's segment visible. What an upload said of the
// document outranks what the file says.
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
