// Package anthropic is a client of Anthropic's models with native tool calls and thinking. A reply's thinking is
// stored with its signature and sent back in the next turn of the same question. The provider refuses to continue
// thinking without it. Retries, errors and timeouts are in httpllm. New returns a Model, which implements llm.Model;
// Probe has it call a tool.
//
// request.go converts the history to content blocks, stream.go events to parts; model.go has the configuration and
// the features learnt from refusals. The SDK decodes the events, since the protocol has one server, and a reply is
// complete only with a stop reason (docs/decisions/model-servers.md).
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/text/sse"
)

const (
	defaultBaseURL   = "https://api.anthropic.com/"
	defaultMaxTokens = 8192 // the provider requires a limit
)

// Config configures the model. Zero durations take the defaults.
type Config struct {
	APIKey     string // never printed
	BaseURL    string // empty: Anthropic's API
	Model      string
	Thinking   int          // token budget of thinking, at least 1,024; 0: disabled
	HTTPClient *http.Client // nil: httpllm.NewHTTPClient
	Log        *slog.Logger // nil: slog.Default()

	FirstToken time.Duration // 120 s: timeout of the first chunk of a reply
	Idle       time.Duration // 60 s: timeout between bytes after it
	RetryFor   time.Duration // 30 s: no further try starts after this time
}

// Model is one of Anthropic's models. It implements llm.Model.
type Model struct {
	name     string
	thinking int
	messages sdk.MessageService
	http     *http.Client
	log      *slog.Logger
	patience httpllm.Timeouts
	server   *httpllm.Server
	models   sdk.ModelService

	noTemperature atomic.Bool // the model refuses the parameter
}

// New validates the configuration. It sends no request.
func New(c Config) (*Model, error) {
	var errs []error
	if c.Model == "" {
		errs = append(errs, errors.New("ANTHROPIC_MODEL is empty: set a model name"))
	}
	if c.APIKey == "" {
		errs = append(errs, errors.New("ANTHROPIC_API_KEY is empty"))
	}
	if c.Thinking != 0 && c.Thinking < 1024 {
		errs = append(errs, errors.New("ANTHROPIC_THINKING must be 0, or at least 1024"))
	}
	base := cmp.Or(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(c.BaseURL), "/"), "/v1"), defaultBaseURL)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("ANTHROPIC_BASE_URL must be a URL like https://api.anthropic.com"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &Model{name: c.Model, thinking: c.Thinking, http: c.HTTPClient, log: c.Log, patience: httpllm.Timeouts{
		FirstToken: cmp.Or(c.FirstToken, 120*time.Second), Idle: cmp.Or(c.Idle, 60*time.Second),
		IdleText: 180 * time.Second,
	}}
	if m.log == nil {
		m.log = slog.Default()
	}
	if m.http == nil {
		m.http = httpllm.NewHTTPClient()
	}
	m.server = &httpllm.Server{
		Name: c.Model, Key: c.APIKey, KeySetting: "ANTHROPIC_API_KEY", ModelSetting: "ANTHROPIC_MODEL",
		AddressSetting: "ANTHROPIC_BASE_URL", Log: m.log, RetryFor: cmp.Or(c.RetryFor, 30*time.Second),
	}
	// The service is built without the SDK's defaults, which would read keys and URLs from the environment.
	m.messages = sdk.NewMessageService(option.WithBaseURL(base), option.WithAPIKey(c.APIKey), option.WithHTTPClient(
		m.http,
	),
		option.WithMaxRetries(0), option.WithMiddleware(m.interceptResponse))
	m.models = sdk.NewModelService(option.WithBaseURL(base), option.WithAPIKey(c.APIKey), option.WithHTTPClient(m.http),
		option.WithMaxRetries(0), option.WithMiddleware(m.server.Respond))
	return m, nil
}

// Name returns the model's name.
func (m *Model) Name() string { return m.name }

// Close closes idle connections. The model can be used again after it.
func (m *Model) Close() { m.http.CloseIdleConnections() }

