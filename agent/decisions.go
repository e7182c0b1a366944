package agent

import (
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus/text"
)

// maxDecisions is how many choices of tools are remembered.
const maxDecisions = 1000

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
	if key := w.decisionKey(); key != "" && len(w.first) > 0 {
		w.decisions.put(key, slices.Clone(w.first))
	}
}
