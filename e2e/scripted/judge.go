package scripted

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// Judge gives log P(yes) − log P(no) for the prompt of a yes-or-no question (llm.AskYesNo).
type Judge func(prompt string) float64

// sure is the odds of a model without a Judge, which says yes to all.
const sure = 3

// odds are those of a request. Questions that tell whether a model can judge (agent/run/check.go) get the right reply.
func (j Judge) odds(req llm.Request) float64 {
	prompt := req.Messages[len(req.Messages)-1].Text
	switch {
	case strings.Contains(prompt, "What does a library card cost?"):
		return -sure
	case j == nil, strings.Contains(prompt, "When is the library open on weekdays?"):
		return sure
	}
	return j(prompt)
}

// verdict is the reply to a yes-or-no question: its word, and the tokens yes and no with their log-probabilities.
func verdict(odds float64) (word string, first []llm.Logprob) {
	yes := 1 / (1 + math.Exp(-odds))
	first = []llm.Logprob{{Token: "yes", Logprob: math.Log(yes)}, {Token: "no", Logprob: math.Log(1 - yes)}}
	if odds <= 0 {
		return "no", first
	}
	return "yes", first
}

// writeVerdict streams the reply to a yes-or-no question as OpenAI's protocol has it.
func writeVerdict(w http.ResponseWriter, odds float64) {
	word, first := verdict(odds)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q},"logprobs":{"content":[{"token":%[1]q,`+
		`"logprob":%[2]f,"top_logprobs":[{"token":"yes","logprob":%[2]f},{"token":"no","logprob":%[3]f}]}]},`+
		`"finish_reason":"length"}]}`+"\n\n"+`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1}}`+
		"\n\ndata: [DONE]\n\n", word, first[0].Logprob, first[1].Logprob) // the client left
}
