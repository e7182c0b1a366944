package agent

import (
	"regexp"
	"slices"
	"strings"

	"footnote/chat"
)

// maxParts is how many parts a question is taken apart into.
const maxParts = 5

// subQuery is one part of a question. A plan's step shows its parts in this form.
type subQuery struct {
	Query     string      `json:"query"`
	Reasoning string      `json:"reasoning"`
	DependsOn []int       `json:"depends_on"` // places in the list of the parts that have to be searched first, from 0
	Status    chat.Status `json:"status"`
}

// undivided is the question as its only part.
func undivided(question string) []subQuery {
	return []subQuery{{Query: shorten(question, 1000), Reasoning: "The question itself", DependsOn: []int{}, Status: chat.StatusPending}}
}

var (
	compared = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(?:please |can you |could you )*(?:compare|contrast)\s+(.+?)\s+(?:and|with|to|against|versus|vs\.?)\s+(.+?)[\s?.!]*$`),
		regexp.MustCompile(`(?i)\b(?:differences?|distinction|comparison)\s+between\s+(.+?)\s+and\s+(.+?)[\s?.!]*$`),
		regexp.MustCompile(`(?i)^(?:how (?:does|do|did)\s+)?(.+?)\s+(?:versus|vs\.?|(?:compare|compares|compared|differ|differs) (?:to|with|from))\s+(.+?)[\s?.!]*$`),
	}
	ownQuestion  = regexp.MustCompile(`(?i)(?:[?;]+|,?\s+(?:and|but)(?:\s+also)?)\s+(what|who|whom|whose|when|where|why|how|which)\b`)
	newSentence  = regexp.MustCompile(`[?;]+\s+`)
	lastRelation = regexp.MustCompile(`(?i)^.*\b(?:of|for|in|from|by|at|on)\s+`)
	tailRelation = regexp.MustCompile(`(?i)\s+(?:in|for|regarding|concerning|with regard to|with respect to|in terms of|when it comes to|according to)\s+.+$`)
	pronoun      = regexp.MustCompile(`(?i)\b(?:it|its|they|them|their|he|him|his|she|her|that|this|those|these|there|then)\b`)
)

// split takes a question apart by rules: the sides of a comparison, or the questions it consists of. A question that they find no
// parts in comes back whole.
func split(question string, a analysis) []subQuery {
	q := strings.Join(strings.Fields(question), " ")
	if len(q) > maxAnalysed {
		return undivided(question)
	}
	var parts []subQuery
	if a.Type == typeComparison {
		for _, side := range sides(q) {
			parts = append(parts, subQuery{Query: side, Reasoning: "One side of the comparison", DependsOn: []int{}})
		}
	}
	if len(parts) < 2 {
		parts = nil
		for i, s := range questions(q) {
			part := subQuery{Query: s, Reasoning: "A question of its own", DependsOn: []int{}}
			if i > 0 && pronoun.MatchString(s) && len(entities(s)) == 0 {
				part.Reasoning, part.DependsOn = "Builds on the part before", []int{i - 1}
			}
			parts = append(parts, part)
		}
	}
	if len(parts) < 2 || len(parts) > maxParts {
		return undivided(question)
	}
	for i := range parts {
		if len(parts[i].DependsOn) == 0 && len(keywords(parts[i].Query)) == 0 {
			return undivided(question) // what it is about stands elsewhere
		}
		parts[i].Status = chat.StatusPending
	}
	return parts
}

// sides are the things that a question compares. What only the first or the last of them says holds for all: "the rent of the flat
// and the house", "leave and sickness in the handbook".
func sides(q string) []string {
	for _, form := range compared {
		m := form.FindStringSubmatch(q)
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
		head := lastRelation.FindString(first)
		tail := tailRelation.FindString(last)
		for i, item := range items {
			if head != "" && i > 0 && !lastRelation.MatchString(item) {
				items[i] = head + item
			} else if head == "" && tail != "" && i < len(items)-1 {
				items[i] += tail
			}
		}
		return slices.Compact(items)
	}
	return nil
}

// questions are the questions that a text consists of.
func questions(q string) []string {
	var cuts []int
	for _, m := range ownQuestion.FindAllStringSubmatchIndex(q, -1) {
		cuts = append(cuts, m[2])
	}
	for _, m := range newSentence.FindAllStringIndex(q, -1) {
		cuts = append(cuts, m[1])
	}
	slices.Sort(cuts)
	var out []string
	from := 0
	for _, cut := range append(slices.Compact(cuts), len(q)) {
		s := strings.TrimSpace(q[from:cut])
		for _, joint := range []string{" also", " and", " but"} {
			s = strings.TrimSuffix(s, joint)
		}
		if s = strings.Trim(s, " ,;?.!"); s != "" {
			out = append(out, s)
		}
		from = cut
	}
	return out
}
