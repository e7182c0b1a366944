package server

import (
	"io"
	"strings"

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

	e.POST("/chat", s.ask)
	e.GET("/agent/runs/:id", s.getRun)
	e.GET("/agent/runs/:id/events", s.streamEvents)
	e.POST("/agent/runs/:id/cancel", s.cancelRun)
	e.POST("/agent/runs/:id/answer-now", s.answerNow)
	e.GET("/agent/runs/:id/steps/:call/output", s.getStepOutput)
	e.POST("/agent/runs/:id/steps/:call/approve", s.approveStep)
	e.POST("/agent/runs/:id/steps/:call/deny", s.denyStep)
	e.POST("/agent/runs/:id/steps/:call/rerun", s.rerunStep)
	e.POST("/agent/runs/:id/feedback", s.setFeedback)
	e.DELETE("/agent/runs/:id/feedback", s.dropFeedback)
	e.GET("/agent/runs/:id/export", s.exportRun)
	e.GET("/feedback", s.listFeedback)
	e.POST("/evidence/verify", s.verifyEvidence)
	e.POST("/agent/chat", s.agentChat)
	e.POST("/agent/chat/structured", s.agentChatStructured)
	e.POST("/agent/query", s.agentQuery)
	e.POST("/agent/retrieve", s.agentRetrieve)
	e.GET("/agent/session/:id", s.getHistory)
	e.DELETE("/agent/session/:id", s.deleteSession)
	e.POST("/search", s.search)
	e.POST("/mcp", s.mcp)

	e.GET("/sessions", s.listSessions)
	e.PATCH("/sessions/:id", s.renameSession)
	e.DELETE("/sessions/:id", s.deleteSession)
	e.POST("/sessions/:id/restore", s.restoreSession)
	e.POST("/sessions/:id/head", s.setHead)
	e.GET("/sessions/:id/queue", s.getQueue)
	e.POST("/sessions/:id/queue", s.enqueue)
	e.PATCH("/sessions/:id/queue/:item", s.editQueued)
	e.DELETE("/sessions/:id/queue/:item", s.dropQueued)
	e.POST("/sessions/:id/queue/:item/send", s.sendQueued)

	e.POST("/documents", s.upload)
	e.POST("/documents/samples", s.addSamples)
	e.GET("/documents", s.documents)
	e.GET("/documents/:id", s.getDocument)
	e.DELETE("/documents/:id", s.deleteDocument)
	e.GET("/documents/:id/text", s.documentText)
	e.GET("/documents/:id/file", s.documentFile)
	e.GET("/documents/:id/events", s.documentEvents)
	e.GET("/documents/:id/pages/:page", s.pageImage)
	e.POST("/documents/:id/cancel", s.cancelDocument)
	e.POST("/documents/:id/retry", s.retryDocument)
	e.POST("/documents/:id/restore", s.restoreDocument)

	s.v1Routes(e)
	s.describedRoutes(e)

	e.GET("/health", s.health)
	e.GET("/readyz", s.ready)
	e.GET("/metrics", s.metrics.Handler())
	s.pageRoutes(e)
	return e
}

// neverCompressed is true for streams, which compression would hold back, and for what is compressed already.
func neverCompressed(c echo.Context) bool {
	path := c.Path()
	return httpio.WantsStream(c) || path == "/v1/chat/completions" || path == "/mcp" || strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/stream") ||
		strings.HasSuffix(path, "/file") || strings.HasSuffix(path, "/pages/:page") || path == "/metrics"
}
