// Package wire makes the parts of the program from its settings and puts them together: stores, models, embedder,
// reranker, tools, the library over them, and the runs over all.
//
// [Open] makes everything that a server or a command uses; [OpenStores], [OpenEmbedder], [OpenReranker] and [Workers]
// make single parts for commands that need no more. Who opens a part closes it. Here and in serve every package of the
// program is known; the parts themselves know each other by small interfaces only.
//
// A command of its own that needs one part makes that alone: opening all would start the readers of files and open
// every store for nothing.
//
// To add a store of vectors, open it in OpenStores, cmd/footnote/wire/stores.go, and write its package, corpus/*/*.go,
// whose test runs corpustest.TestVectors. Its settings are added as package settings says.
package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/mcp"
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/standing"
	"github.com/footnote/footnote/agent/standing/webhook"
	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/answering"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/sources/follow"
)

// workerIdle is how long a worker waits for more work: pages of a document that somebody looks at come without its
// start. Five minutes is a choice.
const workerIdle = 5 * time.Minute

// Parts are what a server or a command is made of, each made with the settings and with the others. Nothing of it
// answers requests by itself: who opens the parts also has them work (their methods Run), and closes them.
// Those with a comment may be nil, the others are always there.
type Parts struct {
	Stores   *Stores
	Feed     *chat.Feed
	files    *worker.Pool
	remote   *openai.Model      // nil without an OpenAI-compatible server
	embeds   *bert.Embedder     // nil unless a model in this process makes the vectors
	ranks    Reranker           // nil: there is no reranker
	similar  offline.Similarity // nil without vectors
	Desk     *answering.Desk
	Library  *corpus.Library
	Tools    *mcp.Client // nil without servers of tools
	Runs     *agent.Runs
	Keeper   *standing.Keeper
	Webhooks *webhook.Sender
	Tables   *grid.Filler
	Keys     *keys.File
	Grants   *grants.Book
	Places   *follow.Follower
	search   *web.Web // nil: there is no web search
	// LocalUserAlone reports whether only the user of this machine uses the server; nil: there is no server.
	LocalUserAlone func() bool
}

// Open makes all parts on a claimed directory. Nothing runs yet but the store's writer. version is told to
// servers of tools.
// With an error nothing stays open.
//
// The order is stores, library, models, tools, runs, and what works on its own over them; each needs the ones before.
// ctx is for the opening alone.
func Open(
	ctx context.Context, set *settings.Settings, version string, dir *datadir.Dir, log *slog.Logger,
) (_ *Parts, err error) {
	a := &Parts{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err = a.startWorkers(dir, log); err != nil { //nolint:contextcheck // workers outlive the start; close ends them
		return nil, err
	}
	// a database of an older version is migrated here
	if a.Stores, err = OpenStores(ctx, set, dir, log); err != nil {
		return nil, err
	}
	if err = a.wireLibrary(set, dir, log); err != nil {
		return nil, err
	}
	a.Stores.Chats.SetLimits(set.UserLimits())
	a.Feed = chat.NewFeed(a.Stores.Chats)
	if a.Desk, err = answering.NewDesk(ctx, set, a.remote, a.similar, log); err != nil {
		return nil, err
	}
	prices, err := set.PriceTable()
	if err != nil {
		return nil, err
	}
	if a.search, err = set.WebSearch(); err != nil {
		return nil, err
	}
	if a.Tools, err = set.ToolServers(version, log); err != nil {
		return nil, err
	}
	if a.Keys, err = access.OpenKeys(set); err != nil {
		return nil, err
	}
	a.Grants = &grants.Book{Store: a.Stores.grants, Keys: a.Keys, Log: log}
	a.Runs, err = agent.NewRuns(agent.Config{
		Config: agentrun.Config{
			Store: a.Stores.Chats, Feed: a.Feed, Library: a.Library, Reranker: a.ranks != nil, Model: a.Desk.Model(),
			Log: log, Prices: prices,
			Web: a.search, ApproveWeb: set.WebApprove == "always", MCP: a.Tools,
			Toolset: set.AgentToolset, Tools: set.AgentTools, Budget: set.Budget(),
			Temperature: set.AgentTemperature,
			MaxTokens:   set.AgentMaxTokens,
			ToolTimeout: set.AgentTimeoutPerTool, Features: set.Features(), Memory: set.Memory(),
			Framework: set.Framework(), Guard: set.Guard(),
			SystemPrompt: set.SystemPrompt(),
		},
		MaxQuestions: set.SessionMaxTurns, KeepSessions: time.Duration(set.SessionKeepDays) * 24 * time.Hour,
		MaxRuns: set.MaxRuns, Shared: a.WithKeys,
		Exclusive: a.Stores.Exclusive, Lease: set.RunLease, Revoked: a.Keys.Revoked, GiveWay: a.holdVectors(),
	})
	if err != nil {
		return nil, err
	}
	a.Desk.AnswerFor(a.Runs)
	a.Keeper = standing.New(standing.Config{Store: a.Stores.Chats, Library: a.Library, Runs: a.Runs, Log: log})
	a.Tables = grid.New(grid.Config{
		Store: a.Stores.Chats, Library: a.Library, Runs: a.Runs, Log: log, Alone: a.Stores.Exclusive,
	})
	a.tellWebhooks(set, log)
	a.followPlaces(set, dir, log)
	return a, nil
}

// WithKeys reports whether users have keys, and so share the server. When the file of keys can't be read it says yes:
// to be careful is right then.
func (a *Parts) WithKeys() bool {
	needed, err := a.Keys.Needed()
	return needed || err != nil
}

// startWorkers makes the processes that read the files of a data directory. Where there have been PDFs, one starts
// while everything else does: a page may be asked for in the very first request. Nobody waits for it.
func (a *Parts) startWorkers(dir *datadir.Dir, log *slog.Logger) (err error) {
	compiled := dir.Path("cache", "pdf")
	if a.files, err = Workers(compiled, log); err != nil {
		return err
	}
	if found, _ := os.ReadDir(compiled); len(found) > 0 {
		a.files.Expect()
	}
	return nil
}

// Workers makes processes of this program that read files, apart from the one that asks for them. What they compile is
// kept in the directory cache. The caller closes the pool.
func Workers(cache string, log *slog.Logger) (*worker.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start its workers: %w", err)
	}
	return worker.New(
		worker.Config{Command: []string{self, "extract-worker"}, CacheDir: cache, IdleAfter: workerIdle, Log: log},
	)
}

