package llm_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/e2e/scripted"
)

// TestAskYesNoParsesVerdicts uses HTTP, as servers encode log-probabilities differently.
func TestAskYesNoParsesVerdicts(t *testing.T) {
	t.Parallel()
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n"
	says := func(choice string) string { return `data: {"choices":[{"index":0,` + choice + `}]}` + "\n\n" + end }
	for _, tt := range []struct {
		name, body string
		yes, known bool
		odds       float64
		failed     bool
	}{
		{"both", says(`"delta":{"content":"No"},"logprobs":{"content":[{"token":"No","logprob":-0.1,"top_logprobs":[` +
			`{"token":"No","logprob":-0.1},{"token":" yes","logprob":-3.1},{"token":"Maybe","logprob":-4}]}]}`),
			false, true, -3, false},
		{"two spellings of one word", says(`"delta":{"content":"yes"},"logprobs":{"content":[{"token":"yes",` +
			`"logprob":-1,"top_logprobs":[{"token":"yes","logprob":-1},{"token":"Yes","logprob":-1},` +
			`{"token":"no","logprob":-2}]}]}`), true, true, 1 + math.Ln2, false},
		{"one is not listed", says(`"delta":{"content":"yes"},"logprobs":{"content":[{"token":"yes","logprob":-0.1,` +
			`"top_logprobs":[{"token":"yes","logprob":-0.1},{"token":"It","logprob":-5.1}]}]}`), true, true, 5, false},
		{"an impossible token", says(`"delta":{"content":"yes"},"logprobs":{"content":[{"token":"yes","logprob":0,` +
			`"top_logprobs":[{"token":"yes","logprob":0},{"token":"no","logprob":-9999}]}]}`), true, true, 20, false},
		{"the word alone", says(`"delta":{"content":" Yes."}`), true, false, 0, false},
		{"null", says(`"delta":{"content":"no"},"logprobs":null`), false, false, 0, false},
		{"another form", says(`"delta":{"content":"no"},"logprobs":{"tokens":["no"]}`), false, false, 0, false},
		{"neither", says(`"delta":{"content":"The"}`), false, false, 0, true},
		{"neither, with probabilities", says(`"delta":{"content":"The"},"logprobs":{"content":[{"token":"The",` +
			`"logprob":-0.1,"top_logprobs":[{"token":"The","logprob":-0.1}]}]}`), false, false, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(web.Close)
			got, err := llm.AskYesNo(t.Context(), client(t, web), asks)
			if (err != nil) != tt.failed {
				t.Fatalf("error = %v, want one: %t", err, tt.failed)
			}
			if got.Yes != tt.yes || got.Known != tt.known || math.Abs(got.Odds-tt.odds) > 1e-4 {
				t.Errorf("got %+v, want yes %t, known %t, odds %v", got, tt.yes, tt.known, tt.odds)
			}
		})
	}
}

// TestAskYesNoWorksWithoutProbabilities covers a server that refuses the option.
func TestAskYesNoWorksWithoutProbabilities(t *testing.T) {
	t.Parallel()
	server := scripted.NewServer(scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{Text: "yes"}
	}})
	web := httptest.NewServer(scripted.RefuseTogether(server, 1, "top_logprobs",
		`{"error":{"message":"Unsupported parameter: 'top_logprobs'"}}`))
	t.Cleanup(web.Close)
	if got, err := llm.AskYesNo(t.Context(), client(t, web), asks); err != nil || !got.Yes || got.Known {
		t.Errorf("got %+v, %v; want yes, by the word", got, err)
	}
}

var asks = []llm.Message{{Role: llm.RoleUser, Text: "yes or no"}}

func client(t *testing.T, web *httptest.Server) llm.Model {
	t.Helper()
	m, err := openai.New(openai.Config{BaseURL: web.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
