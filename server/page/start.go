package page

import (
	"context"
	"iter"
	"net/http"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Start handles GET /: a question box, or an introduction while there are no documents. The page's script gets only
// the part that depends on the documents.
//
// ?q= sets a draft in the box. Nothing is asked before the user submits it.
func (h *Handlers) Start(c httpio.Context) error { return h.showStart(c, http.StatusOK, nil) }

// showStart renders the start page, with a refused question if there is one.
func (h *Handlers) showStart(c httpio.Context, status int, no *refused) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	page, err := h.pageFrame(c, views.Page{Place: "new"})
	if err != nil {
		return err
	}
	counts, err := h.Library.Count(ctx, scope)
	if err != nil {
		return err
	}
	start := views.StartPage{
		Counts: counts, Samples: h.HasSamples, Folders: h.Folders.Check(c, h.Guard) == nil,
		Composer: views.Composer{Key: chat.NewID(), Start: true, Draft: draftQuestion(c)},
	}
	var as ask.Question
	if no != nil {
		as = no.Question
	}
	// A refused question takes precedence over a draft in the address.
	no.fillComposer(&start.Composer)
	if start.Composer.Choose, err = h.fillChooser(ctx, scope, counts, "", as.DocumentIDs); err != nil {
		return err
	}
	if start.Composer.Options, err = h.questionOptions(ctx, scope, as); err != nil {
		return err
	}
	if start.Starters, err = h.starterQuestions(ctx, scope); err != nil {
		return err
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, status, views.StartBody(page, start))
	}
	return httpio.Show(c, status, views.Layout(page, views.Start(page, start), nil))
}

// draftQuestion returns the question in a link, for the box.
//
// It is truncated to 2,000 characters.
func draftQuestion(c httpio.Context) string {
	text := []rune(httpio.CleanText(c.QueryParam("q")))
	return string(text[:min(len(text), 2000)])
}

// maxStarters is the maximum number of suggested questions.
const maxStarters = 4

// starterCache caches the first page's suggested questions until the documents change.
//
// It has one entry, for the user who last loaded the page, which suffices for a server with one user; for others
// they are computed again.
type starterCache struct {
	mu      sync.Mutex
	user    string
	version int64
	made    []views.Starter
}

// starterQuestions returns questions about the newest documents.
//
// It uses no model: the library extracts them from the documents' text. The lock is held meanwhile, so that they are
// computed once.
func (h *Handlers) starterQuestions(ctx context.Context, scope chat.Scope) ([]views.Starter, error) {
	version, err := h.Library.Version(ctx, scope)
	if err != nil {
		return nil, err
	}
	cache := &h.starterCache
	cache.mu.Lock()
	defer cache.mu.Unlock()
	// An empty list is cached as well, to avoid repeated attempts.
	if cache.made != nil && cache.user == scope.User && cache.version == version {
		return cache.made, nil
	}
	docs, _, err := h.Library.List(
		ctx, scope, corpus.Filter{States: []corpus.State{corpus.StateReady}, Limit: maxStarters},
	)
	if err != nil {
		return nil, err
	}
	made, err := h.startersOf(ctx, scope, docs)
	if err != nil {
		return nil, err
	}
	cache.user, cache.version, cache.made = scope.User, version, made
	return made, nil
}

// startersOf returns up to maxStarters questions, one of each document in turn.
func (h *Handlers) startersOf(ctx context.Context, scope chat.Scope, docs []corpus.Document) ([]views.Starter, error) {
	made := []views.Starter{}
	nexts := make([]func() (string, error, bool), len(docs))
	for i, d := range docs {
		// The questions are computed lazily: each costs a search.
		next, stop := iter.Pull2(h.Library.Suggestions(ctx, scope, d))
		defer stop()
		nexts[i] = next
	}
	for more := true; more; {
		more = false
		for i, d := range docs {
			question, err, ok := nexts[i]()
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			made, more = append(made, views.Starter{Question: question, Document: d}), true
			if len(made) == maxStarters {
				return made, nil
			}
		}
	}
	return made, nil
}
