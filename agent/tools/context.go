package tools

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// Library is what tools need of the documents; *corpus.Library has it. It is declared here, where it is used, so that
// tests can stand in for it. What it reads is bounded by a scope: nothing of another user comes out of it.
//
// Every method takes the scope, which says whose documents and in which namespaces. Errors are chat.Errors where a
// model or a user can do something about them. Calls of one turn use it at the same time.
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

// Context is what the tools of one run work on: the documents in reach and what was found in them so far. The calls of
// a turn use it at the same time and only read its fields; Sources and Texts have locks of their own. Between turns the
// run's goroutine may narrow DocumentIDs to one document for a while. A Context lives as long as its run. RunID names
// the namespace in which captured pages of the web are kept.
//
// Nothing in it is stored: when a run is carried on at another server, it is made anew from the run's log.
type Context struct {
	Library     Library
	Scope       chat.Scope
	DocumentIDs []string // the documents the question was narrowed to; empty: all in scope
	RunID       string
	TopK        int  // how many passages a search shows whole
	Rerank      bool // what a search finds is put in order once more
	Sources     *cite.Sources
	Texts       *cite.Texts
}

// Resolve resolves what a model calls a document. The returned text is a refusal for the model, empty if it was found.
// An error is one of the store, which the model can't mend. A page of the web that the run has read is found by its id
// only. A document outside of those the question was narrowed to is refused by name, since the model may have it from
// an earlier answer. What is out of reach is refused with what the model called it, so a refusal tells nothing that the
// model did not say.
func (d *Context) Resolve(ctx context.Context, ref string) (corpus.Document, string, error) {
	if doc, ok := d.Sources.Document(ref); ok && chat.IsInternal(doc.Namespace) {
		return doc, "", nil
	}
	doc, err := d.Library.Find(ctx, d.Scope, ref)
	if err != nil {
		// What was not found, or is no sensible name, the model can mend: it gets the sentence. Everything else ends
		// the call.
		switch chat.CodeOf(err) {
		case chat.CodeNotFound, chat.CodeInvalid:
			return corpus.Document{}, chat.MessageOf(err), nil
		default:
			return corpus.Document{}, "", err
		}
	}
	if !d.InReach(doc) {
		return corpus.Document{}, "The document “" + ref + "” is not among those this question is about.", nil
	}
	return doc, "", nil
}

// resolveAll resolves several, each once, in order. The refusals name those that were not found.
func (d *Context) resolveAll(ctx context.Context, refs []string) (docs []corpus.Document, refused []string, err error) {
	seen := map[string]bool{}
	for _, ref := range refs {
		doc, why, err := d.Resolve(ctx, ref)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case why != "":
			refused = append(refused, why)
		case !seen[doc.ID]:
			seen[doc.ID] = true
			docs = append(docs, doc)
		}
	}
	return docs, refused, nil
}

// InReach reports whether a question may be answered from a document: one of those it was narrowed to, or a page of
// the web.
func (d *Context) InReach(doc corpus.Document) bool {
	return len(d.DocumentIDs) == 0 || slices.Contains(d.DocumentIDs, doc.ID) || chat.IsInternal(doc.Namespace)
}

// ReadScope is the scope of what is read by its id: what the question is about, and the pages of the web that the run
// has read.
func (d *Context) ReadScope() chat.Scope { return d.Scope.With(chat.WebNamespace(d.RunID)) }

// displayName is how people know what a model calls by an id.
func (d *Context) displayName(ref string) string {
	if doc, ok := d.Sources.Document(ref); ok {
		return doc.DisplayName()
	}
	return text.Shorten(strings.TrimSpace(ref), 80)
}

// documentIDs are the ids of some documents, in order.
func documentIDs(docs []corpus.Document) []string {
	out := make([]string, len(docs))
	for i, doc := range docs {
		out[i] = doc.ID
	}
	return out
}

// CacheKey is what a tool's result depends on, the library's version too, so that no result is ever out of date. It
// holds the user, so that nobody gets a result out of documents that are not theirs. Parts are joined by bytes that
// none of them can hold. The parts are joined by NUL, so that two keys are not alike by chance.
func (d *Context) CacheKey(tool, args string, version int64) string {
	return strings.Join([]string{
		tool, args, d.Scope.User, strings.Join(d.Scope.Namespaces, "\x01"), strings.Join(d.DocumentIDs, "\x01"),
		strconv.FormatInt(version, 10),
		strconv.Itoa(d.TopK), strconv.FormatBool(d.Rerank),
	}, "\x00")
}
