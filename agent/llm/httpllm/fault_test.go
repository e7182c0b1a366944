package httpllm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

func newServer() *Server {
	return &Server{
		Name: "m", KeySetting: "KEY", ModelSetting: "MODEL", AddressSetting: "ADDRESS",
		Log: slog.New(slog.DiscardHandler), RetryFor: 30 * time.Second,
	}
}

// Row 47: providers report a context overflow in many ways.
func TestContextOverflowIsDetectedByMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
		want   llm.ErrorKind
	}{
		{
			400,
			`{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages ` +
				`resulted in 9001 tokens.","code":"context_length_exceeded"}}`, llm.KindTooLong,
		},
		{
			400,
			`{"type":"error","error":{"type":"invalid_request_error",` +
				`"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.KindTooLong,
		},
		{
			400, `{"error":{"message":"input length and ` + "`max_tokens`" +
				` exceed context limit: 190000 + 20000 > 200000"}}`, llm.KindTooLong,
		},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
			llm.KindTooLong},
		{
			500,
			`{"error":{"code":500,"message":"the request exceeds the available context size, try increasing it",` +
				`"type":"exceed_context_size_error"}}`, llm.KindTooLong,
		},
		{
			400,
			`{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed ` +
				`(1048576)."}}`, llm.KindTooLong,
		},
		{
			400,
			`{"message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum ` +
				`context length"}`, llm.KindTooLong,
		},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion."}}`, llm.KindTooLong},
		{400, `{"message":"Input is too long for requested model."}`, llm.KindTooLong},
		{422, `{"error":"Input validation error: inputs tokens + max_new_tokens must be <= 8193"}`, llm.KindTooLong},
		{400, `{"error":{"message":"Range of input length should be [1, 30720]"}}`, llm.KindTooLong},
		{
			400,
			`{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length ` +
				`of 4096"}`, llm.KindTooLong,
		},
		{400, `{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`,
			llm.KindTooLong},
		{
			400,
			`{"error":{"message":"prompt token count of 64000 exceeds the limit of 60000",` +
				`"code":"model_max_prompt_tokens_exceeded"}}`, llm.KindTooLong,
		},
		{400, `{"error":{"message":"invalid params, context window exceeds limit"}}`, llm.KindTooLong},
		{400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 65536"}}`,
			llm.KindTooLong},
		{400, `{"error":"prompt too long; exceeded max context length by 12 tokens"}`, llm.KindTooLong},
		{
			429,
			`{"error":{"message":"Request too large for m in organization o on tokens per min (TPM): Limit 10000, ` +
				`Requested 12000."}}`, llm.KindTooLong,
		},

		{
			400,
			`{"error":{"message":"max_tokens is too large: 40000. This model supports at most 16384 completion ` +
				`tokens"}}`, llm.KindInvalid,
		},
		{400, `{"error":{"message":"max_tokens must be at most 4096"}}`, llm.KindInvalid},
		{
			400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use ` +
				`'max_completion_tokens' instead."}}`, llm.KindInvalid,
		},
		{
			429,
			`{"error":{"message":"Rate limit reached for m on tokens per min (TPM): Limit 10000, Used 9000, ` +
				`Requested 1200."}}`, llm.KindRateLimited,
		},
		{429, `{"error":{"message":"Too many requests"}}`, llm.KindRateLimited},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.KindServer},

		{
			400,
			`{"error":{"message":"Failed to call a function. Please adjust your prompt.","code":"tool_use_failed",` +
				`"failed_generation":"<function=search>"}}`, llm.KindBadCall,
		},
		{500, `{"error":{"code":500,"message":"Failed to parse input at pos 41: <tool_call>","type":"server_error"}}`,
			llm.KindBadCall},
		{402, `{}`, llm.KindQuota},
		{429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, llm.KindQuota},
		{
			400,
			`{"type":"error","error":{"type":"invalid_request_error",` +
				`"message":"Your credit balance is too low to access the API."}}`, llm.KindQuota,
		},
		{401, `{}`, llm.KindAuth},
		{404, `{}`, llm.KindInvalid},
		{503, `<html>`, llm.KindServer},
	} {
		if got := newServer().Classify(tt.status, []byte(tt.body), nil); got.Kind != tt.want {
			t.Errorf("%d %s is %q, want %q", tt.status, tt.body, got.Kind, tt.want)
		}
	}
}

