package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/openapi"
)

// buildRoutes builds the router. Every route is one line here or in pageRoutes.
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
	e.Use(httpio.Observe(
		s.metrics, s.log,
	), httpio.SpeakLanguage, s.guard.CheckHost, s.guard.CheckOrigin(s.inAPI), s.guard.IdentifyUser, httpio.CheckQuery(
		openapi.QueryNames,
	), httpio.Compress(neverCompressed))

	e.POST("/chat", s.api.Ask)
	e.GET("/agent/runs/:id", s.api.GetRun)
	e.GET("/agent/runs/:id/events", s.api.StreamEvents)
	e.POST("/agent/runs/:id/cancel", s.api.CancelRun)
	e.POST("/agent/runs/:id/answer-now", s.api.AnswerNow)
	e.GET("/agent/runs/:id/steps/:call/output", s.api.GetStepOutput)
	e.POST("/agent/runs/:id/steps/:call/approve", s.api.ApproveStep)
	e.POST("/agent/runs/:id/steps/:call/deny", s.api.DenyStep)
	e.POST("/agent/runs/:id/steps/:call/rerun", s.api.RerunStep)
	e.POST("/agent/runs/:id/feedback", s.api.SetFeedback)
	e.DELETE("/agent/runs/:id/feedback", s.api.DropFeedback)
	e.GET("/agent/runs/:id/export", s.api.ExportRun)
	e.POST("/agent/runs/:id/shares", s.api.ShareRun)
	e.GET("/feedback", s.api.ListFeedback)
	e.GET("/shares", pageOrProgram(s.page.ListShares, s.api.ListShares))
	e.DELETE("/shares/:id", s.api.EndShare)
	e.POST("/evidence/verify", s.api.VerifyEvidence)
	e.POST("/agent/chat", s.api.AgentChat)
	e.POST("/agent/chat/structured", s.api.AgentChatStructured)
	e.POST("/agent/query", s.api.AgentQuery)
	e.POST("/agent/retrieve", s.api.AgentRetrieve)
	e.GET("/agent/session/:id", s.api.GetHistory)
	e.DELETE("/agent/session/:id", s.api.DeleteSession)
	e.GET("/agent/session/:id/export", s.api.ExportSession)
	e.POST("/search", s.api.Search)
	e.POST("/mcp", s.mcp.Serve)

	e.GET("/sessions", s.api.ListSessions)
	e.PATCH("/sessions/:id", s.api.RenameSession)
	e.DELETE("/sessions/:id", s.api.DeleteSession)
	e.POST("/sessions/:id/restore", s.api.RestoreSession)
	e.POST("/sessions/:id/head", s.api.SetHead)
	e.GET("/sessions/:id/queue", s.api.GetQueue)
	e.POST("/sessions/:id/queue", s.api.Enqueue)
	e.PATCH("/sessions/:id/queue/:item", s.api.EditQueued)
	e.DELETE("/sessions/:id/queue/:item", s.api.DropQueued)
	e.POST("/sessions/:id/queue/:item/send", s.api.SendQueued)

	e.POST("/documents", s.api.Upload)
	e.POST("/documents/samples", s.api.AddSamples)
	e.GET("/documents", pageOrProgram(s.page.Documents, s.api.ListDocuments))
	e.GET("/documents/:id", s.api.GetDocument)
	e.DELETE("/documents/:id", s.api.DeleteDocument)
	e.GET("/documents/:id/text", s.api.DocumentText)
	e.GET("/documents/:id/file", s.api.DocumentFile)
	e.GET("/documents/:id/events", s.api.DocumentEvents)
	e.GET("/documents/:id/pages/:page", s.api.PageImage)
	e.POST("/documents/:id/cancel", s.api.CancelDocument)
	e.POST("/documents/:id/retry", s.api.RetryDocument)
	e.POST("/documents/:id/restore", s.api.RestoreDocument)

	e.GET("/watched", s.api.ListWatched)
	e.PUT("/watched", s.api.SetWatched)

	e.GET("/standing", pageOrProgram(s.page.Standing, s.api.ListStanding))
	e.POST("/standing", s.api.KeepStanding)
	e.GET("/standing/feed/:token", s.api.StandingFeed)
	e.POST("/standing/feed", s.page.MakeFeed)
	e.DELETE("/standing/feed", s.api.DropFeed)
	e.GET("/standing/webhook", s.api.GetWebhook)
	e.PUT("/standing/webhook", s.api.SetWebhook)
	e.DELETE("/standing/webhook", s.api.DropWebhook)
	e.GET("/standing/:id", s.api.GetStanding)
	e.PATCH("/standing/:id", s.api.ChangeStanding)
	e.DELETE("/standing/:id", s.api.DropStanding)
	e.POST("/standing/:id/ask", s.api.AskStanding)

	e.POST("/agent/table", s.api.MakeTable)
	e.GET("/tables", pageOrProgram(s.page.Tables, s.api.ListTables))
	e.GET("/tables/:id", pageOrProgram(s.page.Table, s.api.GetTable))
	e.DELETE("/tables/:id", s.api.DropTable)
	e.POST("/tables/:id/stop", s.api.StopTable)
	e.POST("/tables/:id/resume", s.api.ResumeTable)
	e.GET("/tables/:id/events", s.api.TableEvents)
	e.GET("/tables/:id/export", s.api.ExportTable)
	e.PATCH("/tables/:id/cells/:row/:column", s.api.EditCell)
	e.POST("/tables/:id/cells/:row/:column/ask", s.api.AskCell)

	e.GET("/places", pageOrProgram(s.page.ShowPlaces, s.api.ListPlaces))
	e.POST("/places", s.api.AddPlace)
	e.GET("/places/kinds", s.api.ListPlaceKinds)
	e.GET("/places/:id", s.api.GetPlace)
	e.PATCH("/places/:id", s.api.ChangePlace)
	e.DELETE("/places/:id", s.api.RemovePlace)
	e.POST("/places/:id/look", s.api.LookAtPlace)
	e.GET("/places/:id/items", s.api.ListPlaceItems)

	e.GET("/model", pageOrProgram(s.page.ShowModels, s.api.FindModels))
	e.PUT("/model", s.api.ChooseModel)

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

	e.GET("/health", s.api.Health)
	e.GET("/readyz", s.api.Ready)
	e.GET("/metrics", s.metrics.Handler())
	programs, pages := httpio.Routes(e), httpio.NewRouter()
	s.pageRoutes(e)
	s.pageRoutes(pages)
	s.directory = newDirectory(programs, httpio.Routes(pages))
	return e
}

