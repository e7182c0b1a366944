package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/openapi"
	"github.com/footnote/footnote/server/page"
)

// buildRoutes builds the router. Every route is one line of this file.
//
// The order of the middleware matters. Observe is outermost, so that every refusal is counted and logged with its
// request id. The language is next, since error pages are translated. Host and origin are validated before the key:
// requests of another site's page must be refused first. Parameters are validated after the user is authenticated,
// so that an unauthenticated client only learns that a key is needed. Compression is innermost: error responses of
// the other middleware are not compressed.
//
// Routes for programs are first and go into the directory. The page's routes are added to the same router and also
// to one of their own, which distinguishes the two kinds.
func (s *Server) buildRoutes() *httpio.Router {
	e := httpio.NewRouter()
	e.HTTPErrorHandler = httpio.ErrorHandler(s.log, s.sendProblem)
	e.Pre(httpio.OverrideMethod)
	e.Use(
		httpio.Observe(s.metrics, s.log), httpio.NegotiateLanguage, s.guard.CheckHost, s.guard.CheckOrigin(s.inAPI),
		s.guard.IdentifyUser, httpio.CheckQuery(openapi.QueryNames), httpio.CheckID, httpio.Compress(neverCompressed),
	)

	s.questionRoutes(e)
	s.sessionRoutes(e)
	s.documentRoutes(e)
	s.standingRoutes(e)
	s.tableRoutes(e)
	s.placeRoutes(e)
	e.GET("/model", pageOrProgram(s.page.ShowModels, httpio.Handle(ok, s.models.Find)))
	e.PUT("/model", pageOrProgram(s.page.ChooseModel, httpio.HandleBody(s.bodies, ok, s.models.Choose)))
	e.POST("/mcp", s.mcp.Serve)

	e.POST("/v1/chat/completions", s.relay.V1Chat)
	e.POST("/v1/responses", s.relay.V1Respond)
	e.GET("/v1/responses/:id", s.relay.V1GetResponse)
	e.POST("/v1/responses/:id/cancel", s.relay.V1CancelResponse)
	e.GET("/v1/models", s.relay.V1Models)
	e.GET("/v1/models/:model", s.relay.V1Model)
	e.POST("/ui/chat", s.relay.AiChat)
	e.GET("/ui/chat/:id/stream", s.relay.AiResume)
	e.POST("/ui/chat/:id/stop", s.relay.AiStop)
	e.POST("/ag-ui", s.relay.AgUi)
	s.describedRoutes(e)

	e.GET("/health", s.service.Health)
	e.GET("/readyz", s.service.Ready)
	e.GET("/metrics", s.metrics.Handler())
	programs, pages := httpio.Routes(e), httpio.NewRouter()
	s.pageRoutes(e)
	s.pageRoutes(pages)
	s.directory = newDirectory(programs, httpio.Routes(pages))
	return e
}

// Statuses of the helpers below.
const (
	ok       = http.StatusOK
	created  = http.StatusCreated
	accepted = http.StatusAccepted
	empty    = http.StatusNoContent
)

func (s *Server) questionRoutes(e *httpio.Router) {
	e.POST("/chat", s.questions.Ask)
	e.POST("/agent/chat", s.questions.Chat)
	e.POST("/agent/chat/structured", s.questions.ChatStructured)
	e.POST("/agent/query", s.questions.Query)
	e.POST("/agent/retrieve", s.passages.Retrieve)
	e.POST("/search", httpio.HandleBody(s.bodies, ok, s.passages.Search))

	e.GET("/agent/runs/:id", httpio.Handle(ok, s.runs.Get))
	e.GET("/agent/runs/:id/events", s.runs.Events)
	e.POST("/agent/runs/:id/cancel", s.runs.Steered(s.runs.Runs.Cancel))
	e.POST("/agent/runs/:id/answer-now", s.runs.Steered(s.runs.Runs.AnswerNow))
	e.GET("/agent/runs/:id/steps/:call/output", s.runs.Output)
	e.POST("/agent/runs/:id/steps/:call/approve", s.runs.Approve)
	e.POST("/agent/runs/:id/steps/:call/deny", s.runs.Deny)
	e.POST("/agent/runs/:id/steps/:call/rerun", s.runs.Rerun)
	e.GET("/agent/runs/:id/export", s.exports.Run)
	e.POST("/evidence/verify", httpio.Handle(ok, s.exports.Verify))

	e.POST("/agent/runs/:id/feedback", s.feedback.Set)
	e.DELETE("/agent/runs/:id/feedback", httpio.Done(s.feedback.Store.DropFeedback))
	e.GET("/feedback", s.feedback.List)
	e.POST("/agent/runs/:id/shares",
		pageOrProgram(s.page.ShareAnswer, httpio.HandleBody(s.bodies, created, s.links.Make)))
	e.GET("/shares", pageOrProgram(s.page.ListShares, httpio.Handle(ok, s.links.List)))
	e.DELETE("/shares/:id", httpio.Done(s.links.Shares.Store.DropShare, "/shares"))
}

