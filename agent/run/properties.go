package run

import (
	"footnote/agent/question"
	"footnote/llm"
)

// byProperties chooses metadata_search for a question that asks for documents by what is known about them. What it
// says besides is searched for at the same time. ok is false when it names no property, or there is no such tool.
func (w *Runner) byProperties(c choice) (choice, bool) {
	filters, rest := question.Properties(w.run.Request.Message)
	call, ok := w.call("metadata_search", map[string]any{"filters": filters}, 0)
	if !ok || len(filters) == 0 {
		return choice{}, false
	}
	c.opening, c.message, c.why = []llm.Call{
		call,
	}, "Chose metadata_search by rules", "It asks for documents by what is known about them."
	if question.AsksForDocuments(w.run.Request.Message) && len(question.Keywords(rest)) == 0 {
		return c, true
	}
	if tool := w.set.SearchTool(); tool != nil {
		if search, ok := w.call(tool.Name, map[string]any{"query": w.searchWords()}, 1); ok {
			c.opening, c.read = append(c.opening, search), w.reader() != nil
			c.message, c.why = "Chose metadata_search and "+tool.Name+" by rules", "It asks for documents by what is known about them, and for what stands in them."
		}
	}
	c.confidence = 0.5
	return c, true
}
