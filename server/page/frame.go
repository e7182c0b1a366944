// Package page serves browsers. Handlers renders whole pages (start, session, documents, viewer) with the templates
// of package views, and fragments for the page's script: fragments converts a run's events to them, once for all
// readers. Signing in, static files and error pages are here as well.
//
// A request loads an address, submits a form, or comes from the page's script, which htmx marks with HX-Request. The
// response is a whole page, a fragment, a redirect after a form (303), or a stream. Pages work without scripts:
// forms post and redirect, and a page with work in progress reloads itself.
//
// The files: frame has the frame of every page and the error page; start, session, next, options and choose are
// about asking; stream, session_events and library_events keep a page up to date, and fragments and fragments_fold
// render their events; documents, add, check and find are about the library; viewer and its parts render one
// document; tables, standing, places, folders, models and shares have a page each; signin, allow, kept, language and
// leave are about users and redirects.
//
// It must never decide a user's permissions: each access uses a Scope, and Guard or a Chooser authorises it. It encodes
// JSON only for the page's script.
package page

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/folders"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
	"github.com/footnote/footnote/static"
	"github.com/footnote/footnote/views"
)

// sessionsShown is the maximum number of conversations in the menu; the search finds older ones.
const sessionsShown = 100

// Handlers serves browsers: pages, fragments, and the streams that update them.
//
// Fields are set once, and Prepare is called once before the first request. After that all methods are safe for
// concurrent use.
type Handlers struct {
	Store     chat.Store
	Feed      *chat.Feed
	Library   *corpus.Library
	Logs      *runlog.Reader
	Questions *ask.Questions
	Keys      *keys.File     // the users; nil: every user is the local user
	Grants    *grants.Issuer // the users' grants to programs; nil: none
	Bodies    httpio.Bodies
	Streams   *httpio.Streams
	Guard     *httpio.Guard
	Log       *slog.Logger

	Models       func() []string     // the available models, the default first; never empty
	ModelChooser modelchoice.Chooser // discovers other models
	Places       *follow.Follower    // follows places
	PutPage      PutPage             // imports a web page
	Folders      folders.Chooser     // follows folders that are chosen
	Webhooks     Webhooks            // sends changes of kept questions
	Tabler       *grid.Filler        // creates and fills tables over documents
	Shares       *shares.Service     // creates and opens links to answers
	Toolsets     []string            // likewise
	HasSamples   bool                // POST /documents/samples adds documents
	MaxFile      int64               // bytes, limit of an uploaded file
	KeepDays     int                 // days that a session is kept after its last question; 0: for ever
	Build        string              // the version, for the foot of the menu

	md           *views.Markdown
	drawn        *fragments
	starterCache starterCache
	Assets       views.Assets
	version      string // of the static files
}

// Prepare builds the state that all pages share.
//
// It fails only if the embedded static files are broken.
func (h *Handlers) Prepare() error {
	version, err := static.Version()
	if err != nil {
		return err
	}
	modules, err := static.Modules()
	if err != nil {
		return err
	}
	h.md, h.version = views.NewMarkdown(), version
	h.drawn = newFragments(h.Feed, h.md, h.Library.ExpectPage, h.Models)
	h.Assets = views.Assets{
		Path: func(name string) string { return "/static/" + version + "/" + name }, Script: static.Scripts(),
		Modules: modules,
	}
	return nil
}

// Favicon redirects browsers that request the default icon address.
//
// It handles GET /favicon.ico with 303 and needs no key.
func (h *Handlers) Favicon(c httpio.Context) error {
	return c.Redirect(http.StatusSeeOther, h.Assets.Path("icon.svg"))
}

// StaticFile serves a static file. Its address contains the version of all files, so browsers may cache it
// indefinitely.
//
// It handles GET /static/{version}/{name} and needs no key. A request with an old version gets the newest file, not
// cacheable: a page that was open during an upgrade sends it. A file is compressed once, on its first request; fonts
// are already compressed.
func (h *Handlers) StaticFile(c httpio.Context) error {
	name := c.Param("*")
	body, err := static.Read(name)
	if err != nil {
		return httpio.NotFound("File not found.")
	}
	// no-cache revalidates each time, immutable never (RFC 8246): the version in the address changes with any file.
	keep := "no-cache"
	// Only with the current version the content of this address is fixed.
	if c.Param("version") == h.version {
		keep = "public, max-age=31536000, immutable"
	}
	head, kind := c.Response().Header(), staticType(name)
	head.Set("Cache-Control", keep)
	if strings.HasPrefix(kind, "font/") {
		return c.Blob(http.StatusOK, kind, body)
	}
	head.Add("Vary", "Accept-Encoding")
	if acceptsGzip(c.Request().Header.Get("Accept-Encoding")) {
		if body, err = static.Packed(name); err != nil {
			return err
		}
		head.Set("Content-Encoding", "gzip")
	}
	return c.Blob(http.StatusOK, kind, body)
}

