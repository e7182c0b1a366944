package question

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

var (
	opensCited = lazy.Regexp(`(?i)^(?:please |bitte |now |can you |could you )*(?:open|show(?: ` +
		`me)?|view|display|go to|jump to|öffne|zeig(?:e)?(?: mir)?|ouvre|abre)(?: up)?(?: the| that| die| das)?` +
		`(?: (?:source|document|file|page|passage|place|text|quote|original|quelle|dokument|seite|stelle)(?: ` +
		`(?:of|behind|for|from|at|to|von|zu|hinter))?(?: the| der)?)?\s*$`)
	opensNamed = lazy.Regexp(
		`(?i)^(?:please |bitte |now |can you |could you )*(?:open|öffne|ouvre|abre)(?: up)?(?: ` +
			`(?:the|my|our|das|die|le|la|el))?( ` +
			`(?:document|file|pdf|paper|report|book|dokument|datei|fichier|documento))?(?: (?:called|named|with ` +
			`(?:the )?id))? (["“„«]?[\p{L}\p{N}].{0,200}?["”“»]?)(?:,? (?:please|bitte|for me))?[\s.!?]*$`,
	)
	// a footnote by its ordinal or “last”, or the only possible one: “the last citation”
	opensInOrder = lazy.Regexp(`(?i)^(?:please |bitte |now |can you |could you )*(?:open|show(?: me)?|view|` +
		`display|go to|jump to|öffne|zeig(?:e)?(?: mir)?)(?: up)? (?:the |that |die |das |den )?` +
		`(?:(` + strings.Join(ordinals, "|") + `|last|letzte[nrs]?) )?` +
		`(?:citation|footnote|source|reference|quote|fußnote|quelle|zitat)(?:,? (?:please|bitte|for me|now))?[\s.!?]*$`)
	politeEnd = lazy.Regexp(`(?i)^[\s.!?,]*(?:please|bitte|for me|now)?[\s.!?]*$`)
)

// ordinals are patterns of the English and German ordinals for 1 to 10.
var ordinals = []string{
	"first|1st|erste[nrs]?", "second|2nd|zweite[nrs]?", "third|3rd|dritte[nrs]?", "fourth|4th|vierte[nrs]?",
	"fifth|5th|fünfte[nrs]?", "sixth|6th|sechste[nrs]?", "seventh|7th|siebte[nrs]?", "eighth|8th|achte[nrs]?",
	"ninth|9th|neunte[nrs]?", "tenth|10th|zehnte[nrs]?",
}

// LastCitation is the number for the last footnote of an answer.
const LastCitation = -1

// CitationToOpen parses the number of the footnote that a question asks to open, or LastCitation. Without a number,
// as in “the source”, it is the first. Ordinals above the tenth are not recognised; digits are.
func CitationToOpen(question string) (number int, ok bool) {
	if m := opensInOrder().FindStringSubmatch(question); m != nil {
		at := slices.IndexFunc(ordinals, func(names string) bool {
			return m[1] != "" && regexp.MustCompile(`(?i)^(?:`+names+`)$`).MatchString(m[1])
		})
		switch {
		case at >= 0:
			return at + 1, true
		case m[1] != "":
			return LastCitation, true
		}
		return 1, true
	}
	at := text.Footnote().FindStringSubmatchIndex(question)
	if at == nil || !opensCited().MatchString(question[:at[0]]) || !politeEnd().MatchString(question[at[1]:]) {
		return 0, false
	}
	digits := at[2:4]
	if digits[0] < 0 {
		digits = at[4:6]
	}
	number, err := strconv.Atoi(question[digits[0]:digits[1]])
	return number, err == nil
}

// DocumentToOpen parses the name in a question that asks to open a document. sure reports whether it can only be a
// document's name, such as one in quotes or a file name. Otherwise it may be a phrase as in “Open questions of the
// survey”. name is empty if the question asks for more.
func DocumentToOpen(question string) (name string, sure bool) {
	m := opensNamed().FindStringSubmatch(question)
	if m == nil {
		return "", false
	}
	name = strings.Trim(m[2], `"“”„«» `)
	if at := fileName().FindStringIndex(name); at != nil && strings.ContainsFunc(name[at[1]:], unicode.IsLetter) {
		return "", false // “Handbook.md and say what is new in it”
	}
	first, _, _ := strings.Cut(strings.ToLower(name), " ")
	named := m[1] != "" && !text.IsStop(first, "en") // not “the document that …”
	return name, named || name != m[2] || fileName().FindString(name) == name
}
