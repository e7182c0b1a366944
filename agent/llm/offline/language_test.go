package offline

import (
	"context"
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
)

const (
	inGerman = "Die monatliche Miete beträgt 980 Euro. " +
		"Sie ist bis zum dritten Werktag eines jeden Monats zu zahlen, und " +
		"der Mieter kann den Vertrag mit einer Frist von drei Monaten kündigen."
	inEnglish = "The staff canteen is open on every day of the week. " +
		"Please tell the manager before the first day when " +
		"you are going to be late for the meal."
	askedInEnglish = "How much is the rent for the flat, and when is it due each month?"
)

func sourceOf(id, said string) source {
	return source{passage: passage{N: 1, Text: said}, document: document{DocID: id, Filename: id + ".txt"}}
}

func TestTheLanguageOfDocumentsIsNamedIfItIsNotTheQuestions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, question string
		sources        []source
		want           string
	}{
		{"in another language", askedInEnglish, []source{sourceOf("a", inGerman)}, "German"},
		{"in the question's", "Wie hoch ist die Miete und bis wann ist sie zu zahlen?",
			[]source{sourceOf("a", inGerman)}, ""},
		{"in both", askedInEnglish, []source{sourceOf("a", inGerman), sourceOf("b", inEnglish)}, ""},
		{"a question too short to tell", "Miete?", []source{sourceOf("a", inGerman)}, ""},
		{"a document too short to tell", askedInEnglish, []source{sourceOf("a", "980")}, ""},
		{"short passages of one document", askedInEnglish,
			[]source{sourceOf("a", "980"), sourceOf("a", inGerman)}, "German"},
		{"nothing", askedInEnglish, nil, ""},
	} {
		p := pileOf(tt.sources)
		p.compareLanguages(tt.question)
		var all []int
		for i := range tt.sources {
			all = append(all, i)
		}
		if got := p.otherLanguages(all); got != tt.want {
			t.Errorf("%s: the documents are said to be in %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTheHeadlineStaysOneSentenceThatLeadsToQuotes(t *testing.T) {
	t.Parallel()
	p := pileOf([]source{sourceOf("a", inGerman)})
	p.compareLanguages(askedInEnglish)
	want := "Found in your documents; these documents are in German:"
	if got := p.headline(string(answers), []quote{{source: 0}}); got != want {
		t.Errorf("headline = %q, want %q", got, want)
	}
}

func TestARefusalNamesTheLanguageOfWhatWasFound(t *testing.T) {
	t.Parallel()
	p := pileOf([]source{sourceOf("a", inGerman)})
	p.compareLanguages(askedInEnglish)
	searched := turn{results: []result{{tool: "search_documents", input: map[string]any{"query": "rent"}}}}
	got := wayOn(searched, answer{pile: p})
	if !strings.Contains(got, " The documents that were found are in German. ") {
		t.Errorf("the refusal says %q, want the language", got)
	}
}

// Words that no document of a language has say nothing about it: there meaning counts what they would have counted.
func TestMeaningDecidesWhereWordsCannot(t *testing.T) {
	t.Parallel()
	const shares = "The rent of the hall is due each month, while the flat roof is much of the trouble for the manager."
	near := func(_ context.Context, _ string, texts []string) ([]float64, error) {
		out := make([]float64, len(texts))
		for i, s := range texts {
			if out[i] = 0.1; strings.Contains(s, "980") {
				out[i] = 0.6
			}
		}
		return out, nil
	}
	p := pileOf([]source{sourceOf("a", shares), sourceOf("b", inGerman)})
	q := topicOf(turn{question: askedInEnglish})
	for _, compared := range []bool{false, true} {
		want := shares[:8]
		if compared {
			p.compareLanguages(askedInEnglish)
			want = "Die mona"
		}
		units, _, err := rate(t.Context(), p, q, q.weigh(p), near)
		if err != nil || units[0].text[:8] != want {
			t.Errorf("languages compared %v: best is %q, %v; want %q…", compared, units[0].text, err, want)
		}
	}
}

func TestAWordNobodyHasIsMatchedWithItsCognate(t *testing.T) {
	t.Parallel()
	p := pileOf([]source{sourceOf("a",
		"An array with parity is slower than one with mirrors, and it is the one to use "+
			"for what you have to keep.")})
	p.compareLanguages("Wie viel schneller ist ein Verbund mit Parität als einer ohne sie?")
	for _, tt := range []struct{ word, want string }{
		{"Parität", "pariti"}, {"Verbund", ""}, {"RAID10", ""},
	} {
		w := text.QueryWords(tt.word, []string{"en", "de"})[0]
		found := p.cognates(w, map[string]float64{})
		worth := found[tt.want]
		if len(found) > 1 || (tt.want == "") != (len(found) == 0) || tt.want != "" && worth == 0 {
			t.Errorf("cognates of %q = %v, want %q", tt.word, found, tt.want)
		}
	}
	w := text.QueryWords("Parität", []string{"de"})[0]
	if found := p.cognates(w, map[string]float64{"paritat": 1}); len(found) != 1 {
		t.Errorf("a word that was found has the cognates %v, want none", found)
	}
}
