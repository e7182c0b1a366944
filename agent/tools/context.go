package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Library is the interface of the documents that tools use. *corpus.Library implements it; tests use fakes.
//
// Every method takes a scope, the user and namespaces, and never returns another user's documents. Errors that a
// model or a user can correct are chat.Errors. Implementations are safe for concurrent use, since the calls of one
// turn run in parallel.
type Library interface {
	Search(ctx context.Context, s chat.Scope, q corpus.Query) (corpus.Results, error)
	Find(ctx context.Context, s chat.Scope, idOrTitle string) (corpus.Document, error)
	Read(ctx context.Context, s chat.Scope, r corpus.ReadRequest) (corpus.Reading, error)
	Grep(ctx context.Context, s chat.Scope, g corpus.GrepRequest) (corpus.Grepped, error)
	List(ctx context.Context, s chat.Scope, f corpus.Filter) ([]corpus.Document, string, error)
	MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error)
	OtherLanguages(ctx context.Context, s chat.Scope, ids []string, lang string) ([]string, error)
	Count(ctx context.Context, s chat.Scope) (corpus.Counts, error)
	Version(ctx context.Context, s chat.Scope) (int64, error)
	KnownVersion(ctx context.Context, s chat.Scope) (int64, error)
	Semantic() bool
	Document(ctx context.Context, s chat.Scope, id string) (corpus.Document, error)
	CheckNamed(ctx context.Context, s chat.Scope, namespace string, ids []string) error
	Capture(ctx context.Context, u corpus.Upload) (corpus.Document, error)
	Text(ctx context.Context, s chat.Scope, id string) (string, error)
	Passages(ctx context.Context, s chat.Scope, ids []string) ([]corpus.Passage, error)
	PassagesAt(ctx context.Context, s chat.Scope, id string, offsets []int) ([]corpus.Passage, error)
	Blocks(ctx context.Context, s chat.Scope, id string) ([]corpus.Block, error)
	Place(
		ctx context.Context, s chat.Scope, d corpus.Document, blocks []corpus.Block, start, end int,
	) (corpus.Place, error)
}

// Context is the state that the tools of one run share: the documents in reach and the sources found so far. The
// calls of a turn run concurrently and only read its fields; Sources and Texts have their own locks. Between turns
// the run's goroutine may narrow DocumentIDs to one document. RunID identifies the namespace that stores captured
// web pages.
//
// A Context lives as long as its run and is not stored. A resumed run builds a new Context from the run's log.
type Context struct {
	Library     Library
	Scope       chat.Scope
	DocumentIDs []string // documents that the question is limited to; empty: all in scope
	RunID       string
	TopK        int  // number of passages that a search shows whole
	Rerank      bool // search results are reranked
	Sources     *cite.Sources
	Texts       *cite.Texts
}

// Resolve resolves a document reference by a model: an id or a title. The returned text is a refusal for the model,
// empty if the document was found. An error is a failure of the store, which the model can't correct. A web page
// that the run has read is resolved by its id only. A document outside of the question's documents is refused, since
// the model may have it from an earlier answer. The refusal contains only the model's own reference, so it discloses
// nothing about the document.
func (d *Context) Resolve(ctx context.Context, ref string) (corpus.Document, locale.Message, error) {
	if doc, ok := d.Sources.Document(ref); ok && chat.IsInternal(doc.Namespace) {
		return doc, "", nil
	}
	doc, err := d.Library.Find(ctx, d.Scope, ref)
	if err != nil {
		// The model can correct an unknown or invalid reference. Any other error ends the call.
		if code := chat.CodeOf(err); code == chat.CodeNotFound || code == chat.CodeInvalid {
			return corpus.Document{}, chat.MessageOf(err), nil
		}
		return corpus.Document{}, "", err
	}
	if !d.InReach(doc) {
		return corpus.Document{}, locale.Say("The document “{1}” is outside the scope of this question.", ref), nil
	}
	return doc, "", nil
}

