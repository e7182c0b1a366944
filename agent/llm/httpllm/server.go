// Package httpllm has the shared code of clients of model servers: parsing errors (Server.Classify), retries and a
// circuit breaker (Server.Retry), and timeouts of streams (Watchdog). It also caches whether a server is reachable
// (ReachCache) and repairs histories that providers would refuse (Repair). It parses the error formats of several
// providers, and none of their protocols.
package httpllm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sony/gobreaker/v2"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/text/sse"
)

// Server is the state of a client about its server. The names of settings are used in error messages. Key, the
// names, Log and RetryFor are set before its first use; after that it is safe for concurrent use.
type Server struct {
	Name           string // name of the model, for the log
	Key            string // never printed; empty for none
	KeySetting     string // like OPENAI_API_KEY
	ModelSetting   string
	AddressSetting string
	Log            *slog.Logger
	RetryFor       time.Duration // no further try starts after this time
	Reachable      ReachCache    // updated by requests

	once    sync.Once
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewHTTPClient returns a client with a large connection pool and without compression of streams, so that no chunk
// waits in a buffer. It has no timeout; a Watchdog cancels requests. The proxy comes from the environment. Many idle
// connections to one host are kept, because all runs use one model server, and a handshake for each would delay the
// first token.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialCopying(dialer), ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
		IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}}
}

// Redact removes the key from a text for the log. Providers repeat the key that they refuse, at least in part; a
// partial key is not redacted.
func (s *Server) Redact(text string) string {
	if s.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "[key]")
}

const (
	// MaxErrorBody is the maximum number of bytes of an error that are read.
	MaxErrorBody = 64 << 10
	maxBody      = 32 << 20 // of a response that is not a stream
	maxList      = 4 << 20  // of a list of models
)

// Causes of a request's cancellation by a Watchdog. The patterns below were collected from the messages of providers
// and servers, since no standard has codes for these failures.
var (
	ErrNoFirstToken = errors.New("timeout before the first token")
	ErrSilence      = errors.New("the stream timed out")
)

var (
	tooLong = lazy.Regexp(
		`(?i)context[_ ]?length|context[_ ](window|size|limit)|maximum (context|(model|prompt) length)|exceeds? the ` +
			`(available )?context|(prompt|input|request)( is)? too (long|large for|many tokens)|too many (input ` +
			`)?tokens|(input|prompt|input and output) tokens? .*exceed|(input|prompt) token count .*exceed|exceeds? ` +
			`.*(input|prompt|model) tokens?|exceeded model token limit|range of input length|reduce the ` +
			`length|tokens.{0,30}must be <=|request_too_large`,
	)
	quota = lazy.Regexp(
		`(?i)insufficient[_ ](quota|balance|credits)|credit balance|exceeded your current quota|billing|out of ` +
			`credits|payment required`,
	)
	badCall = lazy.Regexp(
		`(?i)tool_use_failed|failed to (call a function|parse (the )?(input|tool|function|model ` +
			`output|messages))|(parse|parsing|invalid|malformed) tool[_ ]?calls?`,
	)
	noEndpoint = lazy.Regexp(`(?i)unexpected endpoint`) // LM Studio, with status 200
	maxOnly    = lazy.Regexp(
		`(?i)max_(completion_)?tokens.{0,20}(too large|at most|must be|is not supported|cannot)`,
	)
)

// fault is an error object of a provider, in a body or in a stream.
type fault struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  json.RawMessage `json:"status"`
}

// ReadFault parses an error: an error object, an object or a list that contains one, or a string. All results are
// empty if there is none. Servers made with FastAPI put it under detail. The status in the body is for streams,
// whose HTTP status was 200. A body longer than MaxErrorBody is ignored, which limits the nesting.
func ReadFault(raw []byte) (message, code string, status int) {
	if len(raw) > MaxErrorBody {
		return "", "", 0
	}
	raw = bytes.TrimSpace(raw)
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return ReadFault(list[0])
	}
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &outer) == nil {
		for _, inner := range []json.RawMessage{outer.Error, outer.Detail} {
			if len(inner) > 0 && string(inner) != "null" {
				return ReadFault(inner)
			}
		}
	}
	if json.Unmarshal(raw, &message) == nil {
		return message, "", 0
	}
	var f fault
	if json.Unmarshal(raw, &f) != nil {
		return "", "", 0
	}
	code = strings.Trim(string(f.Code), `"`)
	for _, s := range []json.RawMessage{f.Code, f.Status} {
		if n, err := strconv.Atoi(strings.Trim(string(s), `"`)); err == nil && n >= 100 && n < 600 {
			status = n
		}
	}
	if code == "" || code == "null" {
		code = f.Type
	}
	return f.Message, code, status
}

