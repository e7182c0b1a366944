package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/sse"
	"github.com/footnote/footnote/views"
)

// Documents serves the documents, their uploads, and the folders that programs follow.
type Documents struct {
	Store   chat.Store
	Library *corpus.Library
	Pages   *addpage.Adder // imports web pages
	Samples fs.FS          // the documents that POST /documents/samples adds; nil: none
	Bodies  httpio.Bodies
	Streams *httpio.Streams
	Metrics *httpio.Metrics
	Limits  httpio.Limits
	Log     *slog.Logger
	// Refused sends the page of refused files to a form; taken is the number of accepted ones.
	Refused func(c httpio.Context, status, taken int, refused []views.RefusedFile) error
}

// DocumentInfo is a document in the API.
type DocumentInfo struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Path     string `json:"path"` // Its path in its namespace.
	Title    string `json:"title"`
	MIME     string `json:"mime"`     // The file's media type.
	Bytes    int64  `json:"bytes"`    // The file's size.
	Pages    int    `json:"pages"`    // The number of pages; 0 for formats without pages.
	Passages int    `json:"passages"` // The number of passages.
	SHA256   string `json:"sha256"`
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace string `json:"namespace"`
	Language  string `json:"language,omitempty"` // Its detected language (ISO 639-1).
	// The document's metadata: author, date, tags and so on.
	Meta map[string]any `json:"meta"`
	// The document's processing state; ready means that its text can be searched.
	State corpus.State `json:"state" api:"shared"`
	// The state of its embedding. failed: the server crashed three times while embedding it. Retry with POST
	// /documents/{id}/retry.
	Semantic  corpus.Semantic `json:"semantic"`
	Progress  corpus.Progress `json:"progress"`        // The progress of its processing.
	Error     *corpus.Failure `json:"error,omitempty"` // The reason why the file could not be parsed.
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// DocumentList is one page of documents.
type DocumentList struct {
	Documents []DocumentInfo `json:"documents"`      // The documents.
	Next      string         `json:"next,omitempty"` // the cursor of the next page
}

// newDocumentInfo converts a document to its API form. Its lists and objects are never null.
func newDocumentInfo(d corpus.Document) DocumentInfo {
	if d.Meta == nil {
		d.Meta = map[string]any{}
	}
	return DocumentInfo{
		ID: d.ID, Filename: d.Filename, Path: d.Path, Title: d.Title, MIME: d.MIME, Bytes: d.Bytes, Pages: d.Pages,
		Passages: d.Passages,
		SHA256:   d.SHA256, Namespace: d.Namespace, Language: d.Language, Meta: d.Meta, State: d.State,
		Semantic: d.Semantic,
		Progress: d.Progress, Error: d.Error, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
	}
}

// List handles GET /documents: a page of the user's documents.
func (a *Documents) List(c httpio.Context) (list DocumentList, err error) {
	filter, err := find.DocumentsQuery(c, 50)
	if err != nil {
		return list, err
	}
	filter.Cursor = c.QueryParam("cursor")
	for name := range strings.SplitSeq(c.QueryParam("state"), ",") {
		switch state := corpus.State(name); {
		case name == "":
		case !slices.Contains(corpus.States, state):
			return list, httpio.Invalid("state must be queued, parsing, indexing, ready, failed or cancelled.")
		default:
			filter.States = append(filter.States, state)
		}
	}
	docs, next, err := a.Library.List(c.Request().Context(), httpio.Scope(c).In(c.QueryParam("namespace")), filter)
	return DocumentList{httpio.Each(docs, newDocumentInfo), next}, err
}

// Get handles GET /documents/{id}: a document's state and metadata.
func (a *Documents) Get(c httpio.Context) (DocumentInfo, error) {
	d, err := a.Library.Document(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	return newDocumentInfo(d), err
}

// Delete handles DELETE /documents/{id}: the document can be restored for a minute. The list that a form is redirected
// to offers that.
func (a *Documents) Delete(c httpio.Context) error {
	id := c.Param("id")
	err := a.Library.Delete(c.Request().Context(), httpio.Scope(c), id)
	switch {
	case err != nil:
		return err
	case !httpio.ByForm(c):
		return c.NoContent(http.StatusNoContent)
	case chat.CheckSessionID(id) != nil:
		id = ""
	}
	return c.Redirect(http.StatusSeeOther, backToList(c, id))
}

// Changed returns the handler of a change, such as Library.Retry: it sends the changed document, and a form back to
// the list.
func (a *Documents) Changed(do func(context.Context, chat.Scope, string) error) httpio.Handler {
	return func(c httpio.Context) error {
		if err := do(c.Request().Context(), httpio.Scope(c), c.Param("id")); err != nil {
			return err
		}
		if httpio.ByForm(c) {
			return c.Redirect(http.StatusSeeOther, backToList(c, ""))
		}
		return httpio.Handle(http.StatusOK, a.Get)(c)
	}
}

// Inert prevents the execution of a file's content if a browser renders it.
//
// It is a Content-Security-Policy that replaces the default one for content of users.
const Inert = "default-src 'none'; sandbox"

// Text handles GET /documents/{id}/text: the document's text, the base of all offsets.
//
// Content-Length is sent only for a text of one part, since it is not known before. A failure after the first part
// aborts the connection, the only remaining signal to the client.
func (a *Documents) Text(c httpio.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	part, err := a.Library.TextPart(ctx, scope, id, 0)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", Inert)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if part.Next == 0 {
		h.Set("Content-Length", strconv.Itoa(len(part.Text)))
	}
	c.Response().WriteHeader(http.StatusOK)
	// One part at a time: many slow readers of large texts must not hold them all in memory.
	for version := part.Version; ; {
		if _, err := io.WriteString(c.Response(), part.Text); err != nil || part.Next == 0 {
			return nil // a disconnected reader is no failure
		}
		part, err = a.Library.TextPart(ctx, scope, id, part.Next)
		if err != nil || part.Version != version {
			panic(http.ErrAbortHandler) // abort: a mix of two versions would look complete
		}
	}
}

