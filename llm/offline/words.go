package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus/text"
)

// idle are words of questions that say nothing about the subject.
var idle = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`document documents file files say says said tell told mention mentions mentioned according describe describes described
		explain explains information info detail details please know find show give list much many long often happen happens
		mean means exactly question answer want need second first third last one more else also compare difference between versus vs
		dokument dokumente sagen steht laut document fichier dit documento dice`) {
		m[w] = true
	}
	return m
}()

// contentWords returns the words of a question that say what it is about; all of its words if none does.
func contentWords(q string) []text.Word {
	words := text.QueryWords(q, languages(q))
	kept := slices.DeleteFunc(slices.Clone(words), func(w text.Word) bool { return idle[strings.ToLower(w.Text)] || idle[w.Terms[0]] })
	if len(kept) == 0 {
		return words
	}
	return kept
}

// languages returns the languages whose stems a question's words may have.
func languages(s string) []string {
	langs := []string{"en"}
	if lang := text.Detect(s); lang != "" && lang != "en" {
		langs = append(langs, lang)
	}
	return langs
}

var hasDigit = regexp.MustCompile(`\d`)

// names returns the words that must be in a text that answers the question: numbers, and words that are written as names.
func names(q string, words []text.Word) []text.Word {
	lang := text.Detect(q)
	capitals := 0
	for _, w := range words {
		if capital(w.Text) {
			capitals++
		}
	}
	shouting := lang == "de" || len(words) > 2 && capitals == len(words)
	var out []text.Word
	for _, w := range words {
		inside := strings.Index(q, w.Text) > 0
		if hasDigit.MatchString(w.Text) || capital(w.Text) && inside && !shouting {
			out = append(out, w)
		}
	}
	return out
}

func capital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// searchText is what is given to the search: content words and quoted phrases; the question itself for scripts without spaces.
func searchText(question string, q query) string {
	var out []string
	for _, phrase := range q.quoted {
		out = append(out, `"`+phrase+`"`)
	}
	grams := false
	for _, w := range slices.Concat(q.words, q.borrowed) {
		grams = grams || w.Gram
		if !w.Gram && !slices.Contains(out, w.Text) {
			out = append(out, w.Text)
		}
	}
	if grams {
		out = []string{question}
		for _, w := range q.borrowed {
			out = append(out, w.Text)
		}
	}
	return clip(strings.Join(out, " "), 900)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// alike are groups of words with nearly one meaning, as English stems.
var alike = [][]string{
	{"cost", "price", "fee", "charg", "amount"}, {"buy", "purchas", "acquir"}, {"car", "vehicl", "automobil"}, {"begin", "start", "commenc"},
	{"end", "finish", "termin", "expir"}, {"boss", "manag", "head", "director", "lead"}, {"employe", "staff", "worker", "personnel"},
	{"holiday", "vacat", "leav"}, {"salari", "pay", "wage", "compens"}, {"fix", "repair", "mend"}, {"broken", "damag", "defect", "fault"},
	{"guarante", "warranti"}, {"contract", "agreement"}, {"cancel", "termin", "withdraw"}, {"delet", "remov", "eras"}, {"instal", "setup", "set"},
	{"allow", "permit"}, {"forbid", "prohibit", "ban"}, {"size", "dimens", "area"}, {"flat", "apart"}, {"hous", "build", "home"}, {"illness", "sick", "diseas"},
	{"help", "support", "assist"}, {"big", "larg"}, {"old", "age"}, {"custom", "client"}, {"suppli", "vendor", "provid"}, {"phone", "telephon"},
	{"mail", "email"}, {"address", "locat"}, {"owner", "own", "landlord", "proprietor"}, {"reason", "caus", "because"}, {"advantag", "benefit"}, {"founder", "found", "establish"},
	{"refund", "reimburs", "repay"}, {"duration", "length", "period"}, {"deadlin", "due"}, {"author", "written", "write"}, {"rent", "leas"},
	{"limit", "maximum", "most"}, {"minimum", "least"}, {"delay", "late"}, {"invoic", "bill"}, {"creat", "make", "made", "built"},
}

// synonyms returns the stems that mean nearly the same as one of the terms.
func synonyms(terms []string) []string {
	var out []string
	for _, group := range alike {
		if slices.ContainsFunc(group, func(g string) bool { return slices.Contains(terms, g) }) {
			for _, g := range group {
				if !slices.Contains(terms, g) && !slices.Contains(out, g) {
					out = append(out, g)
				}
			}
		}
	}
	return out
}