// The address of a conversation is /agent/session/{id}; /sessions/{id} is an alias, below which it is changed.
func (s *Server) sessionRoutes(e *httpio.Router) {
	e.GET("/sessions", httpio.Handle(ok, s.sessions.List))
	for _, address := range []string{"/agent/session/:id", "/sessions/:id"} {
		e.GET(address, httpio.Handle(ok, s.sessions.History))
		e.DELETE(address, httpio.Done(s.sessions.Store.DeleteSession, "/?deleted=:id"))
	}
	e.GET("/agent/session/:id/export", s.exports.Session)
	e.PATCH("/sessions/:id", httpio.HandleBody(s.bodies, empty, s.sessions.Rename, "/c/:id"))
	e.POST("/sessions/:id/restore", httpio.Done(s.sessions.Store.RestoreSession, "/c/:id"))
	e.POST("/sessions/:id/head", s.sessions.SetHead)
	e.GET("/sessions/:id/queue", httpio.Handle(ok, s.sessions.Queue))
	e.POST("/sessions/:id/queue", s.sessions.Enqueue)
	e.PATCH("/sessions/:id/queue/:item", s.sessions.EditQueued)
	e.DELETE("/sessions/:id/queue/:item", s.sessions.DropQueued)
	e.POST("/sessions/:id/queue/:item/send", s.sessions.SendQueued)
}

func (s *Server) documentRoutes(e *httpio.Router) {
	d := s.documents
	e.POST("/documents", d.Upload)
	e.POST("/documents/samples", d.AddSamples)
	e.GET("/documents", pageOrProgram(s.page.Documents, httpio.Handle(ok, d.List)))
	e.GET("/documents/:id", httpio.Handle(ok, d.Get))
	e.DELETE("/documents/:id", d.Delete)
	e.GET("/documents/:id/text", d.Text)
	e.GET("/documents/:id/file", d.File)
	e.GET("/documents/:id/events", d.Events)
	e.GET("/documents/:id/pages/:page", d.PageImage)
	e.POST("/documents/:id/cancel", d.Changed(d.Library.Cancel))
	e.POST("/documents/:id/retry", d.Changed(d.Library.Retry))
	e.POST("/documents/:id/restore", d.Changed(d.Library.Restore))
	e.GET("/watched", httpio.Handle(ok, d.Watched))
	e.PUT("/watched", httpio.HandleBody(s.bodies, empty, d.SetWatched))
}

func (s *Server) standingRoutes(e *httpio.Router) {
	const kept = "/standing#kept-:id"
	e.GET("/standing", pageOrProgram(s.page.Standing, httpio.Handle(ok, s.standing.List)))
	e.POST("/standing", s.standing.Keep)
	e.GET("/standing/feed/:token", s.standing.Feed)
	e.POST("/standing/feed", s.page.MakeFeed)
	e.DELETE("/standing/feed", httpio.Done(s.standing.DropFeed, "/standing"))
	e.GET("/standing/webhook", httpio.Handle(ok, s.standing.Webhook))
	e.PUT("/standing/webhook", pageOrProgram(s.page.SetWebhook, httpio.HandleBody(s.bodies, ok, s.standing.SetWebhook)))
	e.DELETE("/standing/webhook", httpio.Done(s.standing.DropWebhook, "/standing"))
	e.GET("/standing/:id", httpio.Handle(ok, s.standing.Get))
	e.PATCH("/standing/:id", httpio.HandleBody(s.bodies, ok, s.standing.Change, kept))
	e.DELETE("/standing/:id", httpio.Done(s.standing.Store.DropStanding, "/standing"))
	e.POST("/standing/:id/ask", httpio.Handle(accepted, s.standing.Ask, kept))
}

