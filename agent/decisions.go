package agent

import (
	"slices"
	"strings"
	"sync"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// maxDecisions is how many choices of tools are remembered.
const maxDecisions = 1000

// decisions remember which tools a model chose for a question's words, when that led to an answer with footnotes. Safe for concurrent use.
type decisions struct {
	mu    sync.Mutex
	calls map[string][]llm.Call
}

func newDecisions() *decisions { return &decisions{calls: map[string][]llm.Call{}} }

func (d *decisions) get(key string) ([]llm.Call, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls, ok := d.calls[key]
	return slices.Clone(calls), ok && key != ""
}

// put remembers a choice. When there are too many, all are forgotten: each comes back at the price of one turn.
func (d *decisions) put(key string, calls []llm.Call) {
	if key == "" || len(calls) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.calls) >= maxDecisions {
		clear(d.calls)
	}
	d.calls[key] = slices.Clone(calls)
}

// decisionKey is what questions have in common that the same tools answer: the content words in any order and form, and where they are
// searched for. It is empty for a question that leans on others, and for one that is asked again because its answer did not please.
func (w *work) decisionKey() string {
	req := w.run.Request
	if w.asked.Type == typeFollowUp || !w.asked.needsDocuments() || req.Sibling != "" || len(req.History) > 0 {
		return ""
	}
	language := text.Detect(req.Message)
	if language == "" {
		language = "en"
	}
	words := text.Terms(strings.Join(w.asked.Keywords, " "), language)
	if len(words) < 2 {
		return ""
	}
	slices.Sort(words)
	parts := []string{
		w.run.User, w.set.name, strings.Join(w.set.names(), " "), strings.Join(w.desk.scope.Namespaces, "\x01"), strings.Join(w.desk.only, "\x01"),
		strings.Join(slices.Compact(words), " "),
	}
	return strings.Join(parts, "\x00")
}

// learn remembers the model's first choice of a run that ended with an answer from documents.
func (w *work) learn(a chat.Answer) {
	if w.led || len(a.Citations) == 0 || a.StopReason != chat.StopAnswered || !w.thinks(featureDecisions) {
		return
	}
	w.decisions.put(w.decisionKey(), w.first)
}
