package ground

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The grammar of sentences that speak of the run: the first person, words for all of something, and the web.
var (
	firstPerson = regexp.MustCompile(`(?i)\b(?:I|we)\b['’]?`)
	wholeOf     = regexp.MustCompile(`(?i)\b(?:all|every|each|whole|entire)\b(?:\s+[^\s,;:]+){0,3}`)
	searchWords = regexp.MustCompile(`(?i)\b(?:search|look)`)
	theWeb      = regexp.MustCompile(`(?i)\b(?:web|internet|online)\b`)
	noneOf      = regexp.MustCompile(`(?i)^(?:none|neither) of (?:the|your|these|those)(?: other)? (?:documents|files|sources)\b`)
)

// isDenied reports whether a sentence says of the run what its log does not: a web that was not searched, all documents
// though some were not looked into, a number that nothing counted, or that something is in no document though nothing
// was searched for it.
func (e *Evidence) isDenied(said string) bool {
	if e.given != "" {
		return false
	}
	opened, pages, _, searches := e.sources.Readings()
	readAll := e.InReach > 0 && len(opened) >= e.InReach
	if firstPerson.MatchString(said) && !strings.HasSuffix(said, "?") {
		if theWeb.MatchString(said) && !e.sources.SearchedWeb() {
			return true
		}
		for _, whole := range wholeOf.FindAllString(said, -1) {
			if speaksOfDocuments(whole) && !readAll && (searches == 0 || !searchWords.MatchString(said)) {
				return true
			}
		}
		if numbers := Numeral.FindAllString(said, -1); len(numbers) > 0 {
			known := append(e.knownNumbers(), strconv.Itoa(len(opened)), strconv.Itoa(pages), strconv.Itoa(searches))
			if slices.ContainsFunc(numbers, func(n string) bool { return !slices.Contains(known, n) }) {
				return true
			}
		}
	}
	return saysAbsent(said) && !readAll && searches == 0 && (len(opened) == 0 || noneOf.MatchString(said))
}

// knownNumbers are the numbers in the question, in what was searched for, and in what was returned and shown, and how
// many documents are in reach and passages were shown.
func (e *Evidence) knownNumbers() []string {
	shown := e.sources.All()
	var known strings.Builder
	known.WriteString(e.question + " " + e.sources.SearchedFor() + " " + e.Results.text())
	for _, src := range shown {
		known.WriteString(" " + src.Passage.Text + aboutSource(src))
	}
	return append(Numeral.FindAllString(known.String(), -1), strconv.Itoa(e.InReach), strconv.Itoa(len(shown)))
}

// saysAbsent reports whether a sentence says that something is not in the documents.
func saysAbsent(said string) bool { return unfound.MatchString(said) || noneOf.MatchString(said) }

// speaksOfDocuments reports whether a text has a word with which answers speak of documents.
func speaksOfDocuments(s string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(s)), func(word string) bool {
		word = strings.Trim(word, ".,;:!?*_\"'”’)")
		return strings.Contains(MetaWords, " "+strings.TrimSuffix(word, "s")+" ")
	})
}
