package views

import (
	"context"
	"strings"

	"github.com/footnote/footnote/text/locale"
)

// questionKinds are the kinds of questions that rules tell apart, by the names that an analysis has for them.
// An analysis with another name is shown in the step's own words.
var questionKinds = map[string]locale.Text{
	"factual":           locale.T("A factual question"),
	"exploratory":       locale.T("An exploratory question"),
	"specific_document": locale.T("A question about one document"),
	"metadata":          locale.T("A question about the documents themselves"),
	"comparison":        locale.T("A comparison"),
	"calculation":       locale.T("A calculation"),
	"general":           locale.T("A general question"),
	"follow_up":         locale.T("A follow-up question"),
}

var questionAbout = locale.T("{kind}: {words}")

// maxKeywords is how many words of a question its analysis shows in the row.
const maxKeywords = 6

// analysed says what kind of a question it is and what it is about, from the details of a step that looked at it. It is
// empty for any other step.
//
// The words are cut at 100 characters, which is a choice: a row is one line.
func (s *Step) analysed(ctx context.Context) string {
	name, _ := s.Details["type"].(string)
	kind := questionKinds[name]
	if kind.IsZero() || s.ToolName != "" {
		return ""
	}
	var words []string
	switch list := s.Details["keywords"].(type) {
	case []any: // of a stored step
		for _, word := range list {
			if text, ok := word.(string); ok {
				words = append(words, text)
			}
		}
	case []string:
		words = list
	}
	if len(words) == 0 {
		return kind.In(ctx)
	}
	return questionAbout.Say(ctx, kind, clipped(strings.Join(words[:min(maxKeywords, len(words))], ", "), 100))
}