// inAPI reports whether a method and a route's path are part of the API.
func (s *Server) inAPI(method, path string) bool {
	return slices.Contains(s.directory.programs, method+" "+openapi.TemplatePath(path))
}

// pageRoutes adds the routes of the page, and those of OAuth, which have their own metadata.
//
// None of them is in GET /openapi.json. Forms support only GET and POST, so the page's equivalents of PATCH and
// DELETE have paths that end with the verb.
func (s *Server) pageRoutes(e *httpio.Router) {
	e.GET("/", s.page.Start)
	e.GET("/c/:id", s.page.Session)
	e.POST("/c/:id/rename", s.page.RenameForm)
	e.POST("/c/:id/delete", s.page.DeleteForm)
	e.POST("/c/:id/restore", s.page.RestoreForm)
	e.POST("/c/:id/head", s.page.HeadForm)
	e.GET("/c/:id/next", s.page.NextTurns)
	e.GET("/c/:id/events", s.page.SessionEvents)
	e.POST("/c/:id/queue", s.api.Enqueue)
	e.POST("/c/:id/queue/:item/edit", s.api.EditQueued)
	e.POST("/c/:id/queue/:item/delete", s.api.DropQueued)
	e.POST("/c/:id/queue/:item/send", s.api.SendQueued)
	e.GET("/find", s.page.Find)
	e.GET("/choose", s.page.Choices)
	e.GET("/d/:id", s.page.Document)
	e.GET("/documents/events", s.page.LibraryEvents)
	e.GET("/documents/states", s.page.DocumentStates)
	e.POST("/documents/check", s.page.CheckFiles)
	e.POST("/share", s.api.Share)
	e.GET("/leave", s.page.Leave)
	e.GET("/add", s.page.ShowAdd)
	e.POST("/add", s.page.AddPage)
	e.POST("/documents/:id/delete", s.api.DeleteDocumentForm)
	e.GET("/runs/:id/stream", s.page.Stream)
	e.GET("/runs/:id/steps/:call/thought", s.page.Thought)
	e.POST("/model", s.page.ChooseModel)
	e.GET("/places/new", s.page.NewPlace)
	e.POST("/places/new", s.page.AddPlace)
	e.POST("/places/:id/act", s.page.ActOnPlace)
	e.POST("/tables", s.page.MakeTable)
	e.GET("/tables/:id/cells", s.page.TableCells)
	e.POST("/tables/:id/act", s.page.ActOnTable)
	e.GET("/tables/:id/cells/:row/:column", s.page.TableCell)
	e.POST("/tables/:id/cells/:row/:column", s.page.ChangeCell)
	e.GET("/folders", s.page.ShowFolders)
	e.POST("/folders", s.page.FollowFolder)
	e.POST("/folders/stop", s.page.StopFollowing)
	e.POST("/standing/feed/delete", s.page.DropFeedForm)
	e.POST("/standing/webhook", s.page.SetWebhookForm)
	e.POST("/standing/webhook/delete", s.page.DropWebhookForm)
	e.POST("/standing/:id/pause", s.api.PauseStandingForm)
	e.POST("/standing/:id/delete", s.api.DropStandingForm)
	e.POST("/language", s.page.ChooseLanguage)
	e.POST("/shares", s.page.ShareAnswer)
	e.POST("/shares/:id/delete", s.page.EndShare)
	e.GET("/s/:token", s.page.Shared)
	e.GET("/signin", s.page.AskForKey)
	e.POST("/signin", s.page.SignIn)
	e.POST("/signout", s.page.SignOut)
	e.GET(httpio.MetadataPath, s.oauth.Resource)
	e.GET(httpio.MetadataPath+httpio.MCPPath, s.oauth.Resource)
	e.GET("/.well-known/oauth-authorization-server", s.oauth.Server)
	e.POST("/oauth/register", s.oauth.Register)
	e.GET("/oauth/authorize", s.page.AskToAllow)
	e.POST("/oauth/authorize", s.page.Allow)
	e.POST("/oauth/token", s.oauth.Token)
	e.POST("/oauth/revoke", s.oauth.Revoke)
	e.GET("/connections", s.page.Connections)
	e.POST("/connections/end", s.page.EndConnection)
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
