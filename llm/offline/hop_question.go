package offline

import (
	"slices"
	"strings"

	"footnote/corpus/text"
)

// hop is a way to read a question as two: which thing is meant, and what is asked of it.
type hop struct {
	head   string // what the thing is: "team"
	clause string // what tells it from others: "owns the billing service"
	before string // of the question, up to the thing
	after  string // and behind it
	role   bool   // the head itself tells: "the captain of the Petrel"
}

// phrase is what the first of the two steps searches for.
func (h hop) phrase() string {
	if h.role {
		return h.head + " of " + h.clause
	}
	return h.head + " that " + h.clause
}

// ask is the second question, of a thing that has a name now.
func (h hop) ask(name string) string {
	return strings.Join(strings.Fields(h.before+" "+name+" "+h.after), " ") + "?"
}

var (
	relative = lazily(
		`(?i)^(.+) (?:the|an?) ((?:[\p{L}\d'’-]+ ){0,3}?[\p{L}\d'’-]+),? (?:(?:in|on|at|for|by|from|with|of|to) ` +
			`which|that|which|who|where) (.+)$`,
	)
	roleOf = lazily(`(?i)^(.+) the ([\p{L}-]+) of (.+)$`)
	holder = lazily(
		`(?i)^(?:\p{L}{3,}(?:er|or|ist|ian|man|woman)|captain|director|head|boss|chief|landlord|landlady|tenant|` +
			`architect|chair|president|doctor|company|firm|host|guide|cook|pilot|mayor|king|queen|husband|wife|` +
			`father|mother|brother|sister|son|daughter|parent)$`,
	)
	asksWith = lazily(
		`(?i)\b(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)\b`,
	)
	auxiliary = lazily(
		`(?i)\b(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)$`,
	)
	onlyAsks   = lazily(`(?i)^(?:who|what|which)(?:['’]s| is| are| was| were)$`)
	determiner = lazily(`(?i)^(?:the|an?|this|that|these|those|its|his|her|their|our|my|your)$`)
)

const mostBehind = 4 // words of the main clause behind the thing

// hops returns the ways to read a question as two, likeliest first; none for nearly all questions.
func hops(question string) []hop {
	question = strings.TrimRight(strings.Join(strings.Fields(question), " "), " ?.!")
	if m := relative().FindStringSubmatch(question); m != nil && !onlyAsks().MatchString(m[1]) && !hasStop(m[2]) &&
		!strings.HasPrefix(m[3], "of ") {
		var out []hop
		names := strings.Fields(m[2])
		if asksWith().MatchString(m[1]) { // "the company employ that …"
			for n := 1; n < len(names); n++ {
				out = append(out, hop{
					head: strings.Join(names[:n], " "), clause: m[3], before: m[1], after: strings.Join(names[n:], " "),
				})
			}
		}
		return append(out, cuts(hop{head: m[2], clause: m[3], before: m[1]})...)
	}
	if h, ok := owned(question); ok && !(onlyAsks().MatchString(h.before) && h.after == "") {
		return []hop{h}
	}
	if m := roleOf().FindStringSubmatch(question); m != nil && holder().MatchString(m[2]) &&
		!onlyAsks().MatchString(m[1]) {
		return cuts(hop{head: m[2], clause: m[3], before: m[1], role: true})
	}
	return nil
}

func hasStop(words string) bool {
	stop := text.Stops("en")
	return slices.ContainsFunc(strings.Fields(strings.ToLower(words)), stop)
}

// cuts are a hop with the last words of its clause behind it: where a verb stands before the thing, the rest of the
// main clause does so.
func cuts(h hop) []hop {
	if !asksWith().MatchString(h.before) {
		return []hop{h}
	}
	words := strings.Fields(h.clause)
	var out []hop
	for n := 1; n < len(words) && n <= mostBehind; n++ {
		if at := len(words) - n; !determiner().MatchString(words[at-1]) {
			out = append(
				out, hop{h.head, strings.Join(words[:at], " "), h.before, strings.Join(words[at:], " "), h.role},
			)
		}
	}
	if auxiliary().MatchString(h.before) {
		return append(out, h)
	}
	return slices.Insert(out, 0, h)
}

// owned reads a possessive: "the Petrel's captain". The owner is a name, or what stands behind an article.
func owned(question string) (hop, bool) {
	fields := strings.Fields(strings.ReplaceAll(question, "’", "'"))
	at := slices.IndexFunc(fields, func(f string) bool {
		return len(f) > 3 && strings.HasSuffix(f, "'s") && f != "What's" && f != "Who's" && f != "Where's"
	})
	if at < 1 || at == len(fields)-1 {
		return hop{}, false
	}
	from := at
	for from > 1 && (capital(fields[at]) && capital(fields[from-1]) ||
		!capital(fields[at]) && at-from < mostBehind && !determiner().MatchString(fields[from-1])) {
		from--
	}
	if !capital(fields[at]) && !determiner().MatchString(fields[from-1]) {
		return hop{}, false
	}
	owner := strings.TrimSuffix(strings.Join(fields[from:at+1], " "), "'s")
	if determiner().MatchString(fields[from-1]) {
		from--
	}
	if from == 0 {
		return hop{}, false
	}
	return hop{head: fields[at+1], clause: owner, before: strings.Join(fields[:from], " "), after: strings.Join(
		fields[at+2:], " ",
	), role: true}, true
}
