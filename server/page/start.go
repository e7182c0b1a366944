package page

import (
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/ask"
	"footnote/server/httpio"
	"footnote/views"
)

// Start answers GET /: a question box, or a way to begin while there are no documents. The page's script gets the part
// that depends on the documents.
func (h *Handlers) Start(c echo.Context) error { return h.showStart(c, http.StatusOK, nil) }

// showStart draws it, with a question that was not taken if there is one.
func (h *Handlers) showStart(c echo.Context, status int, no *refused) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	page, err := h.pageFrame(c, "")
	if err != nil {
		return err
	}
	page.Place = "new"
	counts, err := h.Library.Count(ctx, scope)
	if err != nil {
		return err
	}
	start := views.StartPage{
		Counts: counts, Samples: h.HasSamples,
		Composer: views.Composer{Key: chat.NewID(), Start: true, Draft: draftQuestion(c)},
	}
	var as ask.Question
	if no != nil {
		as = no.Question
	}
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
	return h.showPage(c, status, page, views.Start(page, start), nil)
}

// draftQuestion is a question that a link brings for the box.
func draftQuestion(c echo.Context) string {
	text := []rune(httpio.CleanText(c.QueryParam("q")))
	return string(text[:min(len(text), 2000)])
}

const maxStarters = 4

// starterCache keeps the first page's questions until the documents change.
type starterCache struct {
	mu      sync.Mutex
	user    string
	version int64
	made    []views.Starter
}

// starterQuestions makes questions from the headings of the newest documents.
func (h *Handlers) starterQuestions(ctx context.Context, scope chat.Scope) ([]views.Starter, error) {
	version, err := h.Library.Version(ctx, scope)
	if err != nil {
		return nil, err
	}
	cache := &h.starterCache
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if cache.made != nil && cache.user == scope.User && cache.version == version {
		return cache.made, nil
	}
	docs, _, err := h.Library.List(
		ctx, scope, corpus.Filter{States: []corpus.State{corpus.StateReady}, Limit: maxStarters},
	)
	if err != nil {
		return nil, err
	}
	made := []views.Starter{}
	for round := 0; round < maxStarters && len(made) < maxStarters; round++ {
		for _, d := range docs {
			if len(made) == maxStarters {
				break
			}
			headings, err := h.chapterTitles(ctx, scope, d)
			if err != nil {
				return nil, err
			}
			if heading, ok := starterHeading(headings, round); ok {
				made = append(made, views.Starter{
					Question: views.StarterQuestion(d.DisplayTitle(), heading, len(made)), Document: d,
				})
			}
		}
	}
	cache.user, cache.version, cache.made = scope.User, version, made
	return made, nil
}

// chapterTitles returns the titles of a document's chapters. A document that just went has none.
func (h *Handlers) chapterTitles(ctx context.Context, scope chat.Scope, d corpus.Document) ([]string, error) {
	reading, err := h.Library.Read(ctx, scope, corpus.ReadRequest{Document: d.ID, MaxRunes: 200})
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			return nil, nil
		}
		return nil, err
	}
	var titles []string
	for _, item := range reading.Outline {
		if n := len([]rune(item.Title)); item.Level <= 2 && item.Title != d.Title && n > 3 && n <= 80 {
			titles = append(titles, item.Title)
		}
	}
	return titles, nil
}

// starterHeading picks a document's heading for a round, from its middle first: openings are seldom what one asks
// about. A document without headings is asked about as a whole, once.
func starterHeading(headings []string, round int) (string, bool) {
	if len(headings) == 0 {
		return "", round == 0
	}
	if round >= len(headings) {
		return "", false
	}
	return headings[(len(headings)/2+round)%len(headings)], true
}
