package page

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Documents handles GET /documents for a browser; the page's script gets only the list.
//
// Each user gets only their own documents. An invalid state, order or kind is 400. Folders are shown without a
// search. Folders reports for each request whether this server follows chosen folders.
func (h *Handlers) Documents(c httpio.Context) error {
	query, filter, err := documentsQuery(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	counts, err := h.Library.Count(ctx, scope.In(query.Namespace))
	if err != nil {
		return err
	}
	docs, next, err := h.Library.List(ctx, scope.In(query.Namespace), filter)
	if err != nil {
		return err
	}
	list := views.DocumentsPage{
		Documents: docs, Counts: counts, More: next != "" && query.Limit < maxListed, Query: query,
		Samples: h.HasSamples, MaxFile: h.MaxFile, Now: time.Now(),
		Folders:  h.Folders.Check(c, h.Guard) == nil,
		Semantic: h.Library.Semantic(), EmbedTime: h.Library.EmbedTime(counts.Unembedded),
	}
	// Folders belong to the whole list and are hidden in search results.
	if query.Text == "" && query.Kind == "" {
		if list.Watched, err = h.Library.Watched(ctx, scope.In(query.Namespace)); err != nil {
			return err
		}
		list.Followed = h.followedFolders(c, list.Watched)
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, http.StatusOK, views.DocumentsList(list))
	}
	list.Deleted = deletedID(c)
	// Without scripts the page reloads while documents are processed.
	return h.show(c, http.StatusOK, views.Page{
		Title: views.DocumentsTitle.In(ctx), Place: "documents", Running: counts.Working > 0,
	}, views.Documents(list))
}

// maxStates is the maximum number of documents per request; the script sends another for further ones.
const maxStates = 200

// DocumentStates handles GET /documents/states?ids=: the progress of documents, for the page's list of uploads.
// Missing documents are left out.
//
// It answers with a fragment, or 400 for more than maxStates.
func (h *Handlers) DocumentStates(c httpio.Context) error {
	ids := strings.Split(c.QueryParam("ids"), ",")
	if len(ids) > maxStates {
		return httpio.Invalid("ids exceeds the limit of {1} documents.", maxStates)
	}
	// Unknown ids and other users' ids match nothing: no error distinguishes them.
	docs, _, err := h.Library.List(
		c.Request().Context(), httpio.Scope(c), corpus.Filter{IDs: ids, Limit: maxStates},
	)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.DocumentStates(docs))
}

// maxListed is the maximum number of documents on the page; a search finds the rest.
const maxListed = 1000

var workingStates = []corpus.State{corpus.StateQueued, corpus.StateParsing, corpus.StateIndexing}

// documentsQuery parses ?q=&kind=&state=&namespace=&sort=&limit= of the page. Besides the states of the API it
// accepts "working".
func documentsQuery(c httpio.Context) (views.DocumentsQuery, corpus.Filter, error) {
	f, err := find.DocumentsQuery(c, views.DocumentsStep)
	f.Text = strings.TrimSpace(httpio.CleanText(f.Text))
	q := views.DocumentsQuery{
		Text: f.Text, Sort: f.Sort, Limit: f.Limit, Kind: c.QueryParam("kind"), State: c.QueryParam("state"),
		Namespace: c.QueryParam("namespace"),
	}
	if err != nil {
		return q, f, err
	}
	// The default order has a single address, without the parameter.
	if q.Sort == "newest" {
		q.Sort = ""
	}
	switch state := corpus.State(q.State); {
	case q.State == "":
	case q.State == "working":
		f.States = workingStates
	case slices.Contains(corpus.States, state):
		f.States = []corpus.State{state}
	default:
		return q, f, httpio.Invalid("state must be ready, working, failed or cancelled.")
	}
	if q.Kind != "" {
		format, ok := extract.Formats.ByName(q.Kind)
		if !ok {
			return q, f, httpio.Invalid("kind must be {1}.", extract.Formats.Names("or"))
		}
		f.MIME = format.MIME
	}
	return q, f, nil
}

// UploadRefused shows the refused files of a form's upload.
//
// status is that of the reasons, or 202 if other files were accepted, which is sent as 200 for a page.
func (h *Handlers) UploadRefused(c httpio.Context, status, taken int, refused []views.RefusedFile) error {
	if status == http.StatusAccepted {
		status = http.StatusOK
	}
	return h.show(c, status, views.Page{
		Title: views.UploadTitle(c.Request().Context(), taken), Place: "documents",
	}, views.UploadRefused(taken, refused))
}
