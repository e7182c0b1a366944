package cite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Patterns of sentences about the run: the first person, quantifiers for all of something, and the web.
var (
	firstPerson = lazy.Regexp(`(?i)\b(?:I|we)\b['’]?`)
	wholeOf     = lazy.Regexp(`(?i)\b(?:all|every|each|whole|entire)\b(?:\s+[^\s,;:]+){0,3}`)
	searchWords = lazy.Regexp(`(?i)\b(?:search|look)`)
	readWords   = lazy.Regexp(`(?i)\b(?:search|look|read|open|check)`)
	theWeb      = lazy.Regexp(`(?i)\b(?:web|internet|online)\b`)
	negation    = lazy.Regexp(`(?i)\b(?:not|cannot|never|without|unable)\b|n['’]t\b`)
	noneOf      = lazy.Regexp(
		`(?i)^(?:none|neither) of (?:the|your|these|those)(?: other)? (?:documents|files|sources)\b`,
	)
)

// isDenied reports whether a sentence contradicts the run's log: see contradictsLog. It also holds for a statement that
// something is in no document although the run did not search for it. The patterns are English, since answers
// describe the run in the language of the prompt. In other languages only statements that something was not found
// are recognised.
func (e *Evidence) isDenied(said string) bool {
	if e.given != "" {
		return false
	}
	if e.contradictsLog(said) {
		return true
	}
	readDocs, _, _, searches := e.sources.Readings()
	switch {
	case !reportsAbsence(said) || e.readAll(readDocs):
		return false
	case searches == 0 && (len(readDocs) == 0 || noneOf().MatchString(said)):
		return true
	}
	return !e.wasSearched(said, readDocs) && !e.isInPassages(said)
}

// contradictsLog reports whether a sentence in the first person claims an action that is not in the run's log. Examples
// are a web search, reading all documents although some were not read, or a number of documents that was not
// counted.
func (e *Evidence) contradictsLog(said string) bool {
	if !firstPerson().MatchString(said) || strings.HasSuffix(said, "?") {
		return false
	}
	readDocs, pages, _, searches := e.sources.Readings()
	if theWeb().MatchString(said) && !e.sources.SearchedWeb() && !negation().MatchString(said) {
		return true
	}
	for _, whole := range wholeOf().FindAllString(said, -1) {
		if mentionsDocuments(whole) && !e.readAll(readDocs) && (searches == 0 || !searchWords().MatchString(said)) {
			return true
		}
	}
	numbers := Numeral().FindAllString(said, -1)
	if len(numbers) == 0 || !readWords().MatchString(said) && !mentionsDocuments(said) {
		return false
	}
	known := append(e.knownNumbers(), strconv.Itoa(len(readDocs)), strconv.Itoa(pages), strconv.Itoa(searches))
	return slices.ContainsFunc(numbers, func(n string) bool { return !slices.Contains(known, n) })
}

// Denied returns the sentences of an answer about the run that its log contradicts. It excludes sentences supported
// by their footnotes' passages, which quote the first person of a document.
func (e *Evidence) Denied(answer string) (denied []string) {
	if e.given != "" {
		return nil
	}
	for _, c := range e.ClaimsOf(answer) {
		if !c.isCode && c.heading == 0 && e.contradictsLog(c.Text) && !e.quotesPerson(c) {
			denied = append(denied, c.Text)
		}
	}
	return denied
}

// quotesPerson reports whether the passages behind a sentence's footnotes contain it as a quotation.
func (e *Evidence) quotesPerson(c Claim) bool { return len(c.Numbers) > 0 && e.IsSupported(c) }

// mostSaidOfLog is the maximum number of content words of a sentence that only reports an omitted action.
const mostSaidOfLog = 4

// confirmsLog reports whether a sentence only states, correctly, that the web was not searched. It needs no passage.
func (e *Evidence) confirmsLog(said string) bool {
	return firstPerson().MatchString(said) && theWeb().MatchString(said) && negation().MatchString(said) &&
		!e.sources.SearchedWeb() && CountContentWords(said) <= mostSaidOfLog && !Numeral().MatchString(said)
}

// readAll reports whether the run read every document in reach.
func (e *Evidence) readAll(readDocs []corpus.Document) bool {
	return e.InReach > 0 && len(readDocs) >= e.InReach
}

// isInPassages reports whether a passage in a sentence's language supports it: "The policy does not describe …".
func (e *Evidence) isInPassages(said string) bool {
	lang := text.Detect(said)
	return slices.ContainsFunc(e.sources.All(), func(s Source) bool {
		spoken := text.Detect(s.Passage.Text)
		return (lang == "" || spoken == "" || lang == spoken) &&
			e.citer.Judge.Backed(said, MetaWords+aboutSource(s), s.Passage.Text)
	})
}

// absenceMetaWords are words of statements that something was not found. They don't name the subject of a search.
const absenceMetaWords = MetaWords + ` passage library answer question find found search look information detail mention
	know determine confirm contain specific further additional relevant more other anything nothing
	angaben informationen hinweise einzelheiten finden enthalten weitere genaue dokumente unterlagen
	information précision détail réponse trouver mentionner información detalle respuesta documento encontrar menciona `

// wasSearched reports whether the run searched for the subject that a sentence calls absent. At least half of the
// subject's words must occur in the queries or the question, or the sentence must name a document that was read. If
// the pattern leaves no words of the subject, one word of the whole sentence suffices. Words in another language
// can't be compared, so such a sentence passes. The limit of half is lenient: “nothing about X” passes after a
// search with half of X's words.
func (e *Evidence) wasSearched(said string, readDocs []corpus.Document) bool {
	count := func(said, texts string) (words, known int) {
		words, known, ok := e.citer.Judge.CountKnown(said, absenceMetaWords, texts)
		if !ok {
			return 0, 0
		}
		return words, known
	}
	for _, doc := range readDocs {
		if _, known := count(said, doc.DisplayTitle()+" "+doc.Filename); known > 0 {
			return true
		}
	}
	looked := e.sources.SearchedFor() + "\n" + e.question
	words, known := count(noneOf().ReplaceAllString(unfound().ReplaceAllString(said, " "), " "), looked)
	if words > 0 {
		return 2*known >= words
	}
	words, known = count(said, looked)
	return words == 0 || known > 0
}

// knownNumbers returns the numbers in the question, the queries, the tool results and the retrieved passages, and
// the counts of documents in reach and of passages. Any other number that an answer states about the run must be
// counted from the log.
func (e *Evidence) knownNumbers() []string {
	shown := e.sources.All()
	var known strings.Builder
	known.WriteString(e.question + " " + e.sources.SearchedFor() + " " + e.Results.allText())
	for _, src := range shown {
		known.WriteString(" " + src.Passage.Text + aboutSource(src))
	}
	return append(Numeral().FindAllString(known.String(), -1), strconv.Itoa(e.InReach), strconv.Itoa(len(shown)))
}

// reportsAbsence reports whether a sentence states that something is not in the documents.
func reportsAbsence(said string) bool { return reportsNotFound(said) || noneOf().MatchString(said) }

// mentionsDocuments reports whether a text contains a word for documents.
func mentionsDocuments(s string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(s)), func(word string) bool {
		word = strings.Trim(word, ".,;:!?*_\"'”’)")
		return strings.Contains(MetaWords, " "+strings.TrimSuffix(word, "s")+" ")
	})
}
