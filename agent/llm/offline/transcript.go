package offline

import (
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Clients of OpenAI's API also request metadata of a conversation, which they write into the question. They request
// its title, tags, or follow-up questions, often as JSON in a given format.
var (
	transcript = lazy.Regexp(`(?ims)^\s*(?:user|human): *(\S.*?)\s*^\s*(?:assistant|ai|bot): `)
	jsonForm   = lazy.Regexp(`\{\s*"(\w+)"\s*:\s*(["\[])`)
	asksTitle  = lazy.Regexp(`(?i)\btitle\b`)
)

// mostOfTitle is the maximum length of a title in runes.
const mostOfTitle = 60

// aboutTranscript answers a request about a conversation in the question: its title is its first question. Tags and
// other lists are empty.
func aboutTranscript(t turn) (string, bool) {
	said := transcript().FindStringSubmatchIndex(t.question)
	if said == nil {
		return "", false
	}
	order := t.question[:said[0]]
	title := text.Shorten(strings.Join(strings.Fields(t.question[said[2]:said[3]]), " "), mostOfTitle)
	form := jsonForm().FindStringSubmatch(order)
	switch {
	case form == nil && asksTitle().MatchString(order):
		return escape(title), true
	case form == nil:
		return "", false
	}
	var value any = []string{}
	if form[2] == `"` {
		value = title
	}
	raw, err := json.Marshal(map[string]any{form[1]: value})
	return string(raw), err == nil
}
