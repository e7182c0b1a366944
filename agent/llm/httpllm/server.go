// Package httpllm holds what the clients of model servers share: reading refusals (Server.Classify), trying again and
// leaving a dead server alone (Server.Retry), ending a reply that falls silent (Watchdog), remembering whether a server
// can be reached (Reach) and mending histories that providers would refuse (Repair). It knows the forms of several
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
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sony/gobreaker/v2"

	"github.com/footnote/footnote/agent/llm"
)

// Server is what a client knows of the server it speaks to. The names of settings stand in the sentences of errors.
// Key, the names, Log and RetryFor are set before its first use; after that it is safe for concurrent use.
type Server struct {
	Name           string // of the model, for the log
	Key            string // never printed; empty for none
	KeySetting     string // like OPENAI_API_KEY
	ModelSetting   string
	AddressSetting string
	Log            *slog.Logger
	RetryFor       time.Duration // no further try begins after this
	Reach          Reach         // requests tell it what they find

	once    sync.Once
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewHTTPClient returns a client that keeps connections for many runs at once and leaves streams uncompressed, so that
// no piece waits in a buffer. It has no time limit of its own: a Watchdog ends what takes too long. The proxy comes
// from the environment, as everywhere in Go. Many idle connections to one host are kept, because all runs speak to one
// model server, and a handshake for each would be felt before the first token.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
		IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}}
}

// Redact takes the key out of a text that goes to the log. Providers repeat the key that they refuse, at least in part;
// a part is not found by this.
func (s *Server) Redact(text string) string {
	if s.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "[key]")
}

const (
	// MaxErrorBody is how many bytes of an error are read.
	MaxErrorBody = 64 << 10
	maxBody      = 32 << 20 // of an answer that is not a stream
	maxList      = 4 << 20  // of a list of models
)

// Causes with which a Watchdog ends a request. The patterns were gathered from what providers and servers write; no
// standard has codes for these failures.
var (
	ErrNoFirstToken = errors.New("no first token came in time")
	ErrSilence      = errors.New("the stream fell silent")

	// ErrEventTooLong is what reading a stream fails with when one event of it is larger than a client takes.
	ErrEventTooLong = errors.New("an event of the stream is longer than 8 MiB")
)

var (
	tooLong = regexp.MustCompile(
		`(?i)context[_ ]?length|context[_ ](window|size|limit)|maximum (context|(model|prompt) length)|exceeds? the ` +
			`(available )?context|(prompt|input|request)( is)? too (long|large for|many tokens)|too many (input ` +
			`)?tokens|(input|prompt|input and output) tokens? .*exceed|(input|prompt) token count .*exceed|exceeds? ` +
			`.*(input|prompt|model) tokens?|exceeded model token limit|range of input length|reduce the ` +
			`length|tokens.{0,30}must be <=|request_too_large`,
	)
	quota = regexp.MustCompile(
		`(?i)insufficient[_ ](quota|balance|credits)|credit balance|exceeded your current quota|billing|out of ` +
			`credits|payment required`,
	)
	badCall = regexp.MustCompile(
		`(?i)tool_use_failed|failed to (call a function|parse (the )?(input|tool|function|model ` +
			`output|messages))|(parse|parsing|invalid|malformed) tool[_ ]?calls?`,
	)
	noEndpoint = regexp.MustCompile(`(?i)unexpected endpoint`) // LM Studio, with status 200
	maxOnly    = regexp.MustCompile(
		`(?i)max_(completion_)?tokens.{0,20}(too large|at most|must be|is not supported|cannot)`,
	)
)

// fault is an error as providers write it, in a body or in a stream.
type fault struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  json.RawMessage `json:"status"`
}

// ReadFault understands an error object, an object or a list that holds one, and a bare string. All is empty if there
// is none.
// Servers made with FastAPI put it under detail. The status inside the body is for streams, whose HTTP status was 200.
// A body longer than MaxErrorBody is no error, which bounds the nesting.
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

