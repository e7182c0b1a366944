package server

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/keys"
	"footnote/server/ask"
	"footnote/server/httpio"
	"footnote/server/runlog"
	"footnote/static"
	"footnote/views"
)

// sessionsShown is how many conversations the menu lists.
const sessionsShown = 100

// pageHandlers answers browsers: pages, their pieces, and the streams that keep them up to date.
type pageHandlers struct {
	store     chat.Store
	feed      *chat.Feed
	library   *corpus.Library
	logs      *runlog.Reader
	questions *ask.Questions
	keys      *keys.File // who may use it; nil: everybody is the local user
	bodies    httpio.Bodies
	streams   *httpio.Streams
	guard     *httpio.Guard
	log       *slog.Logger

	model      string   // the name of the one that answers when no other is asked for
	models     []string // those that a question may name, the usual one first
	toolsets   []string // likewise
	offline    bool     // no model is set: rules choose the tools
	hasSamples bool     // POST /documents/samples adds documents
	keepDays   int      // a session is kept so many days after its last question; 0: for ever

	md           *views.Markdown
	drawn        *fragments
	starterCache starterCache
	assets       views.Assets
	version      string // of the static files
}

// prepare makes what the pages share.
func (h *pageHandlers) prepare() error {
	version, err := static.Version()
	if err != nil {
		return err
	}
	modules, err := static.Modules()
	if err != nil {
		return err
	}
	h.md, h.version = views.NewMarkdown(), version
	h.drawn = newFragments(h.feed, h.md, h.library.ExpectPage, h.model, h.models)
	h.assets = views.Assets{Path: func(name string) string { return "/static/" + version + "/" + name }, Script: static.Scripts(), Modules: modules}
	return nil
}

// favicon sends browsers that look for an icon at the usual address to it.
func (h *pageHandlers) favicon(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, h.assets.Path("icon.svg"))
}

// staticFile serves a file of the page. Its address holds the version of them all, so browsers may keep it for good.
func (h *pageHandlers) staticFile(c echo.Context) error {
	name := c.Param("*")
	body, err := static.Read(name)
	if err != nil {
		return httpio.NotFound("There is no such file.")
	}
	keep := "no-cache"
	if c.Param("version") == h.version {
		keep = "public, max-age=31536000, immutable"
	}
	c.Response().Header().Set("Cache-Control", keep)
	return c.Blob(http.StatusOK, staticType(name), body)
}

func staticType(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "css":
		return "text/css; charset=utf-8"
	case "js":
		return "text/javascript; charset=utf-8"
	case "svg":
		return "image/svg+xml"
	default:
		return "text/plain; charset=utf-8"
	}
}

// frame collects what every page shows around its own part. title is the document's.
func (h *pageHandlers) frame(c echo.Context, title string) (views.Page, error) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	sessions, _, err := h.store.Sessions(ctx, scope, chat.SessionQuery{Limit: sessionsShown})
	if err != nil {
		return views.Page{}, err
	}
	counts, err := h.library.Count(ctx, scope)
	if err != nil {
		return views.Page{}, err
	}
	user := ""
	if _, signedIn := httpio.SentKey(c.Request()); signedIn && h.keys != nil {
		user = scope.User
	}
	return views.Page{
		User: user, Title: title, Sessions: sessions, Documents: counts.Documents, Model: h.model, Offline: h.offline,
		Semantic: h.library.Semantic(), Now: time.Now(), Assets: h.assets, Deleted: deletedSession(c), KeepDays: h.keepDays,
	}, nil
}

func deletedSession(c echo.Context) string {
	id := c.QueryParam("deleted")
	if chat.CheckSessionID(id) != nil {
		return ""
	}
	return id
}

// showPage answers with a whole page. source fills the panel, nil leaves it empty.
func (h *pageHandlers) showPage(c echo.Context, status int, p views.Page, main, source templ.Component) error {
	return httpio.Show(c, status, views.Layout(p, main, source))
}

// errorFragment answers an htmx request that failed.
func (h *pageHandlers) errorFragment(c echo.Context, p httpio.Problem) error {
	no := views.Refusal{Detail: p.Detail, Code: p.Code}
	if p.Status == http.StatusUnauthorized && h.guard.SignedOut(c) {
		no.SignIn = "/signin?to=" + url.QueryEscape(pageOf(c))
	}
	return httpio.Show(c, p.Status, views.Sentence(no))
}

// errorPage answers a browser's request that failed. Its frame is left empty when the store is what failed.
func (h *pageHandlers) errorPage(c echo.Context, p httpio.Problem) error {
	if h.showRefused(c, p) {
		return nil
	}
	title := views.TroubleTitle(p.Code)
	page, err := h.frame(c, title)
	if err != nil {
		page = views.Page{Title: title, Now: time.Now(), Assets: h.assets, Offline: h.offline, Model: h.model}
	}
	request := p.RequestID
	if p.Status < http.StatusInternalServerError {
		request = ""
	}
	return h.showPage(c, p.Status, page, views.Trouble(title, p.Detail, request), nil)
}