func (s *Server) tableRoutes(e *httpio.Router) {
	const table, cell = "/tables/:id", "/tables/:id?from=:row#cell-:row-:column"
	edit := httpio.HandleBody(s.bodies, ok, s.tables.EditCell, cell)
	e.POST("/agent/table", s.tables.Make)
	e.GET("/tables", pageOrProgram(s.page.Tables, httpio.Handle(ok, s.tables.List)))
	e.GET("/tables/:id", pageOrProgram(s.page.Table, httpio.Handle(ok, s.tables.Get)))
	e.DELETE("/tables/:id", httpio.Done(s.tables.Filler.Delete, "/tables"))
	e.POST("/tables/:id/stop", httpio.Handle(ok, s.tables.Steered(s.tables.Filler.Stop), table))
	e.POST("/tables/:id/resume", httpio.Handle(ok, s.tables.Steered(s.tables.Filler.Resume), table))
	e.GET("/tables/:id/events", s.tables.Events)
	e.GET("/tables/:id/export", s.tables.Export)
	e.PATCH("/tables/:id/cells/:row/:column", page.OrForm(edit, s.page.CellRefused))
	e.POST("/tables/:id/cells/:row/:column/ask", httpio.Handle(accepted, s.tables.AskCell, cell))
}

func (s *Server) placeRoutes(e *httpio.Router) {
	const list = "/places"
	e.GET("/places", pageOrProgram(s.page.ShowPlaces, httpio.Handle(ok, s.places.List)))
	e.POST("/places", page.OrForm(httpio.HandleBody(s.bodies, created, s.places.Add, list), s.page.PlaceRefused))
	e.GET("/places/kinds", httpio.Handle(ok, s.places.ListKinds))
	e.GET("/places/:id", httpio.Handle(ok, s.places.Get))
	e.PATCH("/places/:id", page.OrForm(httpio.HandleBody(s.bodies, ok, s.places.Change, list), s.page.PlacesRefused))
	e.DELETE("/places/:id", page.OrForm(httpio.Handle(empty, s.places.Remove, list), s.page.PlacesRefused))
	e.POST("/places/:id/look", page.OrForm(httpio.Handle(accepted, s.places.Look, list), s.page.PlacesRefused))
	e.GET("/places/:id/items", httpio.Handle(ok, s.places.ListItems))
}

// inAPI reports whether a method and a route's path are part of the API.
func (s *Server) inAPI(method, path string) bool {
	return slices.Contains(s.directory.programs, method+" "+openapi.TemplatePath(path))
}

