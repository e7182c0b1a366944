package question

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// Patterns for properties of documents in a question: author, date, tag.
var (
	madeBy = lazy.Regexp(`\b[Bb]y (?:the )?(\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*)*)`)
	madeIn = lazy.Regexp(`(?i)\b(from|in|of|since|after|before|until)(?: the)?(?: year)? ((?:19|20)\d{2})\b`)
	tagged = lazy.Regexp(`(?i)\b(?:tagged(?: with| as)?|with the tags?) ["“]?([\p{L}\p{N}][\p{L}\p{N}_-]*)`)
)

// Properties parses the author, date and tag of the documents that a question asks for. It returns them as filters
// of a list of documents, and the rest of the question after them. “After 2020” starts with 2021, “before” ends with
// the previous year, “since” and “until” include the year.
func Properties(question string) (filters map[string]any, rest string) {
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
	take(madeBy(), func(said []string) { filters["author"] = said[1] })
	take(tagged(), func(said []string) { filters["tags"] = said[1] })
	take(madeIn(), func(said []string) {
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

// AsksForDocuments reports whether a question asks for documents by such properties.
func AsksForDocuments(question string) bool { return filesOf().MatchString(question) }
