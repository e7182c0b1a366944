package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"footnote/server/httpio"
)

// routes builds the router. Every route is one line here or in pageRoutes.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = httpio.ErrorHandler(s.log, s.sendProblem)
	e.Use(httpio.Observe(s.metrics, s.log), s.guard.CheckHost, s.guard.CheckOrigin, s.guard.CheckUser, httpio.CheckQuery(queryNames), middleware.GzipWithConfig(middleware.GzipConfig{
		Skipper: neverCompressed, Level: 2, MinLength: 1024,
	}))

	e.POST("/chat", s.api.ask)
	e.GET("/agent/runs/:id", s.api.getRun)
	e.GET("/agent/runs/:id/events", s.api.streamEvents)
	e.POST("/agent/runs/:id/cancel", s.api.cancelRun)
	e.POST("/agent/runs/:id/answer-now", s.api.answerNow)
	e.GET("/agent/runs/:id/steps/:call/output", s.api.getStepOutput)
	e.POST("/agent/runs/:id/steps/:call/approve", s.api.approveStep)
	e.POST("/agent/runs/:id/steps/:call/deny", s.api.denyStep)
	e.POST("/agent/runs/:id/steps/:call/rerun", s.api.rerunStep)
	e.POST("/agent/runs/:id/feedback", s.api.setFeedback)
	e.DELETE("/agent/runs/:id/feedback", s.api.dropFeedback)
	e.GET("/agent/runs/:id/export", s.api.exportRun)
	e.GET("/feedback", s.api.listFeedback)
	e.POST("/evidence/verify", s.api.verifyEvidence)
	e.POST("/agent/chat", s.api.agentChat)
	e.POST("/agent/chat/structured", s.api.agentChatStructured)
	e.POST("/agent/query", s.api.agentQuery)
	e.POST("/agent/retrieve", s.api.agentRetrieve)
	e.GET("/agent/session/:id", s.api.getHistory)
	e.DELETE("/agent/session/:id", s.api.deleteSession)
	e.POST("/search", s.api.search)
	e.POST("/mcp", s.mcp.Serve)

	e.GET("/sessions", s.api.listSessions)
	e.PATCH("/sessions/:id", s.api.renameSession)
	e.DELETE("/sessions/:id", s.api.deleteSession)
	e.POST("/sessions/:id/restore", s.api.restoreSession)
	e.POST("/sessions/:id/head", s.api.setHead)
	e.GET("/sessions/:id/queue", s.api.getQueue)
	e.POST("/sessions/:id/queue", s.api.enqueue)
	e.PATCH("/sessions/:id/queue/:item", s.api.editQueued)
	e.DELETE("/sessions/:id/queue/:item", s.api.dropQueued)
	e.POST("/sessions/:id/queue/:item/send", s.api.sendQueued)

	e.POST("/documents", s.api.upload)
	e.POST("/documents/samples", s.api.addSamples)
	e.GET("/documents", either(s.page.documentsPage, s.api.listDocuments))
	e.GET("/documents/:id", s.api.getDocument)
	e.DELETE("/documents/:id", s.api.deleteDocument)
	e.GET("/documents/:id/text", s.api.documentText)
	e.GET("/documents/:id/file", s.api.documentFile)
	e.GET("/documents/:id/events", s.api.documentEvents)
	e.GET("/documents/:id/pages/:page", s.api.pageImage)
	e.POST("/documents/:id/cancel", s.api.cancelDocument)
	e.POST("/documents/:id/retry", s.api.retryDocument)
	e.POST("/documents/:id/restore", s.api.restoreDocument)

	e.POST("/v1/chat/completions", s.v1.Chat)
	e.GET("/v1/models", s.v1.Models)
	e.GET("/v1/models/:model", s.v1.Model)
	s.describedRoutes(e)

	e.GET("/health", s.api.health)
	e.GET("/readyz", s.api.ready)
	e.GET("/metrics", s.metrics.Handler())
	s.pageRoutes(e)
	return e
}

// pageRoutes adds the routes of the page.
func (s *Server) pageRoutes(e *echo.Echo) {
	e.GET("/", s.page.startPage)
	e.GET("/c/:id", s.page.sessionPage)
	e.POST("/c/:id/rename", s.page.renameForm)
	e.POST("/c/:id/delete", s.page.deleteForm)
	e.POST("/c/:id/restore", s.page.restoreForm)
	e.POST("/c/:id/head", s.page.headForm)
	e.GET("/c/:id/next", s.page.nextTurns)
	e.GET("/c/:id/events", s.page.sessionEvents)
	e.POST("/c/:id/queue", s.api.enqueue)
	e.POST("/c/:id/queue/:item/edit", s.api.editQueued)
	e.POST("/c/:id/queue/:item/delete", s.api.dropQueued)
	e.POST("/c/:id/queue/:item/send", s.api.sendQueued)
	e.GET("/find", s.page.findPage)
	e.GET("/choose", s.page.chooseList)
	e.GET("/d/:id", s.page.viewDocument)
	e.GET("/leave", s.page.leave)
	e.POST("/documents/:id/delete", s.api.deleteDocumentForm)
	e.GET("/runs/:id/stream", s.page.streamPage)
	e.GET("/runs/:id/steps/:call/thought", s.page.showThought)
	e.GET("/signin", s.page.askForKey)
	e.POST("/signin", s.page.signIn)
	e.POST("/signout", s.page.signOut)
	e.GET("/static/:version/*", s.page.staticFile)
	e.GET("/favicon.ico", s.page.favicon)
}

// either answers an address that browsers and programs share: with a page for a browser and its script, else as a program gets it.
func either(page, program echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Add("Vary", "Accept")
		if httpio.WantsHTML(c) || httpio.ByHTMX(c) {
			return page(c)
		}
		return program(c)
	}
}

// describedRoutes adds GET /openapi.json and GET /docs. The description is made once, when it is first asked for.
func (s *Server) describedRoutes(e *echo.Echo) {
	document := sync.OnceValues(func() (*apiDocument, error) {
		doc, err := describe(s.limits, s.users, s.version)
		if err != nil {
			return nil, fmt.Errorf("describe the API: %w", err)
		}
		return doc, nil
	})
	e.GET("/openapi.json", func(c echo.Context) error {
		doc, err := document()
		if err != nil {
			return err
		}
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.JSON(http.StatusOK, doc)
	})
	e.GET("/docs", func(c echo.Context) error {
		doc, err := document()
		if err != nil {
			return err
		}
		return s.page.docsPage(c, doc.docs)
	})
}

// neverCompressed is true for streams, which compression would hold back, and for what is compressed already.
func neverCompressed(c echo.Context) bool {
	path := c.Path()
	return httpio.WantsStream(c) || path == "/v1/chat/completions" || path == "/mcp" || strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/stream") ||
		strings.HasSuffix(path, "/file") || strings.HasSuffix(path, "/pages/:page") || path == "/metrics"
}
