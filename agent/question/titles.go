package question

import (
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// opening matches a question whose words after the verb may be a document's title.
var opening = lazy.Regexp(
	`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me| us)?|display|summari[sz]e|look ` +
		`(?:at|into)|go through|what(?:'s| is| stands)? (?:written )?in|what does|according to)(?: ` +
		`(?:the|my|our))?(?: (?:document|file|paper|report|book))? (.{3,200}?)(?:,.*| ` +
		`(?:say|says|state|states|mention|mentions|contain|contains)\b.*| (?:for me|please))?[\s?.!]*$`,
)

// PossibleTitles parses the possible titles in a question: at most two quoted texts, and the words after a verb like
// open. The caller looks them up in the library.
func PossibleTitles(question string) []string {
	var out []string
	for _, m := range quoted().FindAllStringSubmatch(question, 2) {
		out = append(out, m[1])
	}
	if m := opening().FindStringSubmatch(question); m != nil {
		out = append(out, strings.Trim(m[1], `"“”„«» `))
	}
	return out
}
