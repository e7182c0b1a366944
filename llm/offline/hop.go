package offline

import (
	"cmp"
	"slices"
	"strings"
)

const nearlyBest = 0.8 // a second sentence with this share of the best one's worth may lead to something else

// bridge is what the first step found: a sentence, and what the second step asks for.
type bridge struct {
	candidate
	name  string
	noun  bool   // name is no name but what the thing is called, which the second sentence must hold
	about string // the word before that
}

// halfway reports whether no sentence answers both of two questions: each holds none of the words that only the
// thing's has, or none of those that only what is asked of it has.
func halfway(hops []hop, picked []candidate, words []word, p pile) bool {
	if len(hops) == 0 {
		return false
	}
	lacks := func(c candidate, said string, around bool) bool {
		asked := false
		for k, w := range words {
			if w.light || w.borrowed || !mentions(said, w.typed) {
				continue
			}
			asked = true
			if around && c.near[k] > 0 || c.has[k] > 0 && asWord(c, w, p) {
				return false
			}
		}
		return asked || around && wherePlain().MatchString(said) && !atPlace().MatchString(c.text)
	}
	return !slices.ContainsFunc(picked, func(c candidate) bool {
		return !lacks(c, hops[0].clause, false) &&
			!slices.ContainsFunc(hops, func(h hop) bool { return lacks(c, h.before+" "+h.after, true) })
	})
}

var (
	wherePlain = lazily(`(?i)^where (?:is|are|was|were)\s*$`)
	atPlace    = lazily(
		`\b(?:is|are|was|were|lies|lay|stands|stood|sits|located|based|situated|found|lives|lived|` +
			`office)\b[^.]*\b(?:in|at|on|near|off|behind|beside|opposite)\s+(?:the )?\p{Lu}`,
	)
)

// asWord reports whether a sentence holds a word as what it means, not in a name: "the lift", not "Kestrel Lifts".
func asWord(c candidate, w word, p pile) bool {
	return w.name || slices.ContainsFunc(strings.Fields(c.text), func(f string) bool {
		return !capital(bare(f)) && w.in(termSet(p.analysers[c.source], f)) > 0
	}) || strings.EqualFold(bare(strings.Fields(c.text)[0]), w.typed)
}

// inTwoSteps answers a question that no sentence answers alone: it looks for the thing that the question describes,
// and then for what is asked of it. Both sentences are the answer. Neither steps nor an answer mean that one of them
// is missing.
func inTwoSteps(t turn, all []hop, done []result) (steps []step, said string) {
	if len(all) == 0 || !t.canSearch() {
		return nil, ""
	}
	if len(done) == 0 {
		return t.search(all[0].phrase()), ""
	}
	sources := t.shown()
	p := pileOf(sources)
	proper := p.proper()
	wanted := false
	for _, h := range all {
		b, ok := bridgeOf(t, h, p, proper)
		if !ok {
			continue
		}
		wanted = true
		q := understand(turn{question: h.ask(b.name)})
		if len(done) == 1 &&
			!slices.ContainsFunc(t.searches(), func(r result) bool { return r.input["query"] == q.text }) {
			return t.search(q.text), ""
		}
		if second := answersOf(h.ask(b.name), b, p); len(second) > 0 {
			return nil, write(append([]candidate{b.candidate}, second...), sources)
		}
	}
	if !wanted || len(done) != 2 {
		return nil, ""
	}
	if reads := toRead(t, t.lastRound()); len(reads) > 0 {
		return readAll(t, reads[:1], query{text: done[1].input["query"].(string)}), ""
	}
	return nil, ""
}

// bridgeOf finds the sentence that says which thing is meant.
func bridgeOf(t turn, h hop, p pile, proper map[string]bool) (bridge, bool) {
	question := "which " + h.head + " " + h.clause
	q := understand(turn{question: question})
	words := weigh(q, p, demand{}, question)
	tells := false
	for k, w := range words {
		if !h.role && mentions(h.head, w.typed) && !w.light {
			words[k].light, words[k].need = true, w.need*lightWorth
		}
		tells = tells || !words[k].light && mentions(h.clause, w.typed)
	}
	if !tells {
		return bridge{}, false
	}
	var found []bridge
	for i := range p.sentences {
		c := rate(p, i, words, expected{}, question)
		if c.score <= 0 || strings.HasSuffix(c.text, "?") || turned(c.text, t.question) ||
			!supports([]candidate{c}, words, p, demand{}, question) || !h.told(c, words) {
			continue
		}
		b := bridge{candidate: c}
		if n, ok := theName(c.text, t.question, h, words, proper, p.analysers[c.source]); ok {
			b.name = n.name
		}
		if about, in := wordBefore(c.text, h.head); in && b.name == "" && !h.role && !holder().MatchString(h.head) {
			b.name, b.noun, b.about = "the "+h.head, true, about
		}
		found = append(found, b)
	}
	if len(found) == 0 {
		return bridge{}, false
	}
	slices.SortStableFunc(found, func(a, b bridge) int { return cmp.Compare(b.score, a.score) })
	for _, other := range found[1:] {
		if other.score >= nearlyBest*found[0].score &&
			(other.name != found[0].name || found[0].noun && !linked(found[0], other.candidate, h.head, p)) {
			return bridge{}, false
		}
	}
	return found[0], found[0].name != ""
}