// Row 44: the delay of a retry has many formats.
func TestRetryAfterFormats(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := now.Add(90 * time.Second)
	for _, tt := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", " 0.5 ", 500 * time.Millisecond},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "10800", 3 * time.Hour},
		{"Retry-After", "3h", 3 * time.Hour},
		{"Retry-After", "6m0s", 6 * time.Minute},
		{"Retry-After", at.Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", at.Format("Monday, 02-Jan-06 15:04:05 GMT"), 90 * time.Second},
		{"Retry-After", at.Format(time.ANSIC), 90 * time.Second},
		{"Retry-After", at.Format(time.RFC3339), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After", now.Add(1000 * time.Hour).Format(http.TimeFormat), 24 * time.Hour},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "Inf", 24 * time.Hour},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "-5", 0},
		{"Retry-After", "-5s", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
	} {
		if got := RetryAfter(http.Header{tt.header: {tt.value}}, now); got != tt.want {
			t.Errorf("%s: %q is %v, want %v", tt.header, tt.value, got, tt.want)
		}
	}
	slow := http.Header{"Retry-After": {at.Format(http.TimeFormat)}, "Date": {now.Format(http.TimeFormat)}}
	if got := RetryAfter(slow, now.Add(time.Hour)); got != 90*time.Second {
		t.Errorf("by the server's own clock: %v, want %v", got, 90*time.Second)
	}
	got := newServer().Classify(429, nil, http.Header{"Retry-After": {"10800"}})
	if !strings.Contains(got.Message.String(), "3h0m0s") {
		t.Errorf("message of a long wait = %s, want %q in it", got.Message, "3h0m0s")
	}
}

// Errors of a self-hosted model are distinguished and name the next step.
func TestMissingModelDiffersFromWrongAddress(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.Name, s.AddressSetting = "llama3.2", "OPENAI_BASE_URL"
	for body, want := range map[string]string{
		`{"error":{"message":"model \"llama3.2\" not found, try pulling it first",` +
			`"type":"api_error"}}`: "ollama pull llama3.2",
		`{"object":"error","message":"The model ` + "`llama3.2`" +
			` does not exist."}`: "ollama pull llama3.2",
		"404 page not found":     "usually ends with /v1",
		`{"detail":"Not Found"}`: "usually ends with /v1",
	} {
		if got := s.Classify(404, []byte(body), nil); got.Kind != llm.KindInvalid ||
			!strings.Contains(got.Message.String(), want) {
			t.Errorf("%s: %s %q; want %s and %q in it", body, got.Kind, got.Message, llm.KindInvalid, want)
		}
	}
	if got := s.Classify(0, []byte(`{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`),
		nil); !strings.Contains(got.Message.String(), "usually ends with /v1") {
		t.Errorf("an unexpected endpoint: %q, want %q in it", got.Message, "usually ends with /v1")
	}
}

// failing counts its tries and fails them all.
type failing struct {
	err   llm.Error
	tries int
}

func (f *failing) try() (bool, *llm.Error) {
	f.tries++
	e := f.err
	return false, &e
}

// Row 46: at most three tries in thirty seconds.
func TestFailureIsTriedThreeTimes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     llm.Error
		patient bool
		tries   int
	}{
		{"a failed server", llm.Error{Kind: llm.KindServer, Status: 503}, false, 3},
		{"an overloaded one", llm.Error{Kind: llm.KindServer, Status: 529}, false, 3},
		{"a name that is gone", llm.Error{Kind: llm.KindUnreachable}, false, 3},
		{"a wrong key", llm.Error{Kind: llm.KindAuth}, false, 1},
		{"a spent quota", llm.Error{Kind: llm.KindQuota}, true, 1},
		{"a limit that says nothing", llm.Error{Kind: llm.KindRateLimited}, false, 1},
		{"a limit of a moment", llm.Error{Kind: llm.KindRateLimited, RetryAfter: time.Second}, false, 1},
		{"a limit that is waited for", llm.Error{Kind: llm.KindRateLimited, RetryAfter: 5 * time.Second}, true, 3},
		{"a limit beyond the time", llm.Error{Kind: llm.KindRateLimited, RetryAfter: 31 * time.Second}, true, 1},
		{"an empty reply", llm.Error{Kind: llm.KindEmpty}, false, 1},
		{"a reply that was shown", llm.Error{Kind: llm.KindIncomplete, Shown: true}, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, begin := failing{err: tt.err}, time.Now()
				err := newServer().Retry(t.Context(), tt.patient, f.try)
				if err == nil || err.Kind != tt.err.Kind || f.tries != tt.tries {
					t.Errorf("%d tries, want %d: %v", f.tries, tt.tries, err)
				}
				if took := time.Since(begin); took > 30*time.Second {
					t.Errorf("it took %v, want at most %v", took, 30*time.Second)
				}
			})
		})
	}
}

