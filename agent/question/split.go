package question

import (
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// MaxParts is the maximum number of parts of a question.
const MaxParts = 5

// Undivided returns the whole question as its only part.
func Undivided(question string) []chat.PlanPart {
	return []chat.PlanPart{{
		Query: text.Shorten(question, 1000), Reasoning: "The question itself", DependsOn: []int{},
		Status: chat.StatusPending,
	}}
}

var (
	compared = []func() *regexp.Regexp{
		lazy.Regexp(
			`(?i)^(?:please |can you |could you ` +
				`)*(?:compare|contrast)\s+(.+?)\s+(?:and|with|to|against|versus|vs\.?)\s+(.+?)[\s?.!]*$`,
		),
		lazy.Regexp(`(?i)\b(?:differences?|distinction|comparison)\s+between\s+(.+?)\s+and\s+(.+?)[\s?.!]*$`),
		lazy.Regexp(
			`(?i)^(?:how (?:does|do|did)\s+)?(.+?)\s+(?:versus|vs\.?|(?:compare|compares|compared|differ|differs) ` +
				`(?:to|with|from))\s+(.+?)[\s?.!]*$`,
		),
	}
	lastRelation = lazy.Regexp(`(?i)^.*\b(?:of|for|in|from|by|at|on)\s+`)
	tailRelation = lazy.Regexp(
		`(?i)\s+(?:in|for|regarding|concerning|with regard to|with respect to|in terms of|when it comes to|according ` +
			`to)\s+.+$`,
	)
	pronoun = lazy.Regexp(
		`(?i)\b(?:it|its|they|them|their|he|him|his|she|her|that|this|those|these|there|then)\b`,
	)
)

// Split splits a question by rules into its questions, or into the sides of a comparison. It never fails: a question
// without parts is returned undivided, as is one that is too long, has too many parts or a part without content
// words.
func Split(question string, a Analysis) []chat.PlanPart {
	q := strings.Join(strings.Fields(question), " ")
	if len(q) > MaxAnalysed {
		return Undivided(question)
	}
	var parts []chat.PlanPart
	for i, c := range splitQuestions(q) {
		part := chat.PlanPart{Query: c.text, Reasoning: "A question of its own", DependsOn: []int{}}
		if i > 0 && (pronoun().MatchString(c.text) || c.joined && NeedsContext(c.text)) && !namesSomething(c.text) {
			part.Reasoning, part.DependsOn = "Builds on the part before", []int{i - 1}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && a.Type == Comparison {
		for _, side := range comparedSides(q) {
			parts = append(
				parts, chat.PlanPart{Query: side, Reasoning: "One side of the comparison", DependsOn: []int{}},
			)
		}
	}
	if len(parts) < 2 || len(parts) > MaxParts {
		return Undivided(question)
	}
	for i := range parts {
		if len(parts[i].DependsOn) == 0 && len(Keywords(parts[i].Query)) == 0 {
			return Undivided(question) // the subject is elsewhere
		}
		parts[i].Status = chat.StatusPending
	}
	return parts
}

// comparedSides returns the things that a question compares. A relation at the first or the last one applies to all:
// "the rent of the flat and the house", "leave and sickness in the handbook". Only the first matching pattern is
// used, even if its sides are not comparable.
func comparedSides(q string) []string {
	for _, form := range compared {
		m := form().FindStringSubmatch(q)
		if m == nil {
			continue
		}
		var items []string
		for _, item := range append(strings.Split(m[1], ", "), m[2]) {
			if item = strings.Trim(item, " ,"); item != "" {
				items = append(items, item)
			}
		}
		first, last := items[0], items[len(items)-1]
		head := lastRelation().FindString(first)
		tail := tailRelation().FindString(last)
		for i, item := range items {
			if head != "" && i > 0 && !lastRelation().MatchString(item) {
				items[i] = head + item
			} else if head == "" && tail != "" && i < len(items)-1 {
				items[i] += tail
			}
		}
		if items = slices.Compact(items); areComparable(items) {
			return items
		}
		return nil
	}
	return nil
}

// namesSomething reports whether a part contains a named entity. A date alone does not identify a subject.
func namesSomething(part string) bool {
	return slices.ContainsFunc(findEntities(part), func(e string) bool { return !dateOrYear().MatchString(e) })
}

// NeedsContext reports whether a part needs the context of another: it contains a pronoun, or fewer than two content
// words.
func NeedsContext(part string) bool { return pronoun().MatchString(part) || contentOf(part) < 2 }

// contentOf counts the content words of a part, in the language of its question word.
func contentOf(part string) int {
	said := wordsAt(part)
	a, n := languageFrom(said), 0
	for _, w := range said {
		if !a.isFunction(w.word) {
			n++
		}
	}
	return n
}

// areComparable reports whether each side of a comparison is complete. A single word before a longer side may share
// its last word, as in “the old and the new tariff”; a name does not.
func areComparable(items []string) bool {
	last := contentOf(items[len(items)-1])
	for _, item := range items {
		said := wordsAt(item)
		switch n := contentOf(item); {
		case n == 0, !grammars[0].isWhole(said):
			return false
		case n == 1 && last > 1 && len(said) > 1 && item == strings.ToLower(item):
			return false
		}
	}
	return true
}
