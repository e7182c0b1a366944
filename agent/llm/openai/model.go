// Package openai speaks to OpenAI and to the many servers with the same interface: Ollama, vLLM, llama.cpp, Groq, Azure
// and others. They differ in small things, so the adapter reads tolerantly (events, scan, chunk, tools), learns from
// refusals which fields a server takes (habits in request), and takes a reply as whole only when its end was said. New
// makes a Model for replies, embeddings or both; Probe and Measure find out what a server can do.
//
// Files by subject: model.go and endpoint.go hold settings; request.go writes what goes out; stream.go, events.go,
// scan.go, chunk.go, tools.go and finish.go read what comes back; embed.go and picture.go are the two requests that are
// no streams; probe.go, reach.go and measure.go look at the server. Keys are never printed, and go only to the host
// that they were set for.
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
)

const defaultBaseURL = "https://api.openai.com/v1/"

// Secret is a key that does not print.
type Secret string

// String hides the key.
func (s Secret) String() string {
	if s == "" {
		return "[not set]"
	}
	return "[set]"
}

// GoString hides the key.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Config says which server and model to use. Zero durations take the defaults.
type Config struct {
	APIKey         Secret // may be empty if BaseURL is set
	BaseURL        string // with its version, like http://localhost:11434/v1; empty: OpenAI
	Model          string
	EmbeddingModel string // empty: Embed is not used
	// EmbeddingBaseURL and EmbeddingAPIKey are those of the server of the embedding model, if it is another one. Its
	// key is APIKey only where the host is the same: a key goes to nobody else.
	EmbeddingBaseURL string
	EmbeddingAPIKey  Secret
	HTTPClient       *http.Client // nil: a client of our own
	Log              *slog.Logger // nil: slog.Default()

	// FirstToken is the longest wait for the first piece of a reply: 120 s, and 10 min on this machine or its network.
	FirstToken time.Duration
	Idle       time.Duration // 60 s: the longest silence after it
	IdleText   time.Duration // 180 s: the longest time without a piece of the reply, though other bytes come
	RetryFor   time.Duration // 30 s: no further try begins after this
}

// postFunc is the Post of the SDK's client. The client is not kept: it holds every service of the SDK, and the linker
// keeps the types of all fields of a value that reaches an interface.
type postFunc func(ctx context.Context, path string, params, res any, opts ...option.RequestOption) error

// Model is a model of one server. It satisfies llm.Model and corpus.Embedder.
type Model struct {
	name, embeddings string
	post             postFunc // sends the request for a reply
	embed            sdk.EmbeddingService
	models           sdk.ModelService
	http             *http.Client
	ownClient        bool
	log              *slog.Logger
	now              func() time.Time

	patience httpllm.Patience
	server   *httpllm.Server // for replies
	embedder *httpllm.Server // for embeddings: their failures say nothing of replies

	near       bool // the server is on this machine or in its network
	learnt     learnt
	tools      sync.Map // name → *definition, encoded once
	dimensions atomic.Int64
	batchSize  atomic.Int64 // texts that are embedded at once; 0: maxBatch
	embedding  atomic.Int32 // calls of Embed under way
}

// New returns a model. It does not speak to the server yet.
func New(c Config) (*Model, error) {
	var errs []error
	if c.Model == "" {
		errs = append(errs, errors.New("OPENAI_MODEL is empty: set the model's name"))
	}
	if c.APIKey == "" && c.BaseURL == "" && c.EmbeddingAPIKey == "" && c.EmbeddingBaseURL == "" {
		errs = append(
			errs, errors.New("OPENAI_API_KEY is empty: set it, or OPENAI_BASE_URL for a server that needs none"),
		)
	}
	replies := c.replyEndpoint()
	base := replies.base
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("OPENAI_BASE_URL must look like http://localhost:11434/v1"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &Model{
		name: c.Model, embeddings: c.EmbeddingModel, http: c.HTTPClient, log: c.Log, now: time.Now, near: isNear(base),
		patience: httpllm.Patience{
			FirstToken: cmp.Or(c.FirstToken, firstToken(base)), Idle: cmp.Or(c.Idle, 60*time.Second),
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
	// What is known of addresses spares the first refused request.
	m.learnt.habits = habits{
		sendReasoning: wantsReasoning.MatchString(base), newTokenLimit: strings.Contains(base, "api.openai.com"),
	}
	m.embed = sdk.NewEmbeddingService(append(vectors.sdkOptions(m.http), option.WithMiddleware(m.embedder.Respond))...)
	options := append(replies.sdkOptions(m.http), option.WithMiddleware(m.server.Respond))
	client := sdk.Client{Options: options}
	m.post, m.models = client.Post, sdk.NewModelService(options...)
	return m, nil
}

// firstToken is how long the first piece of a reply may take by default: 2 minutes, and 10 for a server on this machine
// or in its network.
func firstToken(base string) time.Duration {
	if isNear(base) { // nobody pays for it, and a processor reads slowly
		return 10 * time.Minute
	}
	return 2 * time.Minute
}

// Name is the model's name.
func (m *Model) Name() string { return m.name }

// Close lets go of idle connections. The model can be used again after it. Requests under way are not cut off. A client
// that was passed in is its owner's.
func (m *Model) Close() {
	if m.ownClient {
		m.http.CloseIdleConnections()
	}
}

// Stream sends a request. See llm.Model. A request that failed before anything was yielded is tried up to three times;
// a rate limit goes to the caller, who can tell people. A Reading may come before a failure and again in the next try:
// it is no piece of the reply.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if err := m.server.Retry(
			ctx, false, func() (bool, *llm.Error) { return m.attemptRequest(ctx, req, yield) },
		); err != nil {
			yield(nil, err)
		}
	}
}
