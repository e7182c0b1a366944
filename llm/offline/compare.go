package offline

import (
	"slices"
	"strings"
)

// comparisons find the two halves of a question that compares: what they have in common stands before or inside the
// first.
var comparisons = []pattern{
	lazily(`(?i)^(?:please )?compare what (.+?),? and (.+?) (?:say|tell|state|promise)s? (?:about|on|of)\b`),
	lazily(`(?i)^(?:please )?(?:compare|vergleiche|vergleichen sie) (.+?),? (?:with|and|to|against|mit|und) (.+)$`),
	lazily(`(?i)\b(?:difference|differences|unterschiede?) (?:between|zwischen) (.+?),? (?:and|und) (.+)$`),
	lazily(
		`(?i)^(?:which|what|who|was|welche[rs]?|wer)\b[^,:]* ` +
			`(?:\p{L}{3,}er|more|less|most|least|best|worst)\b[^,:]*[,:] (.+?),? (?:or|oder) (.+)$`,
	),
	lazily(
		`(?i)^(?:is|are|was|were|does|do|did|ist|sind) (.+?) (?:\p{L}{2,}er|more \p{L}+|less \p{L}+) (?:than|als) ` +
			`(.+)$`,
	),
}

// sameAgain begins a half that leaves the thing out which the other names: "the guarantee of the slates and that of the
// windows".
var sameAgain = lazily(
	`(?i)^(?:with |to |for |of )?(?:that|those|the ones?|de[rnm]|die|das|dem|denen|for|of|für|von|in|on|at)\b`,
)

// half is one of two things that are compared.
type half struct {
	said   string
	own    []int // the words of the question that only this half has
	shared []int // those that are of both
	around []int // those before both
}

// comparative is a word that a comparison is asked with: answers have the figures, and none of them says which is more.
var comparative = lazily(`(?i)^(?:\p{L}{3,}er|more|less|most|least|best|worst|lasts?)$`)

// compared returns the two halves of a question, none if it compares nothing or they can't be told apart by their
// words.
func compared(question string, words []word) []half { return halvesOf(question, words, comparisons) }

func halvesOf(question string, words []word, shapes []pattern) []half {
	question = strings.TrimRight(strings.Join(strings.Fields(question), " "), " ?.!")
	for _, shape := range shapes {
		m := shape().FindStringSubmatchIndex(question)
		if m == nil {
			continue
		}
		halves := []half{{said: question[m[2]:m[3]]}, {said: question[m[4]:m[5]]}}
		lead, tail := question[:m[2]]+" "+question[m[3]:m[4]], question[m[5]:]
		first := true
		for k, w := range words {
			in := [2]bool{}
			for i, h := range halves {
				in[i] = mentions(h.said, w.typed)
			}
			switch {
			case w.borrowed || w.light:
			case !in[0] && !in[1] && mentions(lead, w.typed):
				halves[0].around, halves[1].around = append(halves[0].around, k), append(halves[1].around, k)
			case in[0] && in[1], mentions(tail, w.typed), in[0] && first && sameAgain().MatchString(halves[1].said):
				halves[0].shared, halves[1].shared = append(halves[0].shared, k), append(halves[1].shared, k)
			case in[0]:
				halves[0].own = append(halves[0].own, k)
			case in[1]:
				halves[1].own = append(halves[1].own, k)
			}
			first = first && !in[0]
		}
		for i := range halves {
			if named := slices.DeleteFunc(slices.Clone(halves[i].own),
				func(k int) bool { return !words[k].name }); len(named) > 0 {
				halves[i].own = named
			}
			if len(halves[i].own) == 0 {
				return nil
			}
		}
		return halves
	}
	return nil
}

// mentions reports whether a text has a word, whatever its case.
func mentions(text, word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" ,;:“”\"'’()", r)
	}),
		func(f string) bool { return strings.EqualFold(f, word) })
}

// worth is how well a sentence speaks of a half: 0 if it does not hold half of what is its own, or nothing of what both
// share stands near it, unless nothing that was read has any of that.
func (h half) worth(c candidate, words []word) float64 {
	var held, asked, score float64
	for _, k := range h.own {
		in := max(c.has[k], inHeading*c.near[k], c.lean*c.before[k])
		held += words[k].need * in
		asked += words[k].need
		score += words[k].weight * max(c.has[k], contextWorth*c.near[k], contextWorth*c.before[k])
	}
	if asked == 0 || held < 0.5*asked || c.heading || !sayable(c.text) || strings.HasSuffix(c.text, "?") {
		return 0
	}
	known, near := false, false
	for _, k := range h.shared {
		known = known || len(words[k].worth) > 0
		near = near || max(c.has[k], c.near[k], c.before[k], c.passage[k]) > 0
		score += words[k].weight * max(c.has[k], contextWorth*c.near[k], contextWorth*c.before[k], 0.2*c.passage[k])
	}
	if known && !near {
		return 0
	}
	for _, k := range h.around {
		score += words[k].weight * max(c.has[k], contextWorth*c.near[k], contextWorth*c.before[k])
	}
	return score
}

// each picks the best sentence for each half; missing is the half for which there is none, when there is one for the
// other.
func each(
	halves []half, cands []candidate, words []word, want expected, question string,
) (picked []candidate, missing string) {
	for i, h := range halves {
		best, most := -1, 0.0
		for j, c := range cands {
			worth := h.worth(c, words)
			if worth == 0 { // most sentences: their form does not matter
				continue
			}
			if worth *= want.fit(c.text, question); worth > most {
				best, most = j, worth
			}
		}
		if best < 0 {
			missing = halves[i].said
			continue
		}
		if !slices.ContainsFunc(picked, func(p candidate) bool {
			return p.source == cands[best].source && p.place == cands[best].place
		}) {
			picked = append(picked, cands[best])
		}
	}
	if len(picked) == 0 {
		return nil, ""
	}
	return picked, missing
}

// covers reports whether the best sentence for each half is among those picked.
func covers(picked, both []candidate) bool {
	return !slices.ContainsFunc(both, func(b candidate) bool {
		return !slices.ContainsFunc(picked, func(p candidate) bool {
			return p.source == b.source && p.place == b.place
		})
	})
}

// withoutComparatives makes the words light that say what is compared.
func withoutComparatives(words []word) []word {
	out := slices.Clone(words)
	for k, w := range out {
		if comparative().MatchString(w.typed) && !w.light {
			out[k].light, out[k].need = true, w.need*lightWorth
		}
	}
	return out
}

// alone says that only one of two things was found.
func alone(missing string) string {
	missing = strings.TrimSpace(sameAgain().ReplaceAllString(missing, ""))
	for _, lead := range []string{"of ", "for ", "the ", "a ", "an "} {
		missing = strings.TrimPrefix(missing, lead)
	}
	return " Nothing that I found is about “" + escape(clip(missing, 120)) + "”, so there is nothing to compare with."
}
