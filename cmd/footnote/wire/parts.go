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
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/agent/llm/httprerank"
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
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/views"
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

// OpenEmbedder opens the model in the folder that the settings name. Its weights are read when the first text comes.
// Who opens it closes it. It fails when the folder has no model that can be read.
func OpenEmbedder(s *settings.Settings) (*bert.Embedder, error) {
	dir := s.EmbeddingFolder()
	model, err := bert.Open(bert.Config{
		Dir: dir, QueryPrefix: s.EmbeddingQueryPrefix, PassagePrefix: s.EmbeddingPassagePrefix,
		Float32: s.EmbeddingFloat32,
	})
	if err != nil {
		return nil, fmt.Errorf("FOOTNOTE_EMBEDDING_DIR is %s: %w", dir, err)
	}
	return model, nil
}

// EmbeddingName names the model that makes the vectors; empty: there is none. The name is part of what vectors are
// kept under.
func EmbeddingName(s *settings.Settings) (string, error) {
	if !s.EmbedsHere() {
		return s.OpenAIEmbeddingModel, nil
	}
	model, err := OpenEmbedder(s)
	if err != nil {
		return "", err
	}
	return model.Model(), model.Close()
}

// similarityTime bounds how long sentences wait to be compared by meaning. Past it, words decide. It is a choice: a
// question must not wait longer for a part that rules can do without.
const similarityTime = 3 * time.Second

// keptSentences is how many sentences' vectors are kept: a question searches twice, and the next one often finds the
// same passages. They take some 4 MB with 384 dimensions.
const keptSentences = 2048

// sentenceSimilarity compares sentences by the meanings that an embedder gives them; nil without one. scaleOf returns
// what its cosines mean. The function that it returns may be called by many at once. It returns a number for each
// text, the greater the nearer, and an error when time is over.
func sentenceSimilarity(
	e corpus.Embedder, scaleOf func(context.Context) (search.Scale, error),
) offline.Similarity {
	if e == nil {
		return nil
	}
	kept, err := lru.New[string, []float32](keptSentences)
	if err != nil {
		panic(err) // not reached: the size is positive
	}
	return func(ctx context.Context, question string, texts []string) ([]float64, error) {
		ctx, cancel := context.WithTimeout(ctx, similarityTime)
		defer cancel()
		scale, err := scaleOf(ctx)
		if err != nil {
			return nil, err
		}
		asked, err := e.EmbedQuery(ctx, question)
		if err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(texts))
		var missing []string
		for i, text := range texts {
			var known bool
			if vectors[i], known = kept.Get(text); !known {
				missing = append(missing, text)
			}
		}
		made, err := corpus.EmbedNow(ctx, e, missing)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(texts))
		for i, v := range vectors {
			if v == nil {
				v, made = made[0], made[1:]
				kept.Add(texts[i], v)
			}
			for k := range min(len(v), len(asked)) {
				out[i] += float64(v[k]) * float64(asked[k])
			}
			if scale != (search.Scale{}) { // it tells what answers from what does not
				out[i] = offline.FittedCosine(scale.Nearness(out[i]))
			}
		}
		return out, nil
	}
}

// Reranker is a reranker that holds memory or connections. It has to be closed.
type Reranker interface {
	corpus.Reranker
	io.Closer
}

// OpenReranker opens the reranker that the settings name; nil for none. One in the folder goes before one at an
// address; Settings.Check refuses both at once. A server's reranker is not asked yet.
func OpenReranker(s *settings.Settings) (Reranker, error) {
	switch {
	case s.RerankDir != "":
		r, err := bert.OpenReranker(s.RerankDir, s.EmbeddingFloat32)
		if err != nil {
			return nil, fmt.Errorf("FOOTNOTE_RERANK_DIR is %s: %w", s.RerankDir, err)
		}
		return r, nil
	case s.RerankURL != "":
		r, err := httprerank.New(httprerank.Config{URL: s.RerankURL, Model: s.RerankModel, Key: string(s.RerankAPIKey)})
		if err != nil {
			return nil, fmt.Errorf("FOOTNOTE_RERANK_URL: %w", err)
		}
		return r, nil
	}
	return nil, nil
}

// followPlaces wires what follows places. A place that the local user set up reaches the machine's own networks; others
// reach the public internet and the servers that the settings name. A kind that is public by its nature reaches the
// public internet alone.
func (a *Parts) followPlaces(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) {
	_, err := os.Stat(dir.Path(datadir.Database))
	public := web.Reach{}
	others := web.Reach{Hosts: set.PlacesAllow}
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}
	publicNet, othersNet, ownNet := wayBy(public), wayBy(others), wayBy(own)
	a.Places = follow.New(follow.Config{
		Store: a.Stores.places, Library: a.Library, Kinds: registry.Kinds(), Secrets: dir.Path(datadir.Places),
		Alone: a.Stores.Exclusive, Gone: a.Keys.Revoked, Log: log,
		Others: set.DatabaseURL != "" && err == nil, // those of the database in the directory
		Net: func(kind sources.Kind, local bool) sources.Net {
			switch {
			case kind.Public:
				return publicNet
			case local && a.localUserAlone():
				return ownNet
			}
			return othersNet
		},
	})
}

// tellWebhooks wires what sends changes of kept questions to addresses. They are reached like places.
func (a *Parts) tellWebhooks(set *settings.Settings, log *slog.Logger) {
	others := web.Reach{Hosts: set.PlacesAllow}.Client()
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}.Client()
	a.Webhooks = webhook.New(webhook.Config{
		Store: a.Stores.Chats, Gone: a.Keys.Revoked, Sentence: views.ChangeSentence, Log: log,
		Client: func(local bool) *http.Client {
			if local && a.localUserAlone() {
				return own
			}
			return others
		},
	})
}

// PagesNet is the way to pages that are added once: another page may have given the address, so they are on the public
// internet or on servers that the settings name, whoever adds them.
func PagesNet(set *settings.Settings) sources.Net { return wayBy(web.Reach{Hosts: set.PlacesAllow}) }

// wayBy is the way to what may be reached.
// Each is made once and shared, so that connections are used again.
func wayBy(r web.Reach) sources.Net { return sources.Net{HTTP: r.Client(), Dial: r.Dial} }

// localUserAlone reports whether only the user of this machine uses the server now. A setup of the local user loses
// its reach when others come to use the server, by a key or by another address.
func (a *Parts) localUserAlone() bool { return a.LocalUserAlone != nil && a.LocalUserAlone() }
