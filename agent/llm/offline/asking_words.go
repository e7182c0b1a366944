package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// functions are the words that ask for what can be computed of many rows, in the languages that documents are most
// often in, folded. They are closed: a question with none of them is answered with quotes.
var functions = []struct {
	name    string
	phrases string
}{
	{"sum", "total|in total|sum|altogether|gesamt|gesamtsumme|insgesamt|summe|zusammen|somme|au total|suma|totale|" +
		"somma|soma|totaal|som|lacznie|razem|сумма|всего|toplam"},
	{"mean", "average|on average|mean|durchschnitt|durchschnittlich|mittelwert|moyenne|en moyenne|promedio|media|" +
		"en promedio|in media|medio|medie|gemiddelde|gemiddeld|srednia|srednio|среднее|средняя|средний|ortalama"},
	{"max", "highest|largest|biggest|most expensive|maximum|hochste|hochster|hochsten|grosste|grossten|teuerste|plus " +
		"eleve|plus elevee|plus grand|plus grande|maximal|mas alto|mas alta|mayor|maximo|piu alto|piu alta|massimo|" +
		"mais alto|mais alta|maior|hoogste|grootste|najwyzsza|najwyzszy|najwieksza|наибольший|наибольшая|" +
		"максимальная|en yuksek|en buyuk"},
	{"min", "lowest|smallest|cheapest|minimum|niedrigste|niedrigster|niedrigsten|kleinste|gunstigste|plus bas|plus " +
		"basse|plus petit|plus petite|minimal|mas bajo|mas baja|menor|minimo|piu basso|piu bassa|minimo|mais baixo|" +
		"mais baixa|laagste|kleinste|najnizsza|najnizszy|najmniejsza|наименьший|наименьшая|минимальная|en dusuk|" +
		"en kucuk"},
	{"count", "how many|number of|wie viele|wieviele|anzahl|combien de|combien d|nombre de|cuantos|cuantas|quanti|" +
		"quante|quantos|quantas|hoeveel|aantal|ile|liczba|сколько|количество|kac"},
}

// Words of the same languages that turn what they stand beside around, and what stands in columns that say yes or no.
var (
	negations = strings.Fields("not n't no without nicht kein keine keinen noch pas non sin nao senza niet geen " +
		"nie bez не без degil haven hasn didn isn aren wasn weren")
	// words beside a function that ask how large it is, and say nothing of the rows
	idle = strings.Fields("much large high list show give hoch gross betragt lautet nenne zeige eleve montre cuanto " +
		"cuanta asciende quanto quanta ammonta bedraagt hoeveel wynosi ile сколько составляет kac kadar")
	yes = strings.Fields("yes y true x ✓ ✔ ja wahr oui vrai si verdadero vero sim verdadeiro tak да evet")
	no  = strings.Fields("no n false - – ✗ nein falsch non faux falso nao nee nie нет hayir")
)

// functionOf is what a question asks to be computed, with the words that ask for it; empty for none. The longest phrase
// of a function counts, so that “in total” is taken off the question whole. Functions are tried in the order of the
// list.
func functionOf(tokens []string) (name, words string) {
	said := " " + strings.Join(tokens, " ") + " "
	for _, f := range functions {
		for phrase := range strings.SplitSeq(f.phrases, "|") {
			if strings.Contains(said, " "+phrase+" ") && len(phrase) > len(words) {
				name, words = f.name, phrase
			}
		}
		if name != "" {
			return name, words
		}
	}
	return "", ""
}

// negated reports whether a negation stands right before a word, or one word before that. A word is met by its
// beginning, as typed words come without their endings here.
func negated(tokens []string, word string) bool {
	at := slices.IndexFunc(tokens, func(t string) bool { return strings.HasPrefix(word, t) })
	return at >= 0 && slices.ContainsFunc(tokens[max(0, at-2):at], func(t string) bool {
		return slices.Contains(negations, t)
	})
}

// truthOf tells which of the cells of a column say yes and which no, each once; ok if all that are filled do.
func truthOf(rows []unit, column int) (positive, negative []string, ok bool) {
	for _, r := range rows {
		cells := cellsOf(r.text)
		if column >= len(cells) || cells[column] == "" {
			continue
		}
		switch said := text.Fold(cells[column]); {
		case slices.Contains(yes, said):
			positive = text.AppendNew(positive, cells[column])
		case slices.Contains(no, said):
			negative = text.AppendNew(negative, cells[column])
		default:
			return nil, nil, false
		}
	}
	return positive, negative, len(positive)+len(negative) > 0
}
