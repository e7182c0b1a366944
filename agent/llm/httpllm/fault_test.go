package httpllm

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

func newServer() *Server {
	return &Server{
		Name: "m", KeySetting: "KEY", ModelSetting: "MODEL", AddressSetting: "ADDRESS",
		Log: slog.New(slog.DiscardHandler), RetryFor: 30 * time.Second,
	}
}

// Row 47: providers say in many ways that the history does not fit.
func TestContextTooLongIsKnownByItsWords(t *testing.T) {
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

// Row 44: how long to wait is said in many forms.
func TestRetryAfterIsReadInAllItsForms(t *testing.T) {
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
	if got := newServer().Classify(429, nil, http.Header{"Retry-After": {"10800"}}); !strings.Contains(got.Message,
		"3h0m0s") {
		t.Errorf("a long wait is not told: %s, want %q in it", got.Message, "3h0m0s")
	}
}

// What is wrong with a model of one's own is said with what to do next.
func TestAModelThatIsNotThereIsToldFromAWrongAddress(t *testing.T) {
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
			!strings.Contains(got.Message, want) {
			t.Errorf("%s: %s %q; want %s and %q in it", body, got.Kind, got.Message, llm.KindInvalid, want)
		}
	}
	if got := s.Classify(0, []byte(`{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`),
		nil); !strings.Contains(got.Message, "usually ends with /v1") {
		t.Errorf("an unexpected endpoint: %q, want %q in it", got.Message, "usually ends with /v1")
	}
}