// wireLibrary makes the library over the stores, with the embedder that the settings name: another server's, the
// built-in one, or none. Without vectors' store or an embedder the library searches by words.
func (a *Parts) wireLibrary(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) (err error) {
	cfg := corpus.Config{
		Documents: a.Stores.documents, Lexical: a.Stores.lexical, Blobs: a.Stores.Blobs, Queue: a.Stores.queue,
		Formats: extract.Formats, Renderer: a.files,
		MaxBytes: int64(set.MaxUploadMiB) << 20,
		Reserve:  set.DiskReserve(dir.Path(), datadir.FreeSpace),
		Log:      log,
	}
	if cfg.Office, err = OfficePages(set); err != nil {
		log.Warn("pages of Office files are off", "error", err)
	}
	if set.WithOpenAI() || set.EmbedsRemotely() {
		a.remote, err = openai.New(set.OpenAI(set.OpenAIModel, log))
		if err != nil {
			return err
		}
		// with PostgreSQL and no Milvus there is nowhere to keep vectors
		if set.EmbedsRemotely() && a.Stores.vectors != nil {
			cfg.Vectors, cfg.Embedder = a.Stores.vectors(a.remote.Model()), a.remote
		}
	}
	cfg.Extractor = PictureReader(set, a.files, a.remote)
	if set.EmbedsHere() && a.Stores.vectors != nil {
		if a.embeds, err = OpenEmbedder(set); err != nil {
			return err
		}
		cfg.Vectors, cfg.Embedder = a.Stores.vectors(a.embeds.Model()), a.embeds
	}
	if a.ranks, err = OpenReranker(set); err != nil {
		return err
	}
	if a.ranks != nil {
		cfg.Reranker, cfg.RerankTime = a.ranks, set.RerankTime
	}
	if a.Library, err = corpus.NewLibrary(cfg); err != nil {
		return err
	}
	a.similar = sentenceSimilarity(cfg.Embedder, a.Library.Scale)
	return nil
}

// holdVectors is what has the making of vectors wait for a run: one without a model of a server is all work of this
// process. nil: nothing has to wait. The function that it returns is called when a run begins, and release when it
// ends.
func (a *Parts) holdVectors() func() (release func()) {
	if a.embeds == nil {
		return nil
	}
	return func() func() {
		if a.Desk.AsksServer() {
			return func() {}
		}
		return a.embeds.HoldPassages()
	}
}

// Close gives up what Open opened. The stores are last: the others may write until they are closed. It may be called
// on parts that are half open.
func (a *Parts) Close() error {
	var errs []error
	if a.Desk != nil {
		a.Desk.Close()
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
	if a.Stores != nil {
		errs = append(errs, a.Stores.Close())
	}
	return errors.Join(errs...)
}