// File handles the download of the original, always as an attachment.
//
// http.ServeContent handles ranges (206, 416) and conditional requests (304) by the ETag, the file's hash: equal
// bytes are the same file under any name.
func (a *Documents) File(c httpio.Context) error {
	d, file, err := a.Library.Original(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	if err != nil {
		return err
	}
	defer file.Close()
	download(c, d.Filename)
	h := c.Response().Header()
	h.Set("Content-Type", inertType(d.MIME))
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+d.SHA256+`"`)
	http.ServeContent(c.Response(), c.Request(), "", d.UpdatedAt, file)
	return nil
}

// inertType returns the media type if browsers execute nothing of it.
func inertType(kind string) string {
	if f, ok := extract.Formats.ByMIME(kind); ok && f.Inert {
		return kind
	}
	return httpio.TypeBytes
}

// download sets the headers of a file: an attachment that is not cached. A name outside ASCII is encoded.
func download(c httpio.Context, filename string) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", Inert)
	h.Set("Content-Disposition", cmp.Or(
		mime.FormatMediaType("attachment", map[string]string{"filename": filename}), "attachment",
	))
	h.Set("Cache-Control", "no-store")
}

const (
	defaultPageWidth = 1000

	// MaxPageWidth is the maximum width of a rendered page in pixels.
	MaxPageWidth = 4000
)

// PageImage handles GET /documents/{id}/pages/{n}.png?width=&dpr=: it renders a page width × dpr pixels wide. With
// ?v= set to the beginning of the document's sha256 the image is immutable.
//
// The ETag covers all that determines the image: the file, the page, the width and the rotation. With no-cache
// browsers revalidate each time; with v the address changes with the file, so they need not. An error is not
// cacheable. width and dpr are refused outside their range, and their product is limited to MaxPageWidth.
func (a *Documents) PageImage(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	name, ok := strings.CutSuffix(c.Param("page"), ".png")
	n, err := strconv.Atoi(name)
	if !ok || err != nil || n < 1 {
		return httpio.NotFound("Page not found. Use 1.png, 2.png and so on.")
	}
	width, err := httpio.QueryInt(c, "width", defaultPageWidth, 100, MaxPageWidth)
	if err != nil {
		return err
	}
	if text := c.QueryParam("dpr"); text != "" {
		density, err := strconv.ParseFloat(text, 64)
		if err != nil || !(density >= 0.5 && density <= 4) {
			return httpio.Invalid("dpr must be a number from 0.5 to 4.")
		}
		width = min(int(float64(width)*density), MaxPageWidth)
	}
	d, err := a.Library.Document(ctx, scope, c.Param("id"))
	if err != nil {
		return err
	}
	if n > d.Pages && !a.Library.DrawsOffice(d) {
		return httpio.NotFound("Page not found. Pages in this document: {1}.", strconv.Itoa(d.Pages))
	}
	h := c.Response().Header()
	tag := fmt.Sprintf(`"%s-%d-%d-%d"`, d.SHA256, n, width, d.TurnOf(n))
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if v := c.QueryParam("v"); len(v) >= 8 && strings.HasPrefix(d.SHA256, v) {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	image, err := a.Library.PageImage(ctx, scope, d.ID, n, max(width, 100))
	if err != nil {
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
		return err
	}
	return c.Blob(http.StatusOK, "image/png", image)
}

// isFinished reports whether a document's processing is over.
func isFinished(d corpus.Document) bool {
	return d.State == corpus.StateReady || d.State == corpus.StateFailed || d.State == corpus.StateCancelled
}

// backToList returns the address of a form's list: forms carry its query in their address.
func backToList(c httpio.Context, deleted string) string {
	query := c.QueryParams()
	for name := range query {
		if !slices.Contains([]string{"q", "kind", "state", "namespace", "sort", "limit"}, name) {
			query.Del(name)
		}
	}
	if deleted != "" {
		query.Set("deleted", deleted)
	}
	if len(query) == 0 {
		return "/documents"
	}
	return "/documents?" + query.Encode()
}

// Events handles GET /documents/{id}/events: a "document" event with the document as JSON at each change of its
// state or progress, and a final "document_done" event once it is ready, failed or cancelled. A reconnecting reader
// first gets the current state.
//
// Its events have no ids, since a stream is not resumed.
func (a *Documents) Events(c httpio.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	d, changed, err := a.Library.Watch(ctx, scope, id)
	if err != nil {
		return err
	}
	out, leave, err := a.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	for {
		frame, err := documentFrame(d)
		if err != nil {
			return err
		}
		if err := out.Send(frame); err != nil || isFinished(d) {
			return nil
		}
		if !httpio.Await(a.Streams, c, out, changed) {
			return nil
		}
		if d, changed, err = a.Library.Watch(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream ends
		}
	}
}

// documentFrame encodes a document's state as an event; document_done is the last one.
func documentFrame(d corpus.Document) ([]byte, error) {
	body, err := json.Marshal(newDocumentInfo(d))
	if err != nil {
		return nil, err
	}
	event := "document"
	if isFinished(d) {
		event = "document_done"
	}
	return sse.Append(nil, 0, event, body), nil
}
