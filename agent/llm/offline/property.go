package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// property is metadata of documents that a question may ask for. keys are its names in documents.
type property struct {
	name  string
	keys  []string
	asked func() *regexp.Regexp // its group is the document
}

// Interrogatives of metadata in the most frequent languages of documents.
var properties = []property{
	{"author", strings.Fields("author authors creator from by"), lazy.Regexp(
		`(?i)^(?:who (?:wrote|authored|created|is the author of|are the authors of)|wer (?:hat|schrieb|verfasste)|` +
			`qui a écrit|quién escribió|chi ha scritto|quem escreveu|wie schreef) ` +
			`(.+?)(?: geschrieben| verfasst)?[?.! ]*$`,
	)},
	{"date", strings.Fields("date created published issued"), lazy.Regexp(
		`(?i)^(?:when was|wann wurde) (.+?) (?:written|published|issued|created|geschrieben|veröffentlicht)[?.! ]*$`,
	)},
	{"license", strings.Fields("license licence rights"), lazy.Regexp(
		`(?i)^(?:(?:what|which) (?:is the )?licen[cs]e (?:of|has|does)|under (?:what|which) licen[cs]e is|` +
			`welche lizenz hat) (.+?)(?: have| published| available)?[?.! ]*$`,
	)},
}

// propertyOf answers a question for the metadata of a document from the list of documents with such a title. ok is
// false if no document has it: the question is then one for the text.
func (t turn) propertyOf() (next move, ok bool) {
	for _, p := range properties {
		m := p.asked().FindStringSubmatch(strings.Join(strings.Fields(t.question), " "))
		if m == nil || len(t.given()) > 0 || !t.has("metadata_search") {
			continue
		}
		listed := t.of("metadata_search")
		if len(listed) == 0 {
			filters := map[string]any{"title": documentNamed(m[1])}
			return call(step{"metadata_search", map[string]any{"filters": filters}}), true
		}
		var lines []string
		for _, d := range listed[0].out.Documents {
			if value := d.meta(p.keys); value != "" && len(lines) < mostQuotes {
				lines = append(lines, "- "+escape(d.label())+": "+p.name+" "+escape(text.Shorten(value, 200)))
			}
		}
		if len(lines) == 0 {
			return move{}, false
		}
		return move{
			text:  string(answers) + "\n\n" + strings.Join(lines, "\n"),
			found: &llm.Found{Sure: 1, Likely: true},
		}, true
	}
	return move{}, false
}

// meta returns a document's metadata with one of these names.
func (d document) meta(keys []string) string {
	for _, key := range keys {
		for name, value := range d.Meta {
			if text.Fold(name) != key {
				continue
			}
			if all, several := value.([]any); several {
				var said []string
				for _, one := range all {
					said = append(said, fmt.Sprint(one))
				}
				return strings.Join(slices.Compact(said), ", ")
			}
			return fmt.Sprint(value)
		}
	}
	return ""
}
