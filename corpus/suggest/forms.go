package suggest

import "strings"

// forms are the question templates of a language; $1 and $2 are replaced with words of the document. All other
// words are stop words, so that a search uses only those of the document; a test of this package checks this.
// Languages without stop words have templates without other words. Quotation marks are those of the language.
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

// formsOf returns the templates of a language. Unknown languages use only the words, with a question mark.
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

// fill inserts words into a template.
func fill(form string, words ...string) string {
	pairs := []string{"$1", words[0]}
	if len(words) > 1 {
		pairs = append(pairs, "$2", words[1])
	}
	return strings.NewReplacer(pairs...).Replace(form)
}
