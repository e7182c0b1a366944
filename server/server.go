// Package server is the HTTP server. It wires the handlers and has every route: page serves browsers, api programs,
// relay clients of OpenAI, the AI SDK and AG-UI, mcpserver other models, and openapi the API's description. Their
// packages do not import each other. Shared code is in ask, find, runlog and httpio; only httpio imports Echo.
//
// A request passes through Wrap (headers, deadlines), then the router's middleware and one handler.
// sendProblem answers all errors that handlers return. The files: server.go wires the handlers, routes.go has the
// routes, directory.go and problem.go answer failed requests, stats.go has the metrics.
//
// It must not contain domain logic: it reaches stores, models and documents only through the parts of Config.
package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/folders"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/mcpserver"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/server/oauth"
	"github.com/footnote/footnote/server/page"
	"github.com/footnote/footnote/server/relay"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
)

// Runs starts and controls runs; agent.Runs implements it.
//
// Each room has an interface with only its own methods, to simplify its tests.
type Runs interface {
	ask.Starter
	api.RunController
}

// Config wires a Server. Store, Feed, Library, Runs and Places are required.
//
// The comments of fields give the meaning of nil and zero. New modifies none of them and reads the Config only until
// it returns.
type Config struct {
	Store        chat.Store
	Feed         *chat.Feed
	Library      *corpus.Library
	Runs         Runs
	Log          *slog.Logger // nil: discards the log
	Version      string
	Commit       string              // of the build; empty: not known
	Date         string              // of the commit, in RFC 3339; empty: not known
	KeepDays     int                 // for the page: days that a session is kept after its last question; 0: for ever
	Models       func() []string     // the available models, the default first; nil: only the offline model
	ModelChooser modelchoice.Chooser // changes the model; zero: the settings decide
	Places       *follow.Follower    // follows places; required
	Pages        sources.Net         // the network for imported web pages
	Folders      folders.Chooser     // follows folders of this machine; zero: the settings decide
	Toolsets     []string            // for the page: the available toolsets, the default first
	Samples      fs.FS               // the documents that POST /documents/samples adds; nil: none
	Checks       []api.Check
	Hosts        []string             // further host names of the server; see httpio.Guard
	Origins      []string             // origins allowed to call the API; nil: only the server's own
	Metrics      *prometheus.Registry // nil: a new one
	Limits       httpio.Limits
	UserLimits   chat.Limits    // limits per user; the store and the library enforce most of them
	Keys         *keys.File     // the users; nil: every user is the local user
	Grants       *grants.Issuer // the users' grants to programs; nil: programs need a key

	Scheduler api.QuestionScheduler // stores questions that are asked again
	Webhooks  api.Webhooks          // sends their changes
	Tables    *grid.Filler          // creates and fills tables over documents

	Gather api.Gather // lets the agent search for POST /agent/retrieve; nil: a plain search
	// a failed agent has no plain search as fallback
	GatherAlone bool
	// FallbackScore is the minimum similarity, 0–1, of the semantic search that is Gather's fallback.
	FallbackScore float64
	Checker       api.Checker // lets a language model check search results
	// returns the system message for a budget, for histories of sessions; nil: no system message
	Rules func(chat.Budget) string
	Stats func() chat.RunStats // statistics of runs, for the metrics; nil: none
}

// Server is an HTTP handler. It is safe for concurrent use.
type Server struct {
	questions *api.Questions
	runs      *api.Runs
	sessions  *api.Sessions
	exports   *api.Exports
	feedback  *api.Feedback
	links     *api.Links
	passages  *api.Passages
	documents *api.Documents
	standing  *api.Standing
	tables    *api.Tables
	places    *api.Places
	models    *api.Models
	service   *api.Service

	relay *relay.Handlers
	mcp   *mcpserver.Handlers
	oauth *oauth.Handlers
	page  *page.Handlers

	bodies     httpio.Bodies
	limits     httpio.Limits
	userLimits chat.Limits
	version    string
	log        *slog.Logger
	guard      *httpio.Guard
	streams    *httpio.Streams
	metrics    *httpio.Metrics
	router     *httpio.Router
	directory  *directory
	handler    http.Handler
	http       *http.Server
}

