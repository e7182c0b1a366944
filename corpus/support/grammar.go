package support

import "strings"

// grammar is the grammatical function of a word: how it relates other words.
type grammar uint8

const (
	ungrammatical grammar = iota
	preposition           // marks the role of the following words
	subordinating         // begins a subordinate clause
	quantifying
	modal
	passive // makes the following verb passive
	pronoun
	existential // states existence: "there is"
)

// relation is the grammatical function of a word, and its synonym group.
type relation struct {
	grammar
	name string
	bit  uint8 // of quantifiers and modals
}

// Kinds of modals and quantifiers. They are bits, since a clause may have several: fit.sameClause compares them as
// sets. A claim that drops "may", "some" or "most" is stronger than its sentence, one that drops "all" is weaker.
const (
	possible uint8 = 1 << iota
	necessary
)

const (
	universal uint8 = 1 << iota
	exclusive
	partial
	frequent
	major
	mostly
	least
)

// relations are the function words that readWord looks up, in closed classes by language: prepositions,
// subordinators, quantifiers, modals, auxiliaries of the passive, and pronouns. Each line has synonyms. In
// languages without a list, for instance Italian and Portuguese, only claims in the word order of the passage are
// supported.
var relations = func() map[string]map[string]relation {
	out := map[string]map[string]relation{}
	for lang, lines := range map[string]string{
		"en": `p in at on during within inside upon
p to into onto towards toward
p from out
p of
p by
p with
p for
p through via across along
p over above
p under below beneath
p about around regarding concerning
p than
p as like
p between among
p against
p per
p behind
p near beside
s before until till
s after since once
s when whenever where wherever
s if provided whether
s unless
s because
s although though
s while whereas
q1 all every each both any either everyone everybody everything always
q2 only just merely solely
q4 some several sometimes somebody someone
q8 many often usually
q16 few
q32 most mostly
q64 least
m1 can could may might cannot
m2 must shall should
a is are was were be been being am gets got
e there
o it he she they this these that those we you i its their his her them him`,
		"de": `p in im am an auf bei beim während
p zu zum zur
p von vom
p aus
p mit
p für
p durch
p über
p unter
p gegen
p als
p zwischen
p um
s vor bevor bis
s nach nachdem seit
s wenn
s falls sobald ob
s weil da denn
s obwohl
q1 alle allen aller alles jede jeder jedes jeden jedem beide beiden immer
q2 nur lediglich
q4 manche einige einigen manchmal
q8 viele oft
m1 kann können könnte darf dürfen könnten
m2 muss müssen soll sollen sollte
a ist sind war waren wird werden wurde wurden worden
e gibt
o er sie es dies diese dieser`,
		"fr": `p dans en au aux à
p de du des
p par
p avec
p pour
p sur
p sous
p contre
p entre
p chez
s avant jusqu
s après depuis
s si
s quand lorsque
s parce
q1 tous toutes tout toute chaque toujours
q2 seulement uniquement
q4 quelques certains certaines parfois
q8 beaucoup souvent
m1 peut peuvent pourra pourrait
m2 doit doivent devra
a est sont était étaient été être fut
e y
o il elle ils elles ce cela`,
		"es": `p en
p a al
p de del
p por
p con
p para
p sobre
p bajo
p contra
p entre
s antes hasta
s después desde
s si
s cuando
s porque
s aunque
q1 todos todas todo toda cada siempre
q2 sólo solo solamente únicamente
q4 algunos algunas
q8 muchos muchas
m1 puede pueden podrá
m2 debe deben deberá
a es son fue fueron sido ser
e hay
o él ella ellos ellas esto`,
	} {
		out[lang] = relationsIn(lines)
	}
	return out
}()

// relationsIn parses lines of words, each beginning with its class: p preposition, s subordinator, q and m
// quantifier and modal with the bit of their kind, a auxiliary of the passive, o pronoun, e existential. The first
// word of a line is the name of its synonym group.
func relationsIn(lines string) map[string]relation {
	out := map[string]relation{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		kind := map[byte]grammar{
			'p': preposition, 's': subordinating, 'q': quantifying, 'm': modal, 'a': passive, 'o': pronoun,
			'e': existential,
		}[words[0][0]]
		var bit uint8
		for _, digit := range words[0][1:] {
			bit = 10*bit + uint8(digit-'0')
		}
		for _, w := range words[1:] {
			out[w] = relation{kind, words[1], bit}
		}
	}
	return out
}
