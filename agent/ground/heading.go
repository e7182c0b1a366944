package ground

import (
	"slices"
	"strings"
	"unicode"
)

// The fewest content words of a heading that states something.
const (
	minStated     = 3
	minStatedStop = 2 // if it ends like a sentence
)

// verbs are words that a whole sentence has and the name of a topic rarely: forms that are nouns or participles as
// well ("costs", "used") are left out.
var verbs = strings.Fields(`
	is are was were isn't aren't wasn't weren't has have had can cannot can't will won't would must should may might
	could shall do does did don't doesn't didn't live lives lived keep keeps own owns contain contains belong
	belongs eat eats sleep sleeps become becomes became remain remains include includes allow allows require
	requires apply applies exist exists begin begins began get gets got give gives gave take takes took make makes
	go goes went come comes came know knows knew say says mean means sits stands leaks pays earn earns receive
	receives provide provides expire expires fly flies flew sing sings grow grows grew ist sind waren haben
	hatte wird werden kann können muss müssen darf leben lebt est sont était ont était doit peut vivent está están
	tiene tienen hay puede viven
`)

// asides open a clause, whose verb does not make a sentence of what stands before it: "Things that are missing".
var asides = strings.Fields(`
	that which who whom whose where when what how why if whether wenn wie qui que où quand comment donde cuando
	como
`)

// statesMore reports whether a heading is a whole sentence that states something, and not the name of a topic: it ends
// like a sentence, or has a verb behind its first word.
func statesMore(heading string) bool {
	if !IsFactualClaim(heading) {
		return false
	}
	words := CountContentWords(heading)
	if strings.HasSuffix(heading, ".") || strings.HasSuffix(heading, "!") || strings.HasSuffix(heading, "。") {
		return words >= minStatedStop
	}
	first := true
	for word := range strings.FieldsFuncSeq(heading, func(r rune) bool {
		return !isWordRune(r) && r != '\'' && r != '’'
	}) {
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			continue // its number
		}
		lower := strings.ReplaceAll(strings.ToLower(word), "’", "'")
		switch {
		case slices.Contains(asides, lower):
			return false
		case !first && word != "May" && word != "Will" && slices.Contains(verbs, lower):
			return words >= minStated
		}
		first = false
	}
	return false
}

// headingText is a heading without its marks and footnotes.
func headingText(line string) string {
	plain, _ := liftFootnotes(line)
	return strings.Trim(plain, "#*_`~ \n")
}

// cover gives headings the footnotes of what stands under them.
func cover(all []Claim) {
	var below []int
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].heading {
			below = append(below, all[i].Numbers...)
			continue
		}
		all[i].Nearby, below = below, nil
	}
}
