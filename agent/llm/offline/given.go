package offline

import (
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// What is asked to be done with a text, and the words that such a request has beside its text.
var (
	task = lazily(
		`(?i)^(?:please |can you |could you ` +
			`)*(?:explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|translate|sum up|break ` +
			`(?:it|this|that) down|describe|put (?:it|this|that)|tl;?dr|what (?:does|is) (?:this|it|that|the ` +
			`(?:text|passage|paragraph))|what's this|erkläre?|fasse|vereinfache|übersetze)\b`,
	)
	how = lazily(
		`(?i)^(?:what|does|is|this|that|it|the|simple|simpler|simply|plain|plainly|easy|easier|terms|words?|language|` +
			`short|shorter|briefly|brief|detail|text|passage|paragraph|sentences?|bullets?|points?|child|beginner|` +
			`layman|different|own|explain|summari[sz]e|simplify|rewrite|rephrase|paraphrase|shorten|clarify|mean|` +
			`please|sum|break|describe|put|tl|dr|understandable|einfach\w*|worten|text|zusammen|german|english|` +
			`french|spanish|translate|into)$`,
	)
)

// unable is said by a model made of rules of what only a language model can do.
const unable = "I can't put a text in other words: that needs a language model, and Footnote is in offline mode. "

// given returns the text that came with the question, as its parts.
func (t turn) given() []passage {
	if len(t.results) == 0 || t.results[0].input["doc_id"] != llm.GivenDocument {
		return nil
	}
	return t.results[0].out.Passages
}

// retell answers what asks for nothing but the given text in other words: with its own sentences, as rules have no
// others. Units that stand in one line stay in one line.
func retell(t turn) (string, bool) {
	parts := t.given()
	if len(parts) == 0 || !task().MatchString(t.question) {
		return "", false
	}
	for _, w := range text.QueryWords(t.question, languages(t.question)) {
		if !how().MatchString(w.Text) {
			return "", false
		}
	}
	p := pileOf(t.shown())
	var lines []string
	said := 0
	for i, u := range p.units {
		if said == mostFurther || !u.quotable() {
			continue
		}
		said++
		switch {
		case i > 0 && len(lines) > 0 && p.inOneLine(p.units[i-1], u):
			lines[len(lines)-1] += string(p.runes[u.source][p.units[i-1].end:u.end])
		default:
			lines = append(lines, u.text)
		}
	}
	if len(lines) == 0 {
		return "", false
	}
	return unable + "This is what it says:\n\n" + text.QuoteMarkdown(lines), true
}

// ownText answers a question that brings a text of its own to be worked on.
func ownText(t turn) (string, bool) {
	if len(t.given()) > 0 || !text.OwnText.MatchString(t.question) {
		return "", false
	}
	return unable + "I can search your documents, and answer with sentences from them.", true
}
