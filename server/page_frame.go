package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
	"footnote/static"
	"footnote/views"
)

// sessionsShown is how many conversations the menu lists.
const sessionsShown = 100

// pages is what the page's handlers share.
type pages struct {
	md       *views.Markdown
	drawn    *fragments
	starters starterCache
	assets   views.Assets
	version  string
}

// newPages prepares them. usual is the name of the model that answers when no other is asked for, offered are those that a question may name.
func newPages(feed *chat.Feed, expectPage func(), usual string, offered []string) (*pages, error) {
	version, err := static.Version()
	if err != nil {
		return nil, err
	}
	modules, err := static.Modules()
	if err != nil {
		return nil, err
	}
	md := views.NewMarkdown()
	return &pages{
		md: md, drawn: newFragments(feed, md, expectPage, usual, offered), version: version,
		assets: views.Assets{Path: func(name string) string { return "/static/" + version + "/" + name }, Script: static.Scripts(), Modules: modules},
	}, nil
}

// pageRoutes adds the routes of the page.
func (s *Server) pageRoutes(e *echo.Echo) {
	e.GET("/", s.startPage)
	e.GET("/c/:id", s.sessionPage)
	e.POST("/c/:id/rename", s.renameForm)
	e.POST("/c/:id/delete", s.deleteForm)
	e.POST("/c/:id/restore", s.restoreForm)
	e.POST("/c/:id/head", s.headForm)
	e.GET("/c/:id/next", s.nextTurns)
	e.GET("/c/:id/events", s.sessionEvents)
	e.POST("/c/:id/queue", s.enqueue)
	e.POST("/c/:id/queue/:item/edit", s.editQueued)
	e.POST("/c/:id/queue/:item/delete", s.dropQueued)
	e.POST("/c/:id/queue/:item/send", s.sendQueued)
	e.GET("/find", s.findPage)
	e.GET("/choose", s.chooseList)
	e.GET("/d/:id", s.viewDocument)
	e.GET("/leave", s.leave)
	e.POST("/documents/:id/delete", s.deleteDocumentForm)
	e.GET("/runs/:id/stream", s.streamPage)
	e.GET("/runs/:id/steps/:call/thought", s.showThought)
	s.signInRoutes(e)
	e.GET("/static/:version/*", s.staticFile)
	e.GET("/favicon.ico", func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, s.pages.assets.Path("icon.svg")) })
}

// staticFile serves a file of the page. Its address holds the version of them all, so browsers may keep it for good.
func (s *Server) staticFile(c echo.Context) error {
	name := c.Param("*")
	body, err := static.Read(name)
	if err != nil {
		return httpio.NotFound("There is no such file.")
	}
	keep := "no-cache"
	if c.Param("version") == s.pages.version {
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
func (s *Server) frame(c echo.Context, title string) (views.Page, error) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	sessions, _, err := s.store.Sessions(ctx, scope, chat.SessionQuery{Limit: sessionsShown})
	if err != nil {
		return views.Page{}, err
	}
	counts, err := s.library.Count(ctx, scope)
	if err != nil {
		return views.Page{}, err
	}
	user := ""
	if _, signedIn := httpio.SentKey(c.Request()); signedIn && s.cfg.Keys != nil {
		user = scope.User
	}
	return views.Page{
		User: user, Title: title, Sessions: sessions, Documents: counts.Documents, Model: s.cfg.ModelName, Offline: s.cfg.Offline,
		Semantic: s.library.Semantic(), Now: time.Now(), Assets: s.pages.assets, Deleted: deletedSession(c), KeepDays: s.cfg.KeepDays,
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
func (s *Server) showPage(c echo.Context, status int, p views.Page, main, source templ.Component) error {
	return httpio.Show(c, status, views.Layout(p, main, source))
}

// errorFragment answers an htmx request that failed.
func (s *Server) errorFragment(c echo.Context, p httpio.Problem) error {
	no := views.Refusal{Detail: p.Detail, Code: p.Code}
	if p.Status == http.StatusUnauthorized && s.guard.SignedOut(c) {
		no.SignIn = "/signin?to=" + url.QueryEscape(pageOf(c))
	}
	return httpio.Show(c, p.Status, views.Sentence(no))
}

// errorPage answers a browser's request that failed. Its frame is left empty when the store is what failed.
func (s *Server) errorPage(c echo.Context, p httpio.Problem) error {
	if s.showRefused(c, p) {
		return nil
	}
	title := views.TroubleTitle(p.Code)
	page, err := s.frame(c, title)
	if err != nil {
		page = views.Page{Title: title, Now: time.Now(), Assets: s.pages.assets, Offline: s.cfg.Offline, Model: s.cfg.ModelName}
	}
	request := p.RequestID
	if p.Status < http.StatusInternalServerError {
		request = ""
	}
	return s.showPage(c, p.Status, page, views.Trouble(title, p.Detail, request), nil)
}
