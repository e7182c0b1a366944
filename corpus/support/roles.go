package support

import (
	"maps"
	"strings"
)

// role is the function of a word in a sentence.
type role uint8

const (
	content  role = iota
	function      // a function word that may mark the role of the next word
	silent        // an article or similar
	auxiliary
	negating  // negates its segment
	excepting // begins a segment and negates it
	joining   // begins a segment
)

// roles are function words by language, from grammars, not from test texts. They are a closed class, so the lists
// are complete. Few of them occur in tests, but without a language's negations every denial would count as support.
// Other function words are the language's stop words.
var roles = func() map[string]map[string]role {
	out := map[string]map[string]role{}
	for lang, lists := range map[string][5]string{ // negating, excepting, joining, articles, auxiliaries
		"en": {"not never cannot no none neither nor nobody nothing nowhere hardly scarcely barely seldom rarely",
			"without except excepting unless", "and or but while whereas although though because since so yet",
			"the a an this that these those his her its their our your my",
			"is are was were be been being am has have had do does did will would shall should can could may " +
				"might must"},
		"de": {"nicht niemals nie kein keine keinen keinem keiner keines niemand nichts", "ohne außer",
			"und oder aber sondern weil während",
			"der die das den dem des ein eine einen einem einer eines",
			"ist sind war waren wird werden wurde wurden hat haben"},
		"fr": {
			"pas jamais aucun aucune personne rien", "sans sauf excepté", "et ou mais tandis",
			"le la les un une des du sa son ses leur leurs", "est sont était a ont été",
		},
		"es": {
			"no nunca ningún ninguna ninguno nadie nada", "sin excepto salvo", "y e o pero sino mientras",
			"el la los las un una su sus", "es son era fue está están estaba estaban ha han",
		},
		"it": {
			"non mai nessun nessuno nessuna niente", "senza tranne salvo", "e o ma mentre", "il lo la i gli le un una",
			"è sono era ha hanno",
		},
		"pt": {
			"não nunca nenhum nenhuma ninguém nada", "sem exceto salvo", "e ou mas enquanto", "o a os as um uma",
			"é são era foi",
		},
		"nl": {
			"niet nooit geen niemand niets", "zonder behalve", "en of maar terwijl", "de het een",
			"is zijn was waren wordt worden heeft hebben",
		},
		"sv": {"inte aldrig ingen inget inga", "utan utom", "och eller men", "en ett den det", "är var har"},
		"no": {"ikke aldri ingen", "uten unntatt", "og eller men", "en et den det", "er var har"},
		"ru": {"не нет никогда никто ничего", "без кроме", "и а но или", "", "был была было были"},
	} {
		known := map[string]role{}
		for i, words := range lists {
			for w := range strings.FieldsSeq(words) {
				known[w] = []role{negating, excepting, joining, silent, auxiliary}[i]
			}
		}
		out[lang] = known
	}
	return out
}()

// rolesOf returns the roles for a language. English and unknown languages include the negations of all languages,
// since a passage may have sentences in several.
func rolesOf(lang string) map[string]role {
	if known := roles[lang]; known != nil && lang != "en" {
		return known
	}
	return mixedRoles
}

var mixedRoles = func() map[string]role {
	out := maps.Clone(roles["en"])
	for _, known := range roles {
		for w, r := range known {
			if _, ok := out[w]; !ok && r == negating {
				out[w] = r
			}
		}
	}
	return out
}()

// synonyms are words that are equivalent when a single word decides: for the most common pairs of opposites in
// documents and answers. A missing synonym makes a supported claim look unsupported, never the reverse, so the list
// need not be complete.
var synonyms = func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(`close closes closed closing shut shuts
		increase increases increased increasing rise rises rose risen rising
		decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped dropping
		allowed permitted allows permits allow permit
		forbidden prohibited banned forbids prohibits bans
		begin begins began begun beginning start starts started starting
		reject rejects rejected refuse refuses refused
		required compulsory mandatory
		geöffnet offen
		erlaubt gestattet
		verboten untersagt`) {
		words := strings.Fields(line)
		for _, w := range words {
			out[w] = "=" + words[0]
		}
	}
	return out
}()

// telling are stop words with a meaning. They count as content words: a claim with "after" for "before" in the
// passage has a word that the passage lacks.
var telling = wordSet(`before after above below over under more less fewer most least all every each everybody ` +
	`everyone some somebody only both
	vor nach über unter mehr weniger alle jeder nur avant après plus moins tous toutes antes después más menos todos ` +
	`todas`)

// concord are languages with negative concord, where two negations count as one: "no vio nada" is "he saw nothing".
var concord = wordSet("fr es it pt ru")

// agents are the prepositions of the agent in a passive clause.
var agents = wordSet("by von durch par por da door av af ved από")

// wordSet parses a list of words separated by white space.
func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