// New wires a server. It neither listens nor starts a goroutine.
//
// It fails if a required part is missing, if one of Origins is invalid, and if the static files are broken. Metrics
// are registered with Config.Metrics, so a second server with the same registry panics in New.
func New(cfg Config) (*Server, error) {
	if cfg.Store == nil || cfg.Feed == nil || cfg.Library == nil || cfg.Runs == nil || cfg.Places == nil {
		return nil, errors.New("server: Store, Feed, Library, Runs and Places are required")
	}
	s := &Server{
		limits: cfg.Limits.WithDefaults(), userLimits: cfg.UserLimits, version: cfg.Version, log: cfg.Log,
		metrics: httpio.NewMetrics(cfg.Metrics),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.streams = httpio.NewStreams(s.limits, cfg.UserLimits)
	var err error
	if s.guard, err = httpio.NewGuard(cfg.Hosts, cfg.Origins, cfg.Keys); err != nil {
		return nil, err
	}
	if cfg.Grants != nil {
		s.guard.Tokens = cfg.Grants
	}
	if err := s.makeHandlers(cfg); err != nil {
		return nil, err
	}
	s.watchStats(cfg.Stats)
	s.router = s.buildRoutes()
	s.handler = httpio.Wrap(s.limits, s.router)
	// These limits fit all clients: headers take less than 10 seconds, a browser idle for two minutes reconnects,
	// and cookies and keys take far less than 64 KiB. There is no WriteTimeout, which would end streams: httpio.Wrap
	// sets a deadline for each write.
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

// makeHandlers creates the handlers, each with only its own dependencies.
func (s *Server) makeHandlers(cfg Config) error {
	// Without settings only the built-in model is available.
	if cfg.Models == nil {
		cfg.Models = func() []string { return []string{"offline"} }
	}
	s.bodies = httpio.Bodies{Max: s.limits.JSONBody}
	bodies := s.bodies
	logs := &runlog.Reader{Store: cfg.Store, Feed: cfg.Feed, Streams: s.streams, Log: s.log}
	asking := &ask.Questions{
		Store: cfg.Store, Runs: cfg.Runs, Bodies: bodies, Streams: s.streams, Metrics: s.metrics, Models: cfg.Models,
	}
	links := &shares.Service{Store: cfg.Store, Logs: logs, Gone: s.guard.Gone}
	s.relay = &relay.Handlers{
		Store: cfg.Store, Runs: cfg.Runs, Logs: logs, Questions: asking, Bodies: bodies,
		// Clients of these protocols send the whole conversation each time, with the outputs of its tools. The factor
		// is an estimate.
		Threads: httpio.Bodies{Max: 8 * s.limits.JSONBody},
	}
	s.mcp = &mcpserver.Handlers{
		Library: cfg.Library, Logs: logs, Questions: asking, Searcher: &find.Searcher{Store: cfg.Store}, Bodies: bodies,
		Log: s.log, Version: cfg.Version, Cancel: cfg.Runs.Cancel,
	}
	s.oauth = &oauth.Handlers{Grants: cfg.Grants, Log: s.log}
	s.page = &page.Handlers{
		Grants: cfg.Grants,
		Store:  cfg.Store, Feed: cfg.Feed, Library: cfg.Library, Logs: logs, Questions: asking, Keys: cfg.Keys,
		Bodies: bodies, Streams: s.streams, Guard: s.guard, Log: s.log,
		Models: cfg.Models, ModelChooser: cfg.ModelChooser, Folders: cfg.Folders, Places: cfg.Places, Shares: links,
		Webhooks: cfg.Webhooks, Tabler: cfg.Tables,
		Toolsets:   cfg.Toolsets,
		HasSamples: cfg.Samples != nil, MaxFile: s.limits.UploadFile, KeepDays: cfg.KeepDays,
		Build: buildLine(cfg),
	}
	if err := s.page.Prepare(); err != nil {
		return err
	}
	s.makeAPIHandlers(cfg, logs, asking, links)
	// Their packages do not import each other, so their only shared operation is passed here.
	s.page.PutPage = s.documents.PutPage
	return nil
}

// makeAPIHandlers creates the handlers for programs, one for each resource.
func (s *Server) makeAPIHandlers(cfg Config, logs *runlog.Reader, asking *ask.Questions, links *shares.Service) {
	s.questions = &api.Questions{Questions: asking, Logs: logs, Bodies: s.bodies, Fragment: s.page.AskFragment}
	s.runs = &api.Runs{Store: cfg.Store, Logs: logs, Runs: cfg.Runs, Bodies: s.bodies, Metrics: s.metrics}
	s.sessions = &api.Sessions{
		Store: cfg.Store, Feed: cfg.Feed, Logs: logs, Runs: cfg.Runs, Questions: asking, Bodies: s.bodies,
		Rules: cfg.Rules, Log: s.log,
	}
	s.exports = &api.Exports{Library: cfg.Library, Logs: logs, Bodies: s.bodies, Log: s.log}
	s.feedback = &api.Feedback{Store: cfg.Store, Bodies: s.bodies}
	s.links = &api.Links{Shares: links}
	s.passages = &api.Passages{
		Library: cfg.Library, Searcher: &find.Searcher{Store: cfg.Store}, Checker: cfg.Checker, Gatherer: cfg.Gather,
		GatherAlone: cfg.GatherAlone, FallbackScore: cfg.FallbackScore, Bodies: s.bodies, Log: s.log,
	}
	s.documents = &api.Documents{
		Store: cfg.Store, Library: cfg.Library, Pages: addpage.New(cfg.Library, cfg.Pages), Samples: cfg.Samples,
		Bodies: s.bodies, Streams: s.streams, Metrics: s.metrics, Limits: s.limits, Log: s.log,
		Refused: s.page.UploadRefused,
	}
	s.standing = &api.Standing{
		Store: cfg.Store, Scheduler: cfg.Scheduler, Webhooks: cfg.Webhooks, Guard: s.guard, Bodies: s.bodies,
	}
	s.tables = &api.Tables{Store: cfg.Store, Filler: cfg.Tables, Streams: s.streams, Bodies: s.bodies}
	s.places = &api.Places{Follower: cfg.Places, Guard: s.guard}
	s.models = &api.Models{Chooser: cfg.ModelChooser, Names: cfg.Models, Guard: s.guard}
	s.service = &api.Service{
		Store: cfg.Store, Library: cfg.Library, Checks: cfg.Checks, Version: cfg.Version, Commit: cfg.Commit,
		Date: cfg.Date, Streams: s.streams, Guard: s.guard, Log: s.log,
	}
}

// buildLine formats the program's version.
//
// The commit is truncated to 7 characters, as in git, and left out if the version contains it; the date is truncated
// to its day.
func buildLine(cfg Config) string {
	const hash, day = 7, len("2006-01-02")
	words := []string{cfg.Version}
	if commit := cfg.Commit[:min(len(cfg.Commit), hash)]; commit != "" && !strings.Contains(cfg.Version, commit) {
		words = append(words, commit)
	}
	if cfg.Date != "" {
		words = append(words, cfg.Date[:min(len(cfg.Date), day)])
	}
	return strings.Join(words, " · ")
}

// Handler returns the handler for all requests, for a test server or another mux.
func (s *Server) Handler() http.Handler { return s.handler }

// ListenOn records the listener's address before Serve does, so that LocalUserAlone is correct in between.
func (s *Server) ListenOn(addr net.Addr) { s.guard.ListenOn(addr) }

// LocalUserAlone reports whether only the user of this machine uses the server; see httpio.Guard.
func (s *Server) LocalUserAlone() bool { return s.guard.LocalUserAlone() }

// Serve handles requests on ln until Shutdown; then it returns nil. Without keys only known Host names are accepted.
//
// Other errors than that of Shutdown are returned unchanged.
func (s *Server) Serve(ln net.Listener) error {
	s.ListenOn(ln.Addr())
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain makes /readyz fail, refuses new questions, and ends the streams with a hint to reconnect. Other requests are
// handled as before.
//
// It is idempotent and irreversible; Shutdown calls it as well.
func (s *Server) Drain() { s.streams.Drain() }

// Shutdown drains, accepts no new requests, and waits for those under way. If ctx ends first, it closes the open
// connections and returns ctx's error.
//
// Streams are ended first, since http.Server waits for every open request.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