// Classify makes an error of what a provider said. A status of 0 means that the error came inside a stream. The order
// of the cases matters: a context that is too long comes with 400, 413 or 500, a spent quota with 402, 403 or 429. What
// the provider said is kept as the cause, without the key. A limit of output tokens has much in common with a prompt
// that is too long, and is told apart by maxOnly: it is the request that has to change, not the conversation. Sentences
// name the setting to look at; nothing of the provider's own words stands in Message.
func (s *Server) Classify(status int, raw []byte, header http.Header) *llm.Error {
	message, code, said := ReadFault(raw)
	if status == 0 {
		status = said
	}
	e := &llm.Error{Status: status, Code: s.Redact(Clip(code, 100))}
	text := code + " " + message
	switch {
	case badCall.MatchString(text):
		e.Kind, e.Message = llm.KindBadCall, "The model wrote a tool call that its server could not read."
	case tooLong.MatchString(text) && !maxOnly.MatchString(text):
		e.Kind, e.Message = llm.KindTooLong,
			"The conversation is too long for the model. Start a new one, or ask for less at once."
	case status == http.StatusPaymentRequired, quota.MatchString(text):
		e.Kind, e.Message = llm.KindQuota,
			"The model provider says that your quota is spent. Check your plan and billing there."
	case status == http.StatusTooManyRequests, strings.Contains(code, "rate_limit"):
		e.Kind, e.Message = llm.KindRateLimited,
			"The model provider limits how many requests you may send. Try again in a moment."
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == "invalid_api_key":
		e.Kind, e.Message = llm.KindAuth, "The model provider refused the key. Check "+s.KeySetting+"."
	case status == http.StatusNotFound && strings.Contains(strings.ToLower(message), "model"):
		e.Kind, e.Message = llm.KindInvalid,
			"The model server does not have the model "+s.Name+". Get it there, with Ollama by “ollama pull "+s.Name+
				"”, or set "+s.ModelSetting+" to one that it has."
	case status == http.StatusNotFound, noEndpoint.MatchString(text):
		e.Kind, e.Message = llm.KindInvalid, "The model provider does not know the model or the address. Check "+
			s.ModelSetting+" and "+s.AddressSetting+s.usualEnd()+"."
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500, status == 0:
		e.Kind, e.Message = llm.KindServer, "The model server failed. Try again in a moment."
	default:
		e.Kind, e.Message = llm.KindInvalid, "The model provider refused the request. See the log for its reason."
	}
	if header != nil {
		e.RetryAfter = RetryAfter(header, time.Now())
	}
	if e.Kind == llm.KindRateLimited && e.RetryAfter > time.Minute {
		e.Message = "The model provider limits how many requests you may send, and asks to wait " +
			e.RetryAfter.Round(time.Second).String() + "."
	}
	if message != "" {
		e.Err = errors.New(s.Redact(Clip(message, 500)))
	}
	return e
}

// usualEnd is what is mostly missing from an address of OpenAI's protocol.
func (s *Server) usualEnd() string {
	if s.AddressSetting == "OPENAI_BASE_URL" {
		return ", which usually ends with /v1"
	}
	return ""
}

// limited is a body of which only so much is read.
type limited struct {
	io.Reader
	io.Closer
}

// Respond is a middleware for SDKs that turns a response that is an error into one, before the SDK reads its body
// without a limit. Streams are not limited as a whole: their events are, and the watchdog ends them.
func (s *Server) Respond(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 400 {
		if req.Header.Get("Accept") != "text/event-stream" {
			most := int64(maxBody)
			if req.Method == http.MethodGet {
				most = maxList
			}
			res.Body = limited{io.LimitReader(res.Body, most), res.Body}
		}
		return res, nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, MaxErrorBody)) // what was read of it is good enough
	_ = res.Body.Close()
	return nil, s.Classify(res.StatusCode, body, res.Header)
}

// Transport makes an error of a request or a read that failed. A context that ended tells why: by a Watchdog it is a
// timeout, by anybody else a cancellation. The context's cause is looked at first: closing a connection makes errors of
// every kind, and the cause alone tells who closed it.
func (s *Server) Transport(ctx context.Context, err error) *llm.Error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrNoFirstToken), errors.Is(cause, ErrSilence):
		return &llm.Error{
			Kind: llm.KindTimeout, Message: "The model did not answer in time. Try again, or use a faster model.",
			Err: cause,
		}
	case cause != nil:
		return &llm.Error{Kind: llm.KindCancelled, Message: "The request was stopped.", Err: cause}
	case errors.Is(err, ErrEventTooLong):
		return &llm.Error{Kind: llm.KindProtocol, Message: "The model server sent a piece that is too large.", Err: err}
	}
	return &llm.Error{
		Kind: llm.KindUnreachable, Message: "The model server can't be reached. Check that it runs and that " +
			s.AddressSetting + " is right.",
		Err: errors.New(s.Redact(err.Error())),
	}
}

// Clip shortens a text to n bytes, between runes.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