// acceptsGzip reports whether an Accept-Encoding allows gzip; a weight of 0 forbids it.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q, weighed := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !weighed || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// staticType returns the content type of a static file, by extension.
func staticType(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "css":
		return "text/css; charset=utf-8"
	case "js":
		return "text/javascript; charset=utf-8"
	case "webmanifest":
		return "application/manifest+json"
	case "svg":
		return "image/svg+xml"
	case "woff2":
		return "font/woff2"
	default:
		return "text/plain; charset=utf-8"
	}
}

// pageFrame fills the frame of a page, which has its title and what else the page decides.
//
// It queries the store several times, so call it after all checks that may refuse the request. The user is set only
// if a key was sent.
func (h *Handlers) pageFrame(c httpio.Context, page views.Page) (views.Page, error) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	sessions, _, err := h.Store.Sessions(ctx, scope, chat.SessionQuery{Limit: sessionsShown})
	if err != nil {
		return page, err
	}
	counts, seen, err := h.watchLibrary(ctx, scope)
	if err != nil {
		return page, err
	}
	changed, err := h.Store.UnseenStanding(ctx, scope)
	if err != nil {
		return page, err
	}
	// Without keys every user is the local user, whose name is not shown.
	if _, signedIn := httpio.RequestKey(c.Request()); signedIn && h.Keys != nil {
		page.User = scope.User
	}
	if page.Place != "documents" { // there, ?deleted= is a document
		page.Deleted = deletedID(c)
	}
	page.Here, page.Sessions, page.Documents = currentAddress(c.Request()), sessions, counts.Documents
	page.Changed, page.Seen, page.MaxFile, page.KeepDays = changed, seen, h.MaxFile, h.KeepDays
	page.Semantic, page.Now = h.Library.Semantic(), time.Now()
	h.setFrame(&page)
	return page, nil
}

// setFrame sets what needs no store.
func (h *Handlers) setFrame(page *views.Page) {
	page.Assets, page.Model, page.Build = h.Assets, h.Models()[0], h.Build
}

// currentAddress returns the address that shows the page again.
func currentAddress(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/"
	}
	return r.URL.RequestURI()
}

// deletedID returns the id of what was just deleted, for the page's offer to restore it.
func deletedID(c httpio.Context) string {
	id := c.QueryParam("deleted")
	if chat.CheckSessionID(id) != nil {
		return ""
	}
	return id
}

// show sends a page with its frame; see pageFrame.
func (h *Handlers) show(c httpio.Context, status int, page views.Page, main templ.Component) error {
	page, err := h.pageFrame(c, page)
	if err != nil {
		return err
	}
	return httpio.Show(c, status, views.Layout(page, main, nil))
}

// Form parses a form for its handler.
func (h *Handlers) Form(do func(httpio.Context, url.Values) error) httpio.Handler {
	return func(c httpio.Context) error {
		if err := h.Bodies.ReadForm(c); err != nil {
			return err
		}
		return do(c, c.Request().PostForm)
	}
}

// OrForm shows a form again if it was refused: show gets the error, and the fields are in PostForm. Failures of the
// server, and of other requests than forms, are returned.
func OrForm(do httpio.Handler, show func(httpio.Context, error) error) httpio.Handler {
	return func(c httpio.Context) error {
		err := do(c)
		if err == nil || !httpio.ByForm(c) || chat.CodeOf(err) == chat.CodeInternal ||
			c.Request().Context().Err() != nil {
			return err
		}
		return show(c, err)
	}
}

// ErrorFragment sends the error of an htmx request.
//
// The status is that of the problem. A reader who has to sign in gets a link that leads back to the requesting page.
func (h *Handlers) ErrorFragment(c httpio.Context, p httpio.Problem) error {
	no := views.Refusal{Detail: p.Detail, Code: p.Code}
	if p.Status == http.StatusUnauthorized && h.Guard.SignedOut(c) {
		no.SignIn = "/signin?to=" + url.QueryEscape(pageOf(c))
	}
	return httpio.Show(c, p.Status, views.Sentence(no))
}

// ErrorPage renders the failure of a browser's request. Its frame is empty if the store failed.
//
// A refused question of a form gets its own page back instead. The request id is shown only for server errors, for a
// search in the log.
func (h *Handlers) ErrorPage(c httpio.Context, p httpio.Problem) error {
	if h.showRefused(c, p) {
		return nil
	}
	title := views.TroubleTitle(p.Code).In(c.Request().Context())
	page, err := h.pageFrame(c, views.Page{Title: title})
	if err != nil {
		// The frame's lists are in the store. Without them the page still shows the error.
		page = views.Page{Title: title, Now: time.Now()}
		h.setFrame(&page)
	}
	request := p.RequestID
	if p.Status < http.StatusInternalServerError {
		request = ""
	}
	return httpio.Show(c, p.Status, views.Layout(page, views.Trouble(title, p.Detail, request), nil))
}
