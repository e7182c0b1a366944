package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footnote/llm"
)

const (
	maxErrorBody = 64 << 10
	maxBody      = 64 << 20 // of an answer that is not a stream
)

// Causes with which a watchdog ends a request.
var (
	errNoFirstToken = errors.New("no first token came in time")
	errSilence      = errors.New("the stream fell silent")
)

var (
	tooLong = regexp.MustCompile(`(?i)context[_ ]length|context[_ ](window|size|limit)|maximum context|exceeds? the (available )?context|prompt (is )?too long|input (is )?too long|too many (input )?tokens|(input|prompt) tokens? .*exceed|exceeds? .*(input|prompt) tokens?|range of input length|reduce the length`)
	quota   = regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credits)|exceeded your current quota|billing|out of credits|payment required`)
	maxOnly = regexp.MustCompile(`(?i)max_(completion_)?tokens.{0,20}(too large|at most|must be|is not supported|cannot)`)
)

// fault is an error as providers write it, in a body or in a stream.
type fault struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  json.RawMessage `json:"status"`
}

// readFault understands an error object, an object that holds one, and a bare string.
func readFault(raw []byte) (message, code string, status int) {
	raw = bytes.TrimSpace(raw)
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &outer) == nil {
		for _, inner := range []json.RawMessage{outer.Error, outer.Detail} {
			if len(inner) > 0 && string(inner) != "null" {
				return readFault(inner)
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

// classify makes an error of what a provider said. A status of 0 means that the error came inside a stream.
func (m *Model) classify(status int, raw []byte, header http.Header) *llm.Error {
	message, code, said := readFault(raw)
	if status == 0 {
		status = said
	}
	e := &llm.Error{Status: status, Code: m.redact(clip(code, 100))}
	text := code + " " + message
	switch {
	case tooLong.MatchString(text) && !maxOnly.MatchString(text):
		e.Kind, e.Message = llm.KindTooLong, "The conversation is too long for the model. Start a new one, or ask for less at once."
	case status == http.StatusPaymentRequired, quota.MatchString(text):
		e.Kind, e.Message = llm.KindQuota, "The model provider says that your quota is spent. Check your plan and billing there."
	case status == http.StatusTooManyRequests, strings.Contains(code, "rate_limit"):
		e.Kind, e.Message = llm.KindRateLimited, "The model provider limits how many requests you may send. Try again in a moment."
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == "invalid_api_key":
		e.Kind, e.Message = llm.KindAuth, "The model provider refused the key. Check OPENAI_API_KEY."
	case code == "tool_use_failed":
		e.Kind, e.Message = llm.KindProtocol, "The model wrote a tool call that its server could not read."
	case status == http.StatusNotFound:
		e.Kind, e.Message = llm.KindInvalid, "The model provider does not know the model or the address. Check OPENAI_MODEL and OPENAI_BASE_URL."
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500, status == 0:
		e.Kind, e.Message = llm.KindServer, "The model server failed. Try again in a moment."
	default:
		e.Kind, e.Message = llm.KindInvalid, "The model provider refused the request. See the log for its reason."
	}
	if header != nil {
		e.RetryAfter = retryAfter(header, m.now())
	}
	if message != "" {
		e.Err = errors.New(m.redact(clip(message, 500)))
	}
	return e
}

// limited is a body of which only so much is read.
type limited struct {
	io.Reader
	io.Closer
}

// respond turns a response that is an error into one, before the SDK reads its body without a limit.
func (m *Model) respond(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 400 {
		if req.Header.Get("Accept") != "text/event-stream" {
			res.Body = limited{io.LimitReader(res.Body, maxBody), res.Body}
		}
		return res, nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what was read of it is good enough
	_ = res.Body.Close()
	return nil, m.classify(res.StatusCode, body, res.Header)
}

// transportError makes an error of a request or a read that failed.
func (m *Model) transportError(ctx context.Context, err error) *llm.Error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errNoFirstToken), errors.Is(cause, errSilence):
		return &llm.Error{Kind: llm.KindTimeout, Message: "The model did not answer in time. Try again, or use a faster model.", Err: cause}
	case cause != nil:
		return &llm.Error{Kind: llm.KindCancelled, Message: "The request was stopped.", Err: cause}
	case errors.Is(err, errEventTooLong):
		return &llm.Error{Kind: llm.KindProtocol, Message: "The model server sent a piece that is too large.", Err: err}
	}
	return &llm.Error{Kind: llm.KindUnreachable, Message: "The model server can't be reached. Check that it runs and that OPENAI_BASE_URL is right.",
		Err: errors.New(m.redact(err.Error()))}
}

// redact takes the key out of a text that goes to the log.
func (m *Model) redact(text string) string {
	if m.key == "" {
		return text
	}
	return strings.ReplaceAll(text, m.key, "[key]")
}

// retryAfter reads how long to wait from the headers; 0 means that they do not say, or nothing sensible.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, unit := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := strings.TrimSpace(h.Get(unit.header))
		if value == "" {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			if math.IsNaN(n) || n < 0 {
				continue
			}
			return time.Duration(min(n*float64(unit.unit), float64(24*time.Hour)))
		}
		if at, err := http.ParseTime(value); err == nil {
			return min(max(at.Sub(now), 0), 24*time.Hour)
		}
	}
	return 0
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
