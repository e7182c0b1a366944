package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"footnote/agent"
	agentrun "footnote/agent/run"
	"footnote/chat"
	"footnote/cmd/footnote/datadir"
	"footnote/cmd/footnote/release"
	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/embed/bert"
	"footnote/corpus/extract"
	"footnote/corpus/extract/worker"
	"footnote/docs"
	"footnote/grants"
	"footnote/grid"
	"footnote/keys"
	"footnote/llm/offline"
	"footnote/llm/openai"
	"footnote/mcp"
	"footnote/places/follow"
	"footnote/server"
	"footnote/server/api"
	"footnote/server/httpio"
	"footnote/server/modelchoice"
	"footnote/standing"
	"footnote/standing/webhook"
)

// workerIdle is how long a worker waits for more work: pages of a document that somebody looks at come without its
// start.
const workerIdle = 5 * time.Minute

// app is a whole Footnote: every part, wired. It is the only place that knows all packages.
type app struct {
	stores  *stores
	feed    *chat.Feed
	files   *worker.Pool
	remote  *openai.Model      // nil without an OpenAI-compatible server
	embeds  *bert.Embedder     // nil unless a model in this process makes the vectors
	ranks   closableReranker   // nil: there is no reranker
	similar offline.Similarity // nil without vectors
	desk    *modelDesk
	library *corpus.Library
	tools   *mcp.Client // nil without servers of tools
	runs    *agent.Runs
	keeper  *standing.Keeper
	hooks   *webhook.Sender
	tables  *grid.Filler
	keys    *keys.File
	grants  *grants.Book
	server  *server.Server
	folders []*folderWatch // that the settings name
	places  *follow.Follower
	chosen  *folderDesk // follows others; nil: none can be chosen
}