// Classify converts a provider's response to an Error. A status of 0 means that the error came inside a stream. The
// order of the cases matters: a context overflow comes with 400, 413 or 500, an exhausted quota with 402, 403 or
// 429. The provider's text is the cause, with the key redacted, and never part of Message. An output token limit
// that is too high has a similar text as a prompt that is too long; maxOnly separates it, since the request has to
// change, not the conversation. Messages name the setting to check.
func (s *Server) Classify(status int, raw []byte, header http.Header) *llm.Error {
	message, code, said := ReadFault(raw)
	if status == 0 {
		status = said
	}
	e := &llm.Error{Status: status, Code: s.Redact(Clip(code, 100))}
	text := code + " " + message
	switch {
	case badCall().MatchString(text):
		e.Kind, e.Message = llm.KindBadCall, "The model wrote a tool call that its server could not read."
	case tooLong().MatchString(text) && !maxOnly().MatchString(text):
		e.Kind, e.Message = llm.KindTooLong,
			"The conversation exceeds the model's context limit. Start a new one, or ask for less at once."
	case status == http.StatusPaymentRequired, quota().MatchString(text):
		e.Kind, e.Message = llm.KindQuota,
			"Your quota at the model provider is used up. Check your plan and billing there."
	case status == http.StatusTooManyRequests, strings.Contains(code, "rate_limit"):
		e.Kind, e.Message = llm.KindRateLimited,
			"Model provider rate limit exceeded. Try again in a moment."
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == "invalid_api_key":
		e.Kind, e.Message = llm.KindAuth, locale.Say(
			"The model provider rejected the API key. Check {1}.", s.KeySetting,
		)
	case status == http.StatusNotFound && strings.Contains(strings.ToLower(message), "model"):
		e.Kind, e.Message = llm.KindInvalid,
			locale.Say(
				"Model {1} not found on the model server. Install it (Ollama: “ollama pull {2}”), or set {3} to an "+
					"available model.", s.Name, s.Name, s.ModelSetting,
			)
	case status == http.StatusNotFound, noEndpoint().MatchString(text):
		e.Kind, e.Message = llm.KindInvalid, locale.Say(
			"Model or URL not found at the model provider. Check {1} and {2}{3}.",
			s.ModelSetting, s.AddressSetting, s.usualEnd(),
		)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500, status == 0:
		e.Kind, e.Message = llm.KindServer, "The model server failed. Try again in a moment."
	default:
		e.Kind, e.Message = llm.KindInvalid, "The model provider rejected the request. See the log for the reason."
	}
	if header != nil {
		e.RetryAfter = RetryAfter(header, time.Now())
	}
	if e.Kind == llm.KindRateLimited && e.RetryAfter > time.Minute {
		e.Message = locale.Say(
			"Model provider rate limit exceeded. Try again in {1}.",
			e.RetryAfter.Round(time.Second).String(),
		)
	}
	if message != "" {
		e.Err = errors.New(s.Redact(Clip(message, 500)))
	}
	return e
}

// usualEnd returns a hint about the part that is often missing from a base URL of OpenAI's protocol.
func (s *Server) usualEnd() string {
	if s.AddressSetting == "OPENAI_BASE_URL" {
		return ", which usually ends with /v1"
	}
	return ""
}

// limitedBody is a body with a size limit.
type limitedBody struct {
	io.Reader
	io.Closer
}

// Respond is a middleware for SDKs that converts an error response before the SDK reads its body without a limit. It
// limits the bodies of other responses, except streams: their events are limited, and the watchdog cancels them. It
// releases the request's body once the response begins.
func (s *Server) Respond(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	released := releaseBody(req)
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 400 {
		released()
		if req.Header.Get("Accept") != "text/event-stream" {
			most := int64(maxBody)
			if req.Method == http.MethodGet {
				most = maxList
			}
			res.Body = limitedBody{io.LimitReader(res.Body, most), res.Body}
		}
		return res, nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, MaxErrorBody)) // a partly read body is enough
	_ = res.Body.Close()
	return nil, s.Classify(res.StatusCode, body, res.Header)
}

// Transport converts an error of a request or a read to an *llm.Error. It checks the context's cause first, since a
// closed connection causes errors of every kind: a Watchdog's cause is a timeout, any other a cancellation.
func (s *Server) Transport(ctx context.Context, err error) *llm.Error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrNoFirstToken), errors.Is(cause, ErrSilence):
		return &llm.Error{
			Kind: llm.KindTimeout, Message: "The model timed out. Try again, or use a faster model.",
			Err: cause,
		}
	case cause != nil:
		return &llm.Error{Kind: llm.KindCancelled, Message: "The request was canceled.", Err: cause}
	case errors.Is(err, sse.ErrTooLong):
		return &llm.Error{Kind: llm.KindProtocol, Message: "The model server sent a chunk that is too large.", Err: err}
	}
	return &llm.Error{
		Kind: llm.KindUnreachable, Message: locale.Say(
			"Can't reach the model server. Check that it is running and that {1} is correct.", s.AddressSetting,
		),
		Err: errors.New(s.Redact(err.Error())),
	}
}

// Clip truncates a text to n bytes, at a rune boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
