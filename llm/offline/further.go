package offline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

// mostFurther is how many sentences are said of what was not said yet.
const mostFurther = 4

// Questions that have no subject of their own: more of what the last answer was about, or what stands around one of
// its footnotes.
var (
	further = lazily(`(?i)^(?:please |can you |could you |and |ok(?:ay)?,? |yes,? )*(?:` +
		`(?:tell|show|give) me (?:some |any |a (?:bit|little) )?more(?: (?:details?|information|info))?(?: ` +
		`(?:about|on) (?:it|this|that|them|these|those))?|` +
		`(?:is there )?(?:what |any|any |some)?(?:thing )?(?:else|more)(?: (?:details?|information|info))?(?: ` +
		`(?:about|on|to say about) (?:it|this|that|them))?|` +
		`(?:go on|continue|elaborate|expand)(?: on (?:it|this|that))?|explain (?:it |this |that )?(?:further|more|in ` +
		`(?:more )?detail)|` +
		`(?:(?:erzähl|sag)e? mir )?(?:bitte )?mehr(?: (?:dazu|davon|darüber))?|weiter)(?:,? please)?[\s.!?]*$`)
	ofSource = lazily(
		`(?i)^(?:what|where|which|does|did|is|the|was|this|that|it|of|in|for|me|behind|come|comes|from|based|rest|` +
			`rests|refer|refers|stand|stands|open|quote|read|page|support|supports|back|backs)$`,
	)
)

// subject is the turn of the last question that was about something in the documents, and all that was answered
// since; a turn without a question when there is none.
func (t turn) subject() (topic turn, said string) {
	for i := len(t.earlier) - 1; i >= 0; i-- {
		said = t.earlier[i].answer + "\n" + said
		q := t.earlier[i].question
		if k, _ := classify(q); k == kindFurther || aboutFootnote(q) || text.OwnText.MatchString(q) {
			continue
		} else if k == kindDocuments || k == kindSummary || k == kindOpening {
			topic = t
			topic.question, topic.earlier = q, t.earlier[:i:i]
		}
		break
	}
	return topic, said
}

// goOn says what the passages of the last answer hold beside what was said: first the rest of those that it came
// from, then what follows them.
func goOn(t turn) ([]step, string) {
	topic, said := t.subject()
	if topic.question == "" {
		return nil, "Ask a question about your documents first. Then I can go on from its answer."
	}
	q := understand(topic)
	if len(t.searches()) == 0 && t.canSearch() {
		return t.search(q.text), ""
	}
	if reads := toRead(t, t.found()); len(reads) > 0 && len(t.read()) == 0 {
		return readAll(t, reads, q), ""
	}
	sources := t.shown()
	left, any := unsaid(sources, said)
	switch {
	case len(left) > 0:
		return nil, write(left, sources)
	case any:
		return nil, refuse(t, q) + " What they say about it was said already."
	}
	return nil, refuse(t, q)
}

// unsaid picks the sentences of passages that the answers so far took some from, or that stand next in the same
// documents. any is false when the answers took none.
func unsaid(sources []source, said string) (left []candidate, any bool) {
	said = strings.Join(strings.Fields(marker().ReplaceAllString(said, "")), " ")
	was := func(s sentence) bool {
		return strings.Contains(said, shownAs(s.words))
	}
	sentences := pileOf(sources).sentences
	from, documents := map[int]bool{}, map[string]bool{}
	for _, s := range sentences {
		if !s.heading && utf8.RuneCountInString(s.text) >= shortest && was(s) {
			from[s.source], documents[sources[s.source].document.DocID] = true, true
		}
	}
	for _, same := range []bool{true, false} {
		for _, s := range sentences {
			if len(left) < mostFurther && from[s.source] == same && documents[sources[s.source].document.DocID] &&
				!s.heading && sayable(s.text) && !was(s) {
				left = append(left, candidate{sentence: s})
			}
		}
		if len(left) > 0 {
			break
		}
	}
	return left, len(from) > 0
}

// aboutFootnote reports whether a question asks for nothing but what stands behind a footnote.
func aboutFootnote(q string) bool {
	if !text.Footnote.MatchString(q) {
		return false
	}
	words, content := contentWords(text.Footnote.ReplaceAllString(q, " "))
	for _, w := range words {
		if content && !ofSource().MatchString(w.Text) {
			return false
		}
	}
	return true
}

// behind says a footnote's sentence with those that stand around it, from the source that was read for it.
func behind(t turn) (string, bool) {
	if !aboutFootnote(t.question) {
		return "", false
	}
	sources := t.shown()
	sentences := pileOf(sources).sentences
	for _, r := range t.results {
		quote, _ := r.input["focus_query"].(string)
		if !isReading(r.tool) || quote == "" {
			continue
		}
		at := slices.IndexFunc(sentences, func(s sentence) bool {
			return strings.Contains(s.text, quote) ||
				len(s.text) >= shortest && strings.Contains(quote, s.text) && !s.heading
		})
		if at < 0 {
			continue
		}
		var out []candidate
		for _, s := range sentences[max(0, at-1):min(len(sentences), at+3)] {
			if s.source == sentences[at].source && !s.heading && sayable(s.text) {
				out = append(out, candidate{sentence: s})
			}
		}
		if len(out) > 0 {
			return write(out, sources), true
		}
	}
	return "", false
}