// wireApp builds all parts on a claimed directory. Nothing runs yet but the store's writer.
func wireApp(ctx context.Context, set *settings.Settings, built release.Info, dir *datadir.Dir, log *slog.Logger) (_ *app, err error) {
	a := &app{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	a.files, err = newWorkers(dir, log) //nolint:contextcheck // workers outlive the start; close ends them
	if err != nil {
		return nil, err
	}
	if a.stores, err = openStores(ctx, set, dir, log); err != nil {
		return nil, err
	}
	if err = a.wireLibrary(set, dir, log); err != nil {
		return nil, err
	}
	a.stores.chats.SetLimits(set.UserLimits())
	a.feed = chat.NewFeed(a.stores.chats)
	a.desk = &modelDesk{log: log, similar: a.similar}
	a.desk.stopping, a.desk.stop = context.WithCancel(context.WithoutCancel(ctx)) // close ends it
	first, err := newAnswering(set, a.remote, a.similar, log)
	if err != nil {
		return nil, err
	}
	a.desk.now.Store(first)
	prices, err := set.PriceTable()
	if err != nil {
		return nil, err
	}
	search, err := set.WebSearch()
	if err != nil {
		return nil, err
	}
	if a.tools, err = set.ToolServers(built.Version, log); err != nil {
		return nil, err
	}
	if a.keys, err = openKeys(set); err != nil {
		return nil, err
	}
	a.grants = &grants.Book{Store: a.stores.grants, Keys: a.keys, Log: log}
	a.runs, err = agent.NewRuns(agent.Config{
		Config: agentrun.Config{
			Store: a.stores.chats, Feed: a.feed, Library: a.library, Reranker: a.ranks != nil, Model: first.models.main,
			Log: log, Prices: prices,
			Web: search, ApproveWeb: set.WebApprove == "always", MCP: a.tools,
			Toolset: set.AgentToolset, Tools: set.AgentTools, Budget: set.Budget(),
			Temperature: set.AgentTemperature,
			MaxTokens:   set.AgentMaxTokens,
			ToolTimeout: set.AgentTimeoutPerTool, Features: set.Features(), Memory: set.Memory(),
			Framework: set.Framework(), Guard: set.Guard(),
			SystemPrompt: set.SystemPrompt(),
		},
		MaxQuestions: set.SessionMaxTurns, KeepSessions: time.Duration(set.SessionKeepDays) * 24 * time.Hour,
		MaxRuns: set.MaxRuns, Shared: a.withKeys,
		Exclusive: a.stores.exclusive, Lease: set.RunLease, Revoked: a.keys.Revoked, GiveWay: a.holdVectors(),
	})
	if err != nil {
		return nil, err
	}
	a.runs.Use(first.forRuns(log))
	a.desk.runs = a.runs
	a.keeper = standing.New(standing.Config{Store: a.stores.chats, Library: a.library, Runs: a.runs, Log: log})
	a.tables = grid.New(grid.Config{Store: a.stores.chats, Library: a.library, Runs: a.runs, Log: log})
	a.tellWebhooks(set, log)
	a.followPlaces(set, dir, log)
	samples, err := fs.Sub(docs.Handbook, "handbook")
	if err != nil {
		return nil, err
	}
	gather := func(ctx context.Context, user string, req chat.RunRequest, most int) (api.Gathered, error) {
		g, err := a.runs.Gather(ctx, user, req, most)
		return api.Gathered(g), err
	}
	a.server, err = server.New(server.Config{ //nolint:contextcheck // each request has its own
		Keys: a.keys, Grants: a.grants, UserLimits: set.UserLimits(),
		Keeper: a.keeper, Webhooks: a.hooks, Tables: a.tables,
		Gather: gather, GatherAlone: !set.AgentFallbackToFixedPipeline, Rules: a.runs.Rules, Stats: a.runs.Stats,
		Store: a.stores.chats, Feed: a.feed, Library: a.library, Runs: a.runs, Log: log,
		Version: built.Version, Commit: built.Commit, Date: built.Date,
		Places: a.places, Pages: pagesNet(set), Models: a.runs.Models, Desk: a.modelChoice(set),
		Folders:  a.folderChoice(set, dir, log),
		Toolsets: a.runs.Toolsets(), KeepDays: set.SessionKeepDays,
		Samples: samples, Hosts: set.AllowedHosts, Checks: a.healthChecks(set, search),
		Limits: httpio.Limits{UploadFile: int64(set.MaxUploadMiB) << 20},
	})
	return a, err
}

// modelChoice lets models be chosen where this is the only server of a library.
func (a *app) modelChoice(set *settings.Settings) modelchoice.Desk {
	if !a.stores.exclusive {
		return modelchoice.Desk{}
	}
	return modelchoice.Desk{Find: a.desk.find, Choose: a.desk.choose, Operators: set.Operators}
}

// model is the name of the one that answers now.
func (a *app) model() string { return a.desk.now.Load().models.main.Name() }

// withKeys reports whether users have keys, and so share the server.
func (a *app) withKeys() bool {
	needed, err := a.keys.Needed()
	return needed || err != nil
}

// newWorkers makes the processes that read the files of a data directory. Where there have been PDFs, one starts
// while everything else does: a page may be asked for in the very first request.
func newWorkers(dir *datadir.Dir, log *slog.Logger) (*worker.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start its workers: %w", err)
	}
	compiled := dir.Path("cache", "pdf")
	files, err := worker.New(
		worker.Config{Command: []string{self, "extract-worker"}, CacheDir: compiled, IdleAfter: workerIdle, Log: log},
	)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(compiled); err == nil {
		files.Expect()
	}
	return files, nil
}

