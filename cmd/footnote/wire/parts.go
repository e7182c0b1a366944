// Package wire constructs the parts of the program from its settings and connects them: stores, models, embedder,
// reranker, tools, the library, and the runs.
//
// [Open] opens all parts for a server or a command; [OpenStores], [OpenEmbedder], [OpenReranker] and [Workers] open
// single parts. The caller closes a part. Only this package and serve depend on every package of the program; the
// parts depend on each other only through small interfaces.
//
// A command that needs one part opens only that: opening all would start workers and open every store without need.
//
// To add a store of vectors, open it in OpenStores, cmd/footnote/wire/stores.go, and write its package,
// corpus/*/*.go, whose test runs corpustest.TestVectors. Its settings are added as documented in package settings.
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
	"github.com/footnote/footnote/agent/llm"
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
	"github.com/footnote/footnote/corpus/reader"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/views"
)

// workerIdle is the idle timeout of a worker: the pages of a document that a user reads need no new process. Five
// minutes is arbitrary.
const workerIdle = 5 * time.Minute

// Parts holds the parts of a server or a command, each constructed with the settings and the others. They handle no
// requests by themselves: the caller runs them (their methods Run) and closes them. Fields with a comment may be
// nil, the others are always set.
type Parts struct {
	Stores    *Stores
	Feed      *chat.Feed
	files     *worker.Pool
	remote    *openai.Model  // nil without an OpenAI-compatible server
	embeds    *bert.Embedder // nil unless a model in this process computes the embeddings
	ranks     Reranker       // nil without a reranker
	reads     *reader.Reader // nil without the sentence model that it was trained from
	rules     llm.Model      // the offline model
	Switcher  *answering.Switcher
	Library   *corpus.Library
	Tools     *mcp.Client // nil without tool servers
	Runs      *agent.Runs
	Scheduler *standing.Scheduler
	Webhooks  *webhook.Sender
	Tables    *grid.Filler
	Keys      *keys.File
	Grants    *grants.Issuer
	Places    *follow.Follower
	search    *web.Web // nil without a web search
	// LocalUserAlone reports whether only the local user uses the server; nil without a server.
	LocalUserAlone func() bool
}

// Open opens all parts on a claimed directory. Only the store's writer runs yet. version is sent to tool servers.
// On error all parts are closed.
//
// The order is stores, library, models, tools, runs, and the background work over them; each needs the ones before.
// ctx is only for opening.
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
	// A database of an older version is migrated here.
	if a.Stores, err = OpenStores(ctx, set, dir, log); err != nil {
		return nil, err
	}
	if err = a.wireLibrary(set, dir, log); err != nil {
		return nil, err
	}
	a.Stores.Chats.SetLimits(set.UserLimits())
	a.Feed = chat.NewFeed(a.Stores.Chats)
	if a.Switcher, err = answering.NewSwitcher(ctx, set, a.remote, a.rules, log); err != nil {
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
	a.Grants = &grants.Issuer{Store: a.Stores.grants, Keys: a.Keys, Log: log}
	a.Runs, err = agent.NewRuns(agent.Config{
		Config: agentrun.Config{
			Store: a.Stores.Chats, Feed: a.Feed, Library: a.Library, Reranker: a.ranks != nil,
			Model: a.Switcher.Model(), Log: log, Prices: prices,
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
		Exclusive: a.Stores.Exclusive, Lease: set.RunLease, Revoked: a.Keys.Revoked, GiveWay: a.pauseEmbedding(),
	})
	if err != nil {
		return nil, err
	}
	a.Switcher.Attach(a.Runs)
	a.Scheduler = standing.New(standing.Config{Store: a.Stores.Chats, Library: a.Library, Runs: a.Runs, Log: log})
	a.Tables = grid.New(grid.Config{
		Store: a.Stores.Chats, Library: a.Library, Runs: a.Runs, Log: log, Alone: a.Stores.Exclusive,
	})
	a.startWebhooks(set, log)
	a.followPlaces(set, dir, log)
	return a, nil
}

// WithKeys reports whether users have keys, and so share the server. It returns true if the keys file can't be
// read, which is the safe result.
func (a *Parts) WithKeys() bool {
	needed, err := a.Keys.Needed()
	return needed || err != nil
}

// startWorkers creates the pool of worker processes that parse files. If there have been PDFs, one worker starts in
// the background, since the first request may need a page.
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

// Workers returns a pool of this program's processes that parse files. Their compiled code is cached in the
// directory cache. The caller closes the pool.
func Workers(cache string, log *slog.Logger) (*worker.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start its workers: %w", err)
	}
	return worker.New(
		worker.Config{Command: []string{self, "extract-worker"}, CacheDir: cache, IdleAfter: workerIdle, Log: log},
	)
}

