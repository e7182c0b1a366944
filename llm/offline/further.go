package offline

import (
	"slices"
	"strings"

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
			`rests|refer|refers|stand|stands|open|quote|read|page|support|supports|back|backs|say|says|mean|means|` +
			`explain|show|tell|about)$`,
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
		} else if k == kindFind || k == kindSummary || k == kindOpening {
			topic = t
			topic.question, topic.earlier = q, t.earlier[:i:i]
		}
		break
	}
	return topic, said
}

// goOn says what the passages of the last answer hold beside what was said: first the rest of those that it came
// from, then what follows them.
func goOn(t turn) move {
	topic, said := t.subject()
	if topic.question == "" {
		return say("Ask a question about your documents first. Then I can go on from its answer.")
	}
	query := topicOf(topic).query(topic.question)
	if len(t.searches()) == 0 && t.canSearch() {
		return call(t.search(query))
	}
	if reads := toRead(t); len(reads) > 0 && t.readings() == 0 {
		return call(readAll(t, reads, query)...)
	}
	p := pileOf(t.shown())
	left, any := p.unsaid(said)
	switch {
	case len(left) > 0:
		return say(p.join(left))
	case any:
		return say(refuse(t) + " What they say about it was said already.")
	}
	return say(refuse(t))
}

// unsaid picks the units of passages that the answers so far took some from, or that stand next in the same documents.
// any is false when the answers took none.
func (p pile) unsaid(said string) (left []unit, any bool) {
	said = plain(said)
	was := func(u unit) bool { return strings.Contains(said, plain(escape(u.text))) }
	from, documents := map[int]bool{}, map[string]bool{}
	for _, u := range p.units {
		if u.quotable() && was(u) {
			from[u.source], documents[p.sources[u.source].document.DocID] = true, true
		}
	}
	for _, same := range []bool{true, false} {
		for _, u := range p.units {
			if len(left) < mostFurther && from[u.source] == same && documents[p.sources[u.source].document.DocID] &&
				u.quotable() && !was(u) {
				left = append(left, u)
			}
		}
		if len(left) > 0 {
			break
		}
	}
	return left, len(from) > 0
}

// plain is a text without footnotes, marks of quotes and emphasis, its white space collapsed.
func plain(s string) string {
	s = marker().ReplaceAllString(strings.NewReplacer("  \n> ", " ").Replace(s), "")
	return strings.Join(strings.Fields(s), " ")
}

var marker = lazily(`\s*\[(?:Source )?\d+\]`)

// join writes units of passages one after another, each with its footnote.
func (p pile) join(units []unit) string {
	var said []string
	for _, u := range units {
		said = append(said, "> "+escape(u.text)+cited(u.text, p.sources[u.source].N, nil))
	}
	return strings.Join(said, "\n\n")
}

// aboutFootnote reports whether a question asks for nothing but what stands behind a footnote.
func aboutFootnote(q string) bool {
	if !text.Footnote.MatchString(q) {
		return false
	}
	for _, w := range strings.Fields(text.Footnote.ReplaceAllString(q, " ")) {
		if w = strings.Trim(w, "?.!,:;\"“”"); w != "" && !ofSource().MatchString(w) {
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
	p := pileOf(t.shown())
	for _, r := range t.results {
		quote, _ := r.input["focus_query"].(string)
		if !isReading(r.tool) || quote == "" {
			continue
		}
		quote = strings.Join(strings.Fields(quote), " ")
		at := slices.IndexFunc(p.units, func(u unit) bool {
			said := strings.Join(strings.Fields(u.text), " ")
			return strings.Contains(said, quote) || u.quotable() && strings.Contains(quote, said)
		})
		if at < 0 {
			continue
		}
		var out []unit
		for _, u := range p.units[max(0, at-1):min(len(p.units), at+3)] {
			if u.source == p.units[at].source && u.quotable() {
				out = append(out, u)
			}
		}
		if len(out) > 0 {
			return p.join(out), true
		}
	}
	return "", false
}
