// Package server speaks HTTP: the page, its streams and the API for programs. It and the packages below it are the only ones that know Echo.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"footnote/chat"
	"footnote/corpus"
	"footnote/keys"
	"footnote/server/httpio"
)

// Runs starts and steers the work on questions. agent.Runs is the one that serves.
type Runs interface {
	// Start stores a run and works on it apart from ctx, which bounds the storing only. fresh is false when the request's
	// IdempotencyKey named an earlier run.
	Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error)
	// Cancel stops a run; one that is over already fails with chat.CodeConflict.
	Cancel(ctx context.Context, s chat.Scope, runID string) error
	// AnswerNow makes a run answer from what it has; one that is over already fails with chat.CodeConflict.
	AnswerNow(ctx context.Context, s chat.Scope, runID string) error
	// Approve lets a call that waits for a person run, with another input if one is given. chat.CodeNotFound for one that never waited,
	// chat.CodeConflict for one that was decided or whose run is over, chat.CodeInvalid for an input that the tool does not take.
	Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error
	// Deny keeps such a call from running; the model is told.
	Deny(ctx context.Context, s chat.Scope, runID, callID string) error
	// Rerun starts a run beside an earlier one that is over: its steps up to a tool call, that call with another input, and what comes of it.
	Rerun(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string) (run chat.Run, fresh bool, err error)
	// Enqueue lets a question wait until its session's run is over.
	Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error)
	// SendNow puts a waiting question first and ends the run under way: with answer, by an answer from what it has.
	SendNow(ctx context.Context, s chat.Scope, sessionID, id string, answer bool) error
	// Resend sends a session's first waiting question if nothing is in its way any more.
	Resend(ctx context.Context, s chat.Scope, sessionID string)
}

// Check is one dependency that GET /health asks.
type Check struct {
	Name     string
	Critical bool                             // its failure makes the server "down" (503), not "degraded" (200)
	Probe    func(ctx context.Context) error  // has 2 s; a chat.Error's message is shown, anything else is only logged
	Says     func(ctx context.Context) string // what to tell of it while it is well; nil: nothing
}

// Config wires a Server. Store, Feed, Library and Runs are required.
type Config struct {
	Store     chat.Store
	Feed      *chat.Feed
	Library   *corpus.Library
	Runs      Runs
	Log       *slog.Logger // nil: nothing is logged
	Version   string
	KeepDays  int      // for the page: a session is kept so many days after its last question; 0: for ever
	ModelName string   // for the page: "gpt-4o-mini", "offline"
	Models    []string // for the page: those that a question may name, the usual one first
	Toolsets  []string // for the page: those that a question may name, the usual one first
	Offline   bool     // no model is set: rules choose the tools
	Samples   fs.FS    // the documents that POST /documents/samples adds; nil: there are none
	Checks    []Check
	Hosts     []string             // further names the server is reached by; see hostAllowed
	Origins   []string             // further origins whose pages may post, such as "https://ask.example.org"
	Metrics   *prometheus.Registry // nil: one of its own
	Limits    httpio.Limits
	Users     chat.Limits // what each user may do; the store and the library hold to most of it themselves
	Keys      *keys.File  // who may use it; nil: everybody is the local user

	Gather gathering                // lets the agent search for POST /agent/retrieve; nil: a plain search
	Rules  func(chat.Budget) string // what models are told with a budget, for the histories of sessions; nil: they have no system message
	Tally  func() chat.Tally        // what runs did so far, for the metrics; nil: they have none of it
}

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	cfg     Config
	limits  httpio.Limits
	store   chat.Store
	feed    *chat.Feed
	library *corpus.Library
	runs    Runs
	log     *slog.Logger
	echo    *echo.Echo
	handler http.Handler
	metrics *httpio.Metrics
	guard   *httpio.Guard
	bodies  httpio.Bodies
	streams *httpio.Streams
	frames  httpio.FramePool
	pages   *pages
	http    *http.Server
}

// New wires a server. It neither listens nor starts a goroutine.
func New(cfg Config) (*Server, error) {
	if cfg.Store == nil || cfg.Feed == nil || cfg.Library == nil || cfg.Runs == nil {
		return nil, errors.New("server: Store, Feed, Library and Runs are required")
	}
	s := &Server{
		cfg: cfg, limits: cfg.Limits.WithDefaults(), store: cfg.Store, feed: cfg.Feed, library: cfg.Library, runs: cfg.Runs,
		log: cfg.Log, metrics: httpio.NewMetrics(cfg.Metrics),
	}
	s.bodies, s.streams = httpio.Bodies{Max: s.limits.JSONBody}, httpio.NewStreams(s.limits, cfg.Users)
	var err error
	if s.guard, err = httpio.NewGuard(cfg.Hosts, cfg.Origins, cfg.Keys); err != nil {
		return nil, err
	}
	if s.pages, err = newPages(cfg.Feed, cfg.Library.ExpectPage, cfg.ModelName, cfg.Models); err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.watch()
	s.echo = s.routes()
	s.handler = httpio.Wrap(s.limits, s.echo)
	s.http = &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.http.RegisterOnShutdown(s.Drain)
	return s, nil
}

// Handler answers every request, for a test server or another mux.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers requests on ln until Shutdown; then it returns nil. Without keys only known Host names are let in.
func (s *Server) Serve(ln net.Listener) error {
	s.guard.OnNetwork.Store(!loopback(ln.Addr()))
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain makes /readyz fail, refuses new questions, and ends the streams with a hint to come back. Other requests are served as before.
func (s *Server) Drain() { s.streams.Drain() }

// Shutdown drains, takes no new requests, and waits for those under way. When ctx ends first, what is still open is cut off and ctx's
// error returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