// told reports whether a sentence itself holds what tells the thing from others: the head of a role, and the first of
// the clause's words.
func (h hop) told(c candidate, words []word) bool {
	asked, held := 0.0, 0.0
	for k, w := range words {
		if w.light {
			continue
		}
		if h.role && mentions(h.head, w.typed) && c.has[k] == 0 {
			return false
		}
		asked += w.need
		held += w.need * max(c.has[k], inHeading*c.near[k], c.lean*c.before[k])
	}
	return held >= supportNeeded*asked
}

// turned reports whether a sentence has a negation that the question does not have.
func turned(sentence, question string) bool {
	return refuses().MatchString(sentence) && !refuses().MatchString(question)
}

var refuses = lazily(`(?i)\b(?:not|never|no|nobody|none|nothing|cannot|without)\b|n['’]t\b`)

// answersOf are the sentences that answer the second question, none if one of them would have to be the first again.
func answersOf(question string, b bridge, p pile) []candidate {
	q, demand, want := understand(turn{question: question}), demanded(question), expects(question)
	words := weigh(q, p, demand, question)
	own := slices.ContainsFunc(words, func(w word) bool { return !w.light && !mentions(b.name, w.typed) })
	var cands []candidate
	for i := range p.sentences {
		c := rate(p, i, words, want, question)
		again := c.source == b.source && c.place == b.place
		said := !own
		for k, w := range words {
			said = said || !w.light && !mentions(b.name, w.typed) && c.has[k] > 0
		}
		if again || !said || !own && !atPlace().MatchString(c.text) || turned(c.text, question) ||
			demand.form == nil && !demand.person && want.form != nil && !want.form().MatchString(c.text) ||
			b.noun && !linked(b, c, strings.TrimPrefix(b.name, "the "), p) {
			c.score = 0
		}
		cands = append(cands, c)
	}
	ranked := slices.Clone(cands)
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, c := range ranked {
		if c.score > 0 && supports([]candidate{c}, words, p, demand, question) {
			return arrange([]candidate{c}, cands, want)
		}
	}
	return nil
}

// linked reports whether a sentence speaks of the same thing as the first: it calls it the same, in the same document
// or in one of the same name; with the same word before it in any.
func linked(b bridge, c candidate, head string, p pile) bool {
	about, in := wordBefore(c.text, head)
	if !in {
		return false
	}
	if about != "" && b.about != "" {
		return sameWord(about, b.about)
	}
	one, other := p.sources[b.source].document, p.sources[c.source].document
	return one.DocID == other.DocID || slices.ContainsFunc(
		strings.Fields(one.Title),
		func(w string) bool { return isTitleName(w, one.Title) && mentions(other.Title, bare(w)) },
	)
}

func isTitleName(word, title string) bool {
	return (capital(bare(word)) || isFigure(word)) && !strings.HasPrefix(title, word)
}

// wordBefore returns the word that tells a thing from others of its kind, "bilge" of "the bilge pump"; in is false if
// it is not named.
func wordBefore(sentence, head string) (about string, in bool) {
	if parts := strings.Fields(head); len(parts) > 1 {
		head = parts[len(parts)-1]
	}
	fields := strings.Fields(sentence)
	for i, f := range fields {
		if !sameWord(bare(f), head) {
			continue
		}
		if i > 0 && !endsName(fields[i-1]) && !determiner().MatchString(bare(fields[i-1])) &&
			!common().MatchString(bare(fields[i-1])) {
			return bare(fields[i-1]), true
		}
		return "", true
	}
	return "", false
}

var common = lazily(
	`(?i)^(?:and|or|of|in|on|at|for|by|from|with|to|is|are|was|were|no|every|each|any|all|both|new|old)$`,
)

// proper are the words that are written with a capital inside a sentence of what was read.
func (p pile) proper() map[string]bool {
	names := map[string]bool{}
	for _, s := range p.sentences {
		if s.heading {
			continue
		}
		inside := false
		for field := range strings.FieldsSeq(s.text) {
			if inside && capital(bare(field)) {
				names[bare(field)] = true
			}
			inside = !strings.ContainsAny(field[len(field)-1:], ".!?:")
		}
	}
	return names
}