// Stream sends a request. See llm.Model. A request that failed before a part was yielded is tried up to three times;
// a rate limit is returned to the caller, who can inform users.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		err := m.server.Retry(ctx, false, func() (bool, *llm.Error) {
			for {
				params, err := m.requestParams(req)
				if err != nil {
					return false, &llm.Error{
						Kind: llm.KindInvalid, Message: "The request to the model could not be created.", Err: err,
					}
				}
				more, e := m.streamOnce(ctx, req, params, yield)
				if !params.Temperature.Valid() || !refusesTemperature(e) {
					return more, e
				}
				m.noTemperature.Store(true) // so the next request has none
			}
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// refusesTemperature reports whether a request was refused because of its temperature, which some models do not
// support. All later requests of the process omit it.
func refusesTemperature(e *llm.Error) bool {
	return e != nil && e.Kind == llm.KindInvalid && e.Err != nil && strings.Contains(e.Err.Error(), "temperature")
}

// watchedBody is a body that is read through a watchdog.
type watchedBody struct {
	io.Reader
	io.Closer
}

// watchdogKey is the context key of a request's watchdog, since the SDK passes nothing else to the middleware.
type watchdogKey struct{}

// interceptResponse converts a reply in one JSON document to a stream and other documents to errors, and has the
// watchdog read the body. It runs before the SDK reads the body, which would treat a proxy's page, or an error with
// status 200, as a stream without events.
func (m *Model) interceptResponse(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := m.server.Respond(req, next)
	if err != nil {
		return nil, err
	}
	if dog, ok := req.Context().Value(watchdogKey{}).(*httpllm.Watchdog); ok {
		dog.Body = res.Body
		res.Body = watchedBody{dog, res.Body}
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind != "application/json" && kind != "text/html" {
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument))
	if err != nil {
		return nil, m.server.Transport(req.Context(), err)
	}
	if events := documentEvents(body); events != nil {
		res.Header.Set("Content-Type", "text/event-stream")
		res.Body = io.NopCloser(bytes.NewReader(events))
		return res, nil
	}
	if message, code, _ := httpllm.ReadFault(body); kind == "application/json" && (message != "" || code != "") {
		return nil, m.server.Classify(0, body, res.Header)
	}
	m.log.WarnContext(
		req.Context(), "the model server returned no event stream", "content_type", kind, "begin",
		m.server.Redact(httpllm.Clip(string(body), 200)),
	)
	return nil, &llm.Error{
		Kind: llm.KindProtocol, Message: "The model server sent an invalid response. Check ANTHROPIC_BASE_URL.",
	}
}

// maxDocument is the maximum size of a reply in one document, in bytes.
const maxDocument = 8 << 20

// documentEvents encodes a reply in one JSON document as the events of a stream. It returns nil if the document is
// not a reply.
func documentEvents(document []byte) []byte {
	var reply struct {
		Type       string            `json:"type"`
		Content    []json.RawMessage `json:"content"`
		StopReason json.RawMessage   `json:"stop_reason"`
		Usage      json.RawMessage   `json:"usage"`
	}
	if json.Unmarshal(document, &reply) != nil || reply.Type != "message" {
		return nil
	}
	var events []byte
	write := func(kind string, fields map[string]any) {
		fields["type"] = kind
		if data, err := json.Marshal(fields); err == nil { // the values are valid JSON
			events = sse.Append(events, 0, kind, data)
		}
	}
	write("message_start", map[string]any{"message": json.RawMessage(document)})
	for i, content := range reply.Content {
		var block struct{ Input json.RawMessage }
		_ = json.Unmarshal(content, &block) // a block that is not an object has no input
		write("content_block_start", map[string]any{"index": i, "content_block": content})
		write("content_block_delta", map[string]any{"index": i, "delta": map[string]any{
			"type": "input_json_delta", "partial_json": string(block.Input),
		}})
		write("content_block_stop", map[string]any{"index": i})
	}
	write("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reply.StopReason}, "usage": reply.Usage,
	})
	write("message_stop", map[string]any{})
	return events
}