// wireLibrary makes the library over the stores, with the embedder that the settings name: another server's, the
// built-in one, or none.
func (a *app) wireLibrary(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) (err error) {
	cfg := corpus.Config{
		Documents: a.stores.documents, Lexical: a.stores.lexical, Blobs: a.stores.blobs, Queue: a.stores.queue,
		Formats: extract.Formats, Renderer: a.files, Office: officePages(set),
		MaxBytes: int64(set.MaxUploadMiB) << 20,
		Reserve:  set.DiskReserve(dir.Path(), datadir.FreeSpace),
		Log:      log,
	}
	if set.WithOpenAI() || set.EmbedsRemotely() {
		a.remote, err = openai.New(set.OpenAI(set.OpenAIModel, log))
		if err != nil {
			return err
		}
		if set.EmbedsRemotely() && a.stores.vectors != nil {
			cfg.Vectors, cfg.Embedder = a.stores.vectors(a.remote.Model()), a.remote
		}
	}
	cfg.Extractor = pictureReader(set, a.files, a.remote)
	if set.EmbedsHere() && a.stores.vectors != nil {
		if a.embeds, err = openEmbedder(set); err != nil {
			return err
		}
		cfg.Vectors, cfg.Embedder = a.stores.vectors(a.embeds.Model()), a.embeds
	}
	if a.ranks, err = openReranker(set); err != nil {
		return err
	}
	if a.ranks != nil {
		cfg.Reranker, cfg.RerankTime = a.ranks, set.RerankTime
	}
	if a.library, err = corpus.NewLibrary(cfg); err != nil {
		return err
	}
	a.similar = sentenceSimilarity(cfg.Embedder, a.library.Scale)
	return nil
}

// holdVectors is what has the making of vectors wait for a run: one without a model of a server is all work of this
// process. nil: nothing has to wait.
func (a *app) holdVectors() func() (release func()) {
	if a.embeds == nil {
		return nil
	}
	return func() func() {
		if a.desk.now.Load().models.client != nil {
			return func() {}
		}
		return a.embeds.HoldPassages()
	}
}

// serveUntil answers requests and does the background work until ctx ends, then stops in order: streams, runs, library,
// stores.
func (a *app) serveUntil(ctx context.Context, listener net.Listener) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	g, failed := errgroup.WithContext(work)
	following, stopFollowing := context.WithCancel(failed)
	defer context.AfterFunc(ctx, stopFollowing)() // before requests are turned away
	g.Go(func() error { return a.server.Serve(listener) })
	g.Go(func() error { a.runs.KeepLeases(work); return nil })
	g.Go(func() error { return a.library.Run(work) })
	g.Go(func() error { a.keys.Run(work); return nil })
	g.Go(func() error { a.grants.Run(work); return nil })
	g.Go(func() error { a.keeper.Run(following); return nil })
	g.Go(func() error { a.hooks.Run(following); return nil })
	g.Go(func() error { a.tables.Run(following); return nil })
	g.Go(func() error { giveBackMemory(work); return nil })
	g.Go(func() error { a.desk.tellOfOthers(work); return nil })
	if a.tools != nil {
		g.Go(func() error { a.tools.Run(work); return nil })
	}
	if a.stores.listen != nil {
		g.Go(func() error { a.stores.listen(work, a.feed, a.library, a.runs); return nil })
	}
	defer context.AfterFunc(ctx, a.desk.stop)()
	defer stopFollowing()
	for _, folder := range a.folders {
		g.Go(func() error {
			a.stores.alone(following, "watch "+folder.namespace+" "+folder.folder.Dir, folder.followUntil)
			return nil
		})
	}
	g.Go(func() error { a.places.Run(following); return nil })
	if a.chosen != nil && a.chosen.server != nil {
		g.Go(func() error { a.chosen.run(following, a.withKeys()); return nil })
	}
	g.Go(func() error {
		select {
		case <-ctx.Done(): // a signal
		case <-failed.Done():
		}
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if !a.stores.exclusive { // the runs go on elsewhere, so their readers may leave at once
			a.server.Drain()
		}
		err := errors.Join(a.runs.Stop(drain), a.server.Shutdown(drain))
		stopWork()
		return err
	})
	return g.Wait()
}

// close gives up what wire opened.
func (a *app) close() error {
	var errs []error
	if a.desk != nil {
		a.desk.stop()
		if now := a.desk.now.Load(); now != nil {
			now.models.close()
		}
	}
	if a.remote != nil {
		a.remote.Close()
	}
	if a.files != nil {
		errs = append(errs, a.files.Close())
	}
	if a.embeds != nil {
		errs = append(errs, a.embeds.Close())
	}
	if a.ranks != nil {
		errs = append(errs, a.ranks.Close())
	}
	for _, folder := range a.folders {
		errs = append(errs, folder.folder.Close())
	}
	if a.stores != nil {
		errs = append(errs, a.stores.close())
	}
	return errors.Join(errs...)
}
