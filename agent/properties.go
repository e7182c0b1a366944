package agent

import (
	"regexp"
	"strconv"
	"strings"

	"footnote/agent/question"
	"footnote/llm"
)

// How a question says which documents it asks for: by whom, of when, with which tag.
var (
	madeBy = regexp.MustCompile(`\b[Bb]y (?:the )?(\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*)*)`)
	madeIn = regexp.MustCompile(`(?i)\b(from|in|of|since|after|before|until)(?: the)?(?: year)? ((?:19|20)\d{2})\b`)
	tagged = regexp.MustCompile(`(?i)\b(?:tagged(?: with| as)?|with the tags?) ["“]?([\p{L}\p{N}][\p{L}\p{N}_-]*)`)
)

// propertiesIn reads the filters of metadata_search that a question names, and what it says behind them.
func propertiesIn(question string) (filters map[string]any, rest string) {
	filters = map[string]any{}
	end := 0
	take := func(pattern *regexp.Regexp, use func(said []string)) {
		at := pattern.FindStringSubmatchIndex(question)
		if at == nil {
			return
		}
		end = max(end, at[1])
		use(pattern.FindStringSubmatch(question))
	}
	take(madeBy, func(said []string) { filters["author"] = said[1] })
	take(tagged, func(said []string) { filters["tags"] = said[1] })
	take(madeIn, func(said []string) {
		year, err := strconv.Atoi(said[2])
		if err != nil {
			return
		}
		switch strings.ToLower(said[1]) {
		case "since":
			filters["date_from"] = said[2]
		case "after":
			filters["date_from"] = strconv.Itoa(year + 1)
		case "before":
			filters["date_to"] = strconv.Itoa(year - 1)
		case "until":
			filters["date_to"] = said[2]
		default:
			filters["year"] = said[2]
		}
	})
	return filters, question[end:]
}

// byProperties chooses metadata_search for a question that asks for documents by what is known about them. What it says besides is searched
// for at the same time. ok is false when it names no property, or there is no such tool.
func (w *work) byProperties(c choice) (choice, bool) {
	filters, rest := propertiesIn(w.run.Request.Message)
	call, ok := w.call("metadata_search", map[string]any{"filters": filters}, 0)
	if !ok || len(filters) == 0 {
		return choice{}, false
	}
	c.opening, c.message, c.why = []llm.Call{call}, "Chose metadata_search by rules", "It asks for documents by what is known about them."
	if question.FilesOf.MatchString(w.run.Request.Message) && len(question.Keywords(rest)) == 0 {
		return c, true
	}
	if tool := w.set.searcher(); tool != nil {
		if search, ok := w.call(tool.name, map[string]any{"query": w.searchWords()}, 1); ok {
			c.opening, c.read = append(c.opening, search), w.reader() != nil
			c.message, c.why = "Chose metadata_search and "+tool.name+" by rules", "It asks for documents by what is known about them, and for what stands in them."
		}
	}
	c.confidence = 0.5
	return c, true
}
