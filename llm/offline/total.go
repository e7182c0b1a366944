package offline

import (
	"fmt"
	"strings"
)

// totals find the two things of which a total is asked for.
var totals = lazily(`(?i)^(?:what|how much) (?:do|does|are|is|would|will) (.+?),? and (.+?) (?:(?:come|add up|amount) to|cost|make|are|is)?,? ?(?:together|altogether|in total|in all|summed up|combined)[?.! ]*$`)

var money = lazily(`([£$€¥])\s?(\d[\d,]*(?:\.\d+)?)`)

// total answers what two things come to together: the quotes that state one amount each, in one currency, and their sum. asked is
// false if the question asks for no total; neither steps nor an answer mean that the amounts are not stated so plainly.
func total(t turn, q query) (steps []step, said string, asked bool) {
	if !totals().MatchString(strings.Join(strings.Fields(t.question), " ")) || !t.has("calculate") {
		return nil, "", false
	}
	sources := t.shown()
	p := pileOf(sources)
	want := expected{form: money, exact: true}
	words := weigh(q, p, demand{}, t.question)
	halves := halvesOf(t.question, words, []pattern{totals})
	var cands []candidate
	for i := range p.sentences {
		if c := rate(p, i, words, want, t.question); len(money().FindAllString(c.text, -1)) == 1 {
			cands = append(cands, c)
		}
	}
	picked, missing := each(halves, cands, words, want, t.question)
	if len(picked) != 2 || missing != "" {
		return nil, "", true
	}
	a, b := money().FindStringSubmatch(picked[0].text), money().FindStringSubmatch(picked[1].text)
	if a[1] != b[1] {
		return nil, "", true
	}
	expression := a[2] + " + " + b[2]
	done := t.of("calculate")
	if len(done) == 0 {
		return []step{{"calculate", map[string]any{"expression": expression}}}, "", true
	}
	out := done[len(done)-1].out
	if out.Error != nil {
		return nil, "", true
	}
	return nil, fmt.Sprintf("%s\n\n%s + %s = %s%v", write(picked, sources), a[0], b[0], a[1], out.Result), true
}
