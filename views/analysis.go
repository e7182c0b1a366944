package views

import (
	"context"
	"strings"

	"github.com/footnote/footnote/text/locale"
)

// questionKinds maps an analysis's question type to its text. An analysis of another type is shown with the step's
// own message.
var questionKinds = map[string]locale.Text{
	"factual":           locale.T("Factual question"),
	"exploratory":       locale.T("Exploratory question"),
	"specific_document": locale.T("Question about one document"),
	"metadata":          locale.T("Question about document metadata"),
	"comparison":        locale.T("Comparison"),
	"calculation":       locale.T("Calculation"),
	"general":           locale.T("General question"),
	"follow_up":         locale.T("Follow-up question"),
}

var questionAbout = locale.T("{kind}: {words}")

// maxKeywords is the number of a question's keywords that the row shows.
const maxKeywords = 6

// analysed returns the question's type and keywords from the details of an analysis step. It is empty for other
// steps.
//
// The keywords are cut at 100 characters to fit the one-line row.
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