// Row 46: the circuit breaker opens after five consecutive failures, then one request tries the server.
func TestCircuitBreakerOpensForDeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newServer(), failing{err: llm.Error{Kind: llm.KindServer, Status: 500}}
		_ = s.Retry(t.Context(), false, f.try)
		_ = s.Retry(t.Context(), false, f.try)
		if err := s.Retry(t.Context(), false, f.try); f.tries != 5 || err.Code != CodeLeftAlone ||
			err.Kind != llm.KindUnreachable {
			t.Fatalf("after %d tries: %v; want 5, Code %v, Kind %v", f.tries, err, CodeLeftAlone, llm.KindUnreachable)
		}
		time.Sleep(16 * time.Second)
		if err := s.Retry(t.Context(), false, f.try); f.tries != 6 || err.Code != CodeLeftAlone {
			t.Errorf("the half-open server was tried %d times: %v, want Code %v", f.tries-5, err, CodeLeftAlone)
		}
		time.Sleep(16 * time.Second)
		for range 3 {
			if err := s.Retry(t.Context(), false, func() (bool, *llm.Error) {
				f.tries++
				return true, nil
			}); err != nil {
				t.Errorf("it answers again, but: %v, want no error", err)
			}
		}
		if f.tries != 9 {
			t.Errorf("%d tries, want 9", f.tries)
		}
	})
}

// Errors that are unrelated to the server's health do not count.
func TestRefusalsDoNotOpenCircuitBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, e := range []llm.Error{
			{Kind: llm.KindRateLimited, Status: 429, RetryAfter: time.Minute}, {Kind: llm.KindInvalid, Status: 400},
			{Kind: llm.KindBadCall, Status: 500}, {Kind: llm.KindTooLong, Status: 500},
		} {
			s, f := newServer(), failing{err: e}
			for range 8 {
				_ = s.Retry(t.Context(), false, f.try)
			}
			if f.tries != 8 {
				t.Errorf("%s: %d tries of 8, want 8", e.Kind, f.tries)
			}
		}
		s, stopped := newServer(), failing{err: llm.Error{Kind: llm.KindUnreachable}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 8 {
			_ = s.Retry(ctx, false, stopped.try)
		}
		if err := s.Retry(t.Context(), false, func() (bool, *llm.Error) { return true, nil }); err != nil {
			t.Errorf("requests that were stopped made it dead: %v, want no error", err)
		}
	})
}

func TestReachIsCachedForTenSeconds(t *testing.T) {
	var r ReachCache
	start, away := time.Unix(1_000_000, 0), errors.New("nobody answers")
	looks := 0
	look := func(found error) func(context.Context) error {
		return func(context.Context) error { looks++; return found }
	}
	ask := func(after time.Duration, found error) error {
		return r.Check(t.Context(), start.Add(after), look(found))
	}
	if err := ask(0, away); !errors.Is(err, away) {
		t.Fatalf("first check: got %v, want %v", err, away)
	}
	if err := ask(10*time.Second, nil); !errors.Is(err, away) || looks != 1 {
		t.Fatalf("check ten seconds later: got %v after %d requests; want the same error and 1 request", err, looks)
	}
	if err := ask(10*time.Second+1, nil); err != nil || looks != 2 {
		t.Fatalf("check after the cache expired: got %v after %d requests; want no error and 2 requests", err, looks)
	}
}

func TestReachIsNotCachedAfterCancellation(t *testing.T) {
	var r ReachCache
	now := time.Unix(1_000_000, 0)
	gone, leave := context.WithCancel(t.Context())
	err := r.Check(gone, now, func(ctx context.Context) error { leave(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled caller: got %v, want %v", err, context.Canceled)
	}
	if err := r.Check(t.Context(), now, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Fatalf("the next caller gets %v, which was of the one who left, want no error", err)
	}
	slow, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	later := now.Add(time.Minute)
	_ = r.Check(slow, later, func(ctx context.Context) error { return ctx.Err() })
	if err := r.Check(t.Context(), later, func(context.Context) error { return nil }); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Fatalf("a server that did not answer in time is asked again at once: %v, want %v",
			err, context.DeadlineExceeded)
	}
}

// pings is a body of comments with a pause before each.
type pings struct{ pause time.Duration }

func (p pings) Read(b []byte) (int, error) {
	time.Sleep(p.pause)
	return copy(b, ":\n"), nil
}

// A server that sends comments gets more time for its first chunk, and one that falls silent does not.
func TestKeepalivesExtendFirstChunkTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pause, want time.Duration
	}{{6 * time.Second, 50 * time.Second}, {11 * time.Second, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, dog := Watch(t.Context(), Timeouts{FirstToken: 10 * time.Second, Idle: time.Hour, IdleText: time.Hour})
			defer dog.Stop()
			dog.Body = pings{tt.pause}
			var ended time.Duration
			context.AfterFunc(ctx, func() { ended = time.Since(begun) })
			for ctx.Err() == nil {
				if _, err := io.CopyN(io.Discard, dog, 2); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if ended != tt.want || !errors.Is(context.Cause(ctx), ErrNoFirstToken) {
				t.Errorf("with a sign of life each %v it ended after %v with %v, want %v and %v", tt.pause, ended,
					context.Cause(ctx), tt.want, ErrNoFirstToken)
			}
		})
	}
}
