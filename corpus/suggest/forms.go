package suggest

import "strings"

// forms are the questions of a language; $1 and $2 stand for words of the document. A search must find by those words
// alone: all others are words that it leaves out, which the test of this package holds. Languages without a list of
// such words have the words of the document alone. Quotation marks are those of the language.
type forms struct {
	section string // about $1, a heading
	words   string // about $1, words of a sentence
	cell    string // about the cell in the column $1 of the row $2
}

var anyLanguage = forms{"$1?", "$1?", "$2: $1?"}

var languages = map[string]forms{
	"de": {"Was hat es mit „$1“ auf sich?", "Was hat es mit „$1“ auf sich?", "Was ist „$1“ bei „$2“?"},
	"en": {"What does “$1” say?", "What is there about “$1”?", "What is “$1” for “$2”?"},
	"es": {"¿Qué hay en «$1»?", "¿Qué hay sobre «$1»?", "¿Cuál es «$1» para «$2»?"},
	"fr": {"Qu'en est-il de « $1 » ?", "Qu'en est-il de « $1 » ?", "Quel est « $1 » pour « $2 » ?"},
	"ja": {"「$1」は？", "「$1」は？", "「$2」の「$1」は？"},
	"no": {"Hva er det i «$1»?", "Hva er det om «$1»?", "Hva er «$1» for «$2»?"},
	"ru": {"О чем «$1»?", "Что там про «$1»?", "Что есть «$1» для «$2»?"},
	"sv": {"Hur är det med ”$1”?", "Hur är det med ”$1”?", "Vad är ”$1” för ”$2”?"},
	"zh": {"“$1”是什么？", "“$1”是什么？", "“$2”的“$1”是什么？"},
}

// formsOf returns the forms of a language. Unknown languages have the words themselves with a question mark.
func formsOf(language string) forms {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	if language == "nb" || language == "nn" {
		language = "no"
	}
	if f, ok := languages[language]; ok {
		return f
	}
	return anyLanguage
}

// fill puts words into a form.
func fill(form string, words ...string) string {
	pairs := []string{"$1", words[0]}
	if len(words) > 1 {
		pairs = append(pairs, "$2", words[1])
	}
	return strings.NewReplacer(pairs...).Replace(form)
}