// find is Resolve with the refusal as an error.
func (d *Context) find(ctx context.Context, ref string) (corpus.Document, error) {
	doc, why, err := d.Resolve(ctx, ref)
	switch {
	case err != nil:
		err = fmt.Errorf("find document: %w", err)
	case why != "":
		err = refusal(why)
	}
	return doc, err
}

// findAll resolves several references and deduplicates the documents, in order. notes has a sentence for each that is
// not found; if none is found, these are the refusal.
func (d *Context) findAll(ctx context.Context, refs []string) (docs []corpus.Document, notes []string, err error) {
	seen := map[string]bool{}
	for _, ref := range refs {
		doc, err := d.find(ctx, ref)
		why, refused := errors.AsType[refusal](err)
		switch {
		case refused:
			notes = append(notes, why.Error())
		case err != nil:
			return nil, nil, err
		case !seen[doc.ID]:
			seen[doc.ID] = true
			docs = append(docs, doc)
		}
	}
	if len(docs) == 0 {
		err = refusal(strings.Join(notes, " "))
	}
	return docs, notes, err
}

// InReach reports whether the question may be answered from a document: one that the question is limited to, or a
// web page.
func (d *Context) InReach(doc corpus.Document) bool {
	return len(d.DocumentIDs) == 0 || slices.Contains(d.DocumentIDs, doc.ID) || chat.IsInternal(doc.Namespace)
}

// ReadScope returns the scope for reads by id: the question's scope and the web pages that the run has read.
func (d *Context) ReadScope() chat.Scope { return d.Scope.With(chat.WebNamespace(d.RunID)) }

// displayName returns the document's display name for an id, or the reference itself, truncated to 80 characters.
func (d *Context) displayName(ref string) string {
	if doc, ok := d.Sources.Document(ref); ok {
		return doc.DisplayName()
	}
	return text.Shorten(strings.TrimSpace(ref), 80)
}

// documentIDs returns the ids of documents, in order.
func documentIDs(docs []corpus.Document) []string {
	out := make([]string, len(docs))
	for i, doc := range docs {
		out[i] = doc.ID
	}
	return out
}

// CacheKey returns the cache key of a tool's result. It includes the library's version, so that no cached result is
// stale, and the user, so that cached results are never shared between users. The parts are joined by NUL and list
// entries by \x01, which no part contains, so that keys are unambiguous.
func (d *Context) CacheKey(tool, args string, version int64) string {
	return strings.Join([]string{
		tool, args, d.Scope.User, strings.Join(d.Scope.Namespaces, "\x01"), strings.Join(d.DocumentIDs, "\x01"),
		strconv.FormatInt(version, 10),
		strconv.Itoa(d.TopK), strconv.FormatBool(d.Rerank),
	}, "\x00")
}

// titlesTried is the maximum number of candidate documents whose titles are compared.
const titlesTried = 20

// FindByTitle returns the newest document in reach whose title, or file name with or without its extension, equals
// name. The store returns documents that contain the name; they are then compared exactly, without case and accents
// (text.Fold). ok is false if no document matches.
func (d *Context) FindByTitle(ctx context.Context, name string) (corpus.Document, bool, error) {
	docs, _, err := d.Library.List(ctx, d.Scope, corpus.Filter{Text: name, IDs: d.DocumentIDs, Limit: titlesTried})
	if err != nil {
		return corpus.Document{}, false, fmt.Errorf("look for a title: %w", err)
	}
	name = text.Fold(name)
	for _, doc := range docs {
		known := []string{doc.Title, doc.Filename, strings.TrimSuffix(doc.Filename, path.Ext(doc.Filename))}
		if slices.ContainsFunc(known, func(known string) bool { return text.Fold(known) == name }) {
			return doc, true, nil
		}
	}
	return corpus.Document{}, false, nil
}
