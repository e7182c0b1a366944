package agent

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestDocumentsAreFoundByTheirOwnDateAndProperties(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add(
		"Valuation.md",
		"---\ndate: 2024-03-01\nauthor: Ada Brown\ntags: [roof, value]\n---\n# Valuation\n\nThe house is worth "+
			"£400,000.\n",
	)
	h.add(
		"Minutes.md",
		"---\ndate: \"2024\"\nauthor: Ben Smith\ntags: [meeting]\n---\n# Minutes\n\nThe meeting was short.\n",
	)
	h.add("Old.md", "---\nyear: 2019\nauthor: [Cleo Hart, Zoë Núñez-Brown]\n---\n# Old\n\nNothing to report.\n")
	for _, tt := range []struct {
		filters string
		status  chat.Status
		found   string // file names; or, of none, part of the output
	}{
		{`{"year":2024}`, chat.StatusComplete, "Minutes.md Valuation.md"},
		{`{"year":"2024"}`, chat.StatusComplete, "Minutes.md Valuation.md"},
		{`{"year":2019}`, chat.StatusComplete, "Old.md"},
		{`{"year":2018}`, chat.StatusComplete, `"notes":[]`},
		{`{"date":"2024-03"}`, chat.StatusComplete, "Minutes.md Valuation.md"},
		{`{"author":"Ada Brown","year":2024}`, chat.StatusComplete, "Valuation.md"},
		{`{"author":"ada"}`, chat.StatusComplete, "Valuation.md"},
		{`{"author":"SMITH, Ben"}`, chat.StatusComplete, "Minutes.md"},
		{`{"author":"zoe nunez"}`, chat.StatusComplete, "Old.md"},
		{`{"author":"Brown"}`, chat.StatusComplete, "Old.md Valuation.md"},
		{`{"author":["Hart","Ben"]}`, chat.StatusComplete, "Minutes.md Old.md"},
		{`{"author":"Brown","year":2019}`, chat.StatusComplete, "Old.md"},
		{`{"author":"Ben Brown"}`, chat.StatusComplete, `"notes":[]`},
		{`{"author":"Bro"}`, chat.StatusComplete, `"notes":[]`},
		{`{"author":"."}`, chat.StatusComplete, `"notes":[]`},
		{`{"tags":"ROOF"}`, chat.StatusComplete, `"notes":[]`},
		{`{"date_from":"2019","date_to":"2023-12-31"}`, chat.StatusComplete, "Old.md"},
		{`{"date_from":"2024-02-01"}`, chat.StatusComplete, "Minutes.md Valuation.md"},
		{`{"date_to":"soon"}`, chat.StatusError, "date_to must be a date like 2026-01-31, 2026-01 or 2026"},
		{`{"date_to":"2024-02-30"}`, chat.StatusError, "date_to must be a date like 2026-01-31, 2026-01 or 2026"},
		{`{"year":2024,"date_to":"2019"}`, chat.StatusError, "No date is both 2024 or later and 2019 or earlier"},
		{`{"tags":["meeting","roof"]}`, chat.StatusComplete, "Minutes.md Valuation.md"},
		{`{"tags":["garden"]}`, chat.StatusComplete, `"notes":[]`},
		{`{"colour":"red"}`, chat.StatusComplete,
			"No document has the property “colour”. There are: author, date, tags, year."},
		{`{"author":{"name":"Ada"}}`, chat.StatusError,
			"“filters.author” must be a text, or a number, or true or false, or a list"},
	} {
		for _, tool := range []string{"metadata_search", "list_documents"} {
			s := h.used(asks("Which documents are there?"), call(tool, `{"filters":`+tt.filters+`}`))[0]
			var files []string
			for _, name := range []string{"Minutes.md", "Old.md", "Valuation.md", "Survey.md", "Handbook.md"} {
				if strings.Contains(string(s.ToolOutput), `"filename":"`+name+`"`) {
					files = append(files, name)
				}
			}
			if got := strings.Join(files, " "); s.Status != tt.status ||
				got != tt.found && (got != "" || !strings.Contains(string(s.ToolOutput), tt.found)) {
				t.Errorf("%s %s: %s, found %q, %s; want %s", tool, tt.filters, s.Status, got, s.ToolOutput, tt.status)
			}
		}
	}
}
