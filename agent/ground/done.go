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
	shown := e.sources.All()
	if firstPerson.MatchString(said) && !strings.HasSuffix(said, "?") {
		if theWeb.MatchString(said) && !e.sources.SearchedWeb() {
			return true
		}
		for _, whole := range wholeOf.FindAllString(said, -1) {
			if speaksOfDocuments(whole) && !readAll && (searches == 0 || !searchWords.MatchString(said)) {
				return true
			}
		}
		counted := []int{e.InReach, len(opened), pages, searches, len(shown)}
		known := e.question + " " + e.sources.SearchedFor() + " " + e.Results.text()
		for _, src := range shown {
			known += " " + src.Passage.Text + aboutSource(src)
		}
		numbers := Numeral.FindAllString(known, -1)
		for _, n := range Numeral.FindAllString(said, -1) {
			if !slices.Contains(numbers, n) && !slices.ContainsFunc(counted, func(c int) bool { return strconv.Itoa(c) == n }) {
				return true
			}
		}
	}
	if !saysAbsent(said) || readAll {
		return false
	}
	if searches == 0 && len(opened) == 0 {
		return true
	}
	return noneOf.MatchString(said) && searches == 0
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
