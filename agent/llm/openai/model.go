// Package openai is a client of OpenAI's API and of the many compatible servers: Ollama, vLLM, llama.cpp, Groq,
// Azure and others. They differ in details, so the parser is tolerant (scan, chunk, tools). The client
// learns from refusals which fields a server accepts (serverFeatures), and treats a reply as complete only with a
// proof of its end. New returns a Model for replies, embeddings or both; Probe and Measure test a server's
// capabilities.
//
// Files by subject: model.go and endpoint.go have the configuration; request.go encodes requests; stream.go,
// scan.go, chunk.go, tools.go and finish.go parse replies; embed.go and picture.go have the two requests
// that are not streams; probe.go, ping.go and measure.go check the server. Keys are redacted, and sent only to the
// host that they were set for.
package openai

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/text/host"
)

const defaultBaseURL = "https://api.openai.com/v1/"

// Secret is a key that is redacted when printed.
type Secret string

// String returns a placeholder for the key.
func (s Secret) String() string {
	if s == "" {
		return "[not set]"
	}
	return "[set]"
}

// GoString returns a placeholder for the key.
func (s Secret) GoString() string { return s.String() }

// LogValue returns a placeholder for the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Config configures the server and model. Zero durations take the defaults.
type Config struct {
	APIKey         Secret // may be empty if BaseURL is set
	BaseURL        string // with its version, like http://localhost:11434/v1; empty: OpenAI's
	Model          string
	EmbeddingModel string // empty: Embed is not used
	// EmbeddingBaseURL and EmbeddingAPIKey are for a separate server of the embedding model. APIKey is its default
	// key only if the host is the same, so that a key is never sent to another host.
	EmbeddingBaseURL string
	EmbeddingAPIKey  Secret
	HTTPClient       *http.Client // nil: httpllm.NewHTTPClient
	Log              *slog.Logger // nil: slog.Default()

	// FirstToken is the timeout of the first chunk of a reply: 120 s, and 10 min for a server on this machine or its
	// network.
	FirstToken time.Duration
	Idle       time.Duration // 60 s: timeout between bytes after it
	IdleText   time.Duration // 180 s: timeout between chunks of the reply, though other bytes arrive
	RetryFor   time.Duration // 30 s: no further try starts after this time
}

// postFunc is the Post method of the SDK's client. The client itself is not stored: it references every service of
// the SDK, which the linker would then keep in the binary.
type postFunc func(ctx context.Context, path string, params, res any, opts ...option.RequestOption) error

// Model is a model of one server. It implements llm.Model and corpus.Embedder.
type Model struct {
	name, embeddings string
	post             postFunc // sends the request for a reply
	embed            sdk.EmbeddingService
	models           sdk.ModelService
	http             *http.Client
	ownClient        bool
	log              *slog.Logger
	now              func() time.Time

	patience httpllm.Timeouts
	server   *httpllm.Server // for replies
	embedder *httpllm.Server // for embeddings: their failures are independent of replies

	near       bool // the server is on this machine or in its network
	learnt     learntFeatures
	tools      sync.Map // name → *definition, encoded once
	dimensions atomic.Int64
	batchSize  atomic.Int64 // batch size of embeddings; 0: maxBatch
	embedding  atomic.Int32 // active calls of Embed
}

// New validates the configuration. It sends no request.
func New(c Config) (*Model, error) {
	var errs []error
	if c.Model == "" {
		errs = append(errs, errors.New("OPENAI_MODEL is empty: set a model name"))
	}
	if c.APIKey == "" && c.BaseURL == "" && c.EmbeddingAPIKey == "" && c.EmbeddingBaseURL == "" {
		errs = append(
			errs, errors.New("OPENAI_API_KEY is empty: set it, or set OPENAI_BASE_URL for a server without keys"),
		)
	}
	replies := c.replyEndpoint()
	base := replies.base
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("OPENAI_BASE_URL must be a URL like http://localhost:11434/v1"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	near, firstToken := host.IsNear(host.Of(base)), 2*time.Minute
	if near { // local inference is free, and a CPU reads prompts slowly
		firstToken = 10 * time.Minute
	}
	m := &Model{
		name: c.Model, embeddings: c.EmbeddingModel, http: c.HTTPClient, log: c.Log, now: time.Now, near: near,
		patience: httpllm.Timeouts{
			FirstToken: cmp.Or(c.FirstToken, firstToken), Idle: cmp.Or(c.Idle, 60*time.Second),
			IdleText: cmp.Or(c.IdleText, 180*time.Second),
		},
	}
	if m.log == nil {
		m.log = slog.Default()
	}
	if m.http == nil {
		m.http, m.ownClient = httpllm.NewHTTPClient(), true
	}
	vectors, err := replies.embeddingEndpoint(c)
	if err != nil {
		return nil, err
	}
	server := func(name, setting string, at endpoint) *httpllm.Server {
		return &httpllm.Server{Name: name, Key: string(at.key), KeySetting: at.keySetting, ModelSetting: setting,
			AddressSetting: at.baseSetting, Log: m.log, RetryFor: cmp.Or(c.RetryFor, 30*time.Second)}
	}
	m.server = server(c.Model, "OPENAI_MODEL", replies)
	m.embedder = server(c.EmbeddingModel, "OPENAI_EMBEDDING_MODEL", vectors)
	// Known servers are configured by URL, which avoids a first refused request.
	m.learnt.features = serverFeatures{
		sendReasoning: wantsReasoning().MatchString(base), newTokenLimit: strings.Contains(base, "api.openai.com"),
	}
	m.embed = sdk.NewEmbeddingService(append(vectors.sdkOptions(m.http), option.WithMiddleware(m.embedder.Respond))...)
	options := append(replies.sdkOptions(m.http), option.WithMiddleware(m.server.Respond))
	client := sdk.Client{Options: options}
	m.post, m.models = client.Post, sdk.NewModelService(options...)
	return m, nil
}

// Name returns the model's name.
func (m *Model) Name() string { return m.name }

// Close closes idle connections. The model can be used again after it. Active requests are not cancelled. A client
// that was passed in stays its owner's.
func (m *Model) Close() {
	if m.ownClient {
		m.http.CloseIdleConnections()
	}
}

// Stream sends a request. See llm.Model. A request that failed before a part was yielded is tried up to three times;
// a rate limit is returned to the caller, who can inform users. A Reading may come before a failure and again in the
// retry, since it is not part of the reply.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if err := m.server.Retry(
			ctx, false, func() (bool, *llm.Error) { return m.attemptRequest(ctx, req, yield) },
		); err != nil {
			yield(nil, err)
		}
	}
}