// wireLibrary creates the library over the stores, with the embedder in the settings: a remote one, the built-in
// one, or none. Without a vector store or an embedder, search uses the text index alone.
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
		// PostgreSQL without Milvus has no vector store.
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
		a.reads, err = reader.Open(set.EmbeddingFolder(), set.EmbeddingFloat32)
		if err != nil && !errors.Is(err, bert.ErrOtherModel) {
			return err
		}
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
	var read offline.Reader
	if a.reads != nil {
		read = a.reads.Scores
	}
	a.rules = offline.New(sentenceSimilarity(cfg.Embedder, a.Library.Scale), read)
	return nil
}

// pauseEmbedding returns a function that pauses the computation of embeddings during a run: a run without a model
// server uses this process's CPU. It is nil if no pause is needed. The function is called at the start of a run,
// and release at its end.
func (a *Parts) pauseEmbedding() func() (release func()) {
	if a.embeds == nil {
		return nil
	}
	return func() func() {
		if a.Switcher.UsesServer() {
			return func() {}
		}
		return a.embeds.PausePassages()
	}
}

// Close closes the parts. The stores are last, since the others may write until they are closed. It may be called
// on partially opened parts.
func (a *Parts) Close() error {
	var errs []error
	if a.Switcher != nil {
		a.Switcher.Close()
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
	if a.reads != nil {
		errs = append(errs, a.reads.Close())
	}
	if a.ranks != nil {
		errs = append(errs, a.ranks.Close())
	}
	if a.Stores != nil {
		errs = append(errs, a.Stores.Close())
	}
	return errors.Join(errs...)
}

// OpenEmbedder opens the embedding model in the settings' folder. Its weights are loaded for the first text. The
// caller closes it. It fails if the folder has no readable model.
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

// EmbeddingName returns the name of the embedding model, or nothing. The name is part of the key of stored
// embeddings.
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

// similarityTime is the timeout for comparing sentences by embeddings. After it, the fallback compares words. The
// value is arbitrary: a question must not wait longer for an optional part.
const similarityTime = 3 * time.Second

// keptSentences is the number of sentences with cached embeddings: a question searches twice, and the next one
// often finds the same passages. They take some 4 MB with 384 dimensions.
const keptSentences = 2048

// sentenceSimilarity returns a function that compares sentences by embeddings; nil without an embedder. scaleOf
// returns the scale that normalises the model's cosines. The function is safe for concurrent use. It returns a
// similarity for each text, higher for nearer ones, and an error on timeout.
func sentenceSimilarity(
	e corpus.Embedder, scaleOf func(context.Context) (search.Scale, error),
) offline.Similarity {
	if e == nil {
		return nil
	}
	kept, err := lru.New[string, []float32](keptSentences)
	if err != nil {
		panic(err) // unreachable: the size is positive
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
			if scale != (search.Scale{}) { // it separates answers from other sentences
				out[i] = offline.FittedCosine(scale.Nearness(out[i]))
			}
		}
		return out, nil
	}
}

// Reranker is a reranker that holds memory or connections. It must be closed.
type Reranker interface {
	corpus.Reranker
	io.Closer
}

// OpenReranker opens the reranker in the settings, or returns nil. A folder takes precedence over a URL;
// Settings.Check refuses both at once. No request is sent to a server's reranker yet.
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

// followPlaces creates the sync of places. A place of the local user may reach the machine's own networks; others
// may reach the public internet and the hosts in the settings. A kind of place that is public by nature may reach
// only the public internet.
func (a *Parts) followPlaces(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) {
	_, err := os.Stat(dir.Path(datadir.Database))
	public := web.DialPolicy{}
	others := web.DialPolicy{Hosts: set.PlacesAllow}
	own := web.DialPolicy{Own: true, Hosts: set.PlacesAllow}
	publicNet, othersNet, ownNet := netFor(public), netFor(others), netFor(own)
	a.Places = follow.New(follow.Config{
		Store: a.Stores.places, Library: a.Library, Kinds: registry.Kinds(), Secrets: dir.Path(datadir.Places),
		Alone: a.Stores.Exclusive, Gone: a.Keys.Revoked, Log: log,
		Others: set.DatabaseURL != "" && err == nil, // those of the directory's own database
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

// startWebhooks creates the delivery of standing questions' changes to webhooks. Their URLs have the same
// restrictions as places.
func (a *Parts) startWebhooks(set *settings.Settings, log *slog.Logger) {
	others := web.DialPolicy{Hosts: set.PlacesAllow}.Client()
	own := web.DialPolicy{Own: true, Hosts: set.PlacesAllow}.Client()
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

// PagesNet returns the network access for single pages: another page may have supplied the URL, so only the public
// internet and the hosts in the settings are allowed, for every user.
func PagesNet(set *settings.Settings) sources.Net {
	return netFor(web.DialPolicy{Hosts: set.PlacesAllow})
}

// netFor returns a client for the allowed hosts. Each is created once and shared, so that connections are reused.
func netFor(r web.DialPolicy) sources.Net { return sources.Net{HTTP: r.Client(), Dial: r.Dial} }

// localUserAlone reports whether only the local user uses the server now. A place of the local user loses its local
// network access once others use the server, by a key or another address.
func (a *Parts) localUserAlone() bool { return a.LocalUserAlone != nil && a.LocalUserAlone() }