// pageRoutes adds the routes of the page, and those of OAuth, which have their own metadata.
//
// None of them is in GET /openapi.json. Forms that do what a program can do are sent to the program's route; see
// httpio.OverrideMethod.
func (s *Server) pageRoutes(e *httpio.Router) {
	e.GET("/", s.page.Start)
	e.GET("/c/:id", s.page.Session)
	e.GET("/c/:id/next", s.page.NextTurns)
	e.GET("/c/:id/events", s.page.SessionEvents)
	e.GET("/find", s.page.Find)
	e.GET("/choose", s.page.Choices)
	e.GET("/d/:id", s.page.Document)
	e.GET("/documents/events", s.page.LibraryEvents)
	e.GET("/documents/states", s.page.DocumentStates)
	e.POST("/documents/check", s.page.CheckFiles)
	e.POST("/share", s.documents.Share)
	e.GET("/leave", s.page.Leave)
	e.GET("/add", s.page.ShowAdd)
	e.POST("/add", s.page.Form(s.page.AddPage))
	e.GET("/runs/:id/stream", s.page.Stream)
	e.GET("/runs/:id/steps/:call/thought", s.page.Thought)
	e.GET("/places/new", s.page.NewPlace)
	e.POST("/tables", s.page.Form(s.page.MakeTable))
	e.GET("/tables/:id/cells", s.page.TableCells)
	e.GET("/tables/:id/cells/:row/:column", s.page.TableCell)
	e.GET("/folders", s.page.ShowFolders)
	e.POST("/folders", s.page.Form(s.page.FollowFolder))
	e.POST("/folders/stop", s.page.Form(s.page.StopFollowing))
	e.POST("/language", s.page.Form(s.page.ChooseLanguage))
	e.GET("/s/:token", s.page.Shared)
	e.GET("/signin", s.page.AskForKey)
	e.POST("/signin", s.page.Form(s.page.SignIn))
	e.POST("/signout", s.page.SignOut)
	e.GET(httpio.MetadataPath, s.oauth.Resource)
	e.GET(httpio.MetadataPath+httpio.MCPPath, s.oauth.Resource)
	e.GET("/.well-known/oauth-authorization-server", s.oauth.Server)
	e.POST("/oauth/register", s.oauth.Register)
	e.GET("/oauth/authorize", s.page.AskToAllow)
	e.POST("/oauth/authorize", s.page.Form(s.page.Allow))
	e.POST("/oauth/token", s.oauth.Token)
	e.POST("/oauth/revoke", s.oauth.Revoke)
	e.GET("/connections", s.page.Connections)
	e.POST("/connections/end", s.page.Form(s.page.EndConnection))
	e.GET("/static/:version/*", s.page.StaticFile)
	e.GET("/favicon.ico", s.page.Favicon)
}

// pageOrProgram handles an address that browsers and programs share: with page for a browser and its script, else
// with program.
//
// The header Vary (RFC 9110, section 12.5.5) prevents a cache from mixing HTML and JSON.
func pageOrProgram(page, program httpio.Handler) httpio.Handler {
	return func(c httpio.Context) error {
		c.Response().Header().Add("Vary", "Accept")
		if httpio.WantsHTML(c) || httpio.ByHTMX(c) {
			return page(c)
		}
		return program(c)
	}
}

// describedRoutes adds GET /openapi.json and GET /docs. The description is generated once, on first use.
//
// Both are equal for all users. A failure to describe a type is a bug; it is cached and answered with 500. The
// description depends on the program and its settings, so caches must revalidate it (no-cache).
func (s *Server) describedRoutes(e *httpio.Router) {
	document := sync.OnceValues(func() (*openapi.Document, error) {
		doc, err := openapi.Describe(s.userLimits, s.version)
		if err != nil {
			return nil, fmt.Errorf("describe the API: %w", err)
		}
		return doc, nil
	})
	e.GET("/openapi.json", func(c httpio.Context) error {
		doc, err := document()
		if err != nil {
			return err
		}
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.JSON(http.StatusOK, doc)
	})
	e.GET("/docs", func(c httpio.Context) error {
		doc, err := document()
		if err != nil {
			return err
		}
		return s.page.Docs(c, doc.Docs())
	})
}

// neverCompressed reports whether compression is off: for streams, which it would delay; for data that is compressed
// already; and for texts, where each of many slow readers would hold a compressor, which takes more memory than the
// part that is sent.
func neverCompressed(c httpio.Context) bool {
	path := c.Path()
	// The JSON responses of the first list are excluded as well: only the body, which is not read yet, determines
	// whether one is a stream.
	return httpio.WantsStream(c) ||
		strings.HasPrefix(path, "/static/") ||
		slices.Contains([]string{
			"/v1/chat/completions", "/v1/responses", "/v1/responses/:id", "/ui/chat", "/ag-ui", "/mcp", "/metrics",
		}, path) ||
		slices.ContainsFunc([]string{"/events", "/stream", "/file", "/text", "/pages/:page"}, func(end string) bool {
			return strings.HasSuffix(path, end)
		})
}
