package question

import (
	"regexp"
	"strings"
)

// opening is a question whose words after the first may be a document's title.
var opening = regexp.MustCompile(
	`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me| us)?|display|summari[sz]e|look ` +
		`(?:at|into)|go through|what(?:'s| is| stands)? (?:written )?in|what does|according to)(?: ` +
		`(?:the|my|our))?(?: (?:document|file|paper|report|book))? (.{3,200}?)(?:,.*| ` +
		`(?:say|says|state|states|mention|mentions|contain|contains)\b.*| (?:for me|please))?[\s?.!]*$`,
)

// PossibleTitles returns what may be a title: what is quoted, and what follows a word like open. At most two quoted
// ones. Whether a document has such a title is for the library to say.
func PossibleTitles(question string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(question, 2) {
		out = append(out, m[1])
	}
	if m := opening.FindStringSubmatch(question); m != nil {
		out = append(out, strings.Trim(m[1], `"“”„«» `))
	}
	return out
}
