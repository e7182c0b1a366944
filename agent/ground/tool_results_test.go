package ground

import (
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestResultsAndListsBackOnlySentencesAboutThem(t *testing.T) {
	t.Parallel()
	const (
		list = `{"documents":[{"doc_id":"d1","title":"Robot house","filename":"robots.pdf","pages":3,` +
			`"created":"2004-05-01"}],"total":1}`
		sum = `{"result":2004}`
	)
	for _, tt := range []struct {
		tool, output, said string
		want               bool
	}{
		{"list_documents", list, "The house is a robot.", false},
		{"list_documents", list, "The robot house is made of gold.", false},
		{"list_documents", list, "He died in 2004.", false},
		{"list_documents", list, "Robot house", true},
		{"list_documents", list, "There is a document with the title Robot house.", true},
		{"list_documents", list, "Robot house has 3 pages.", true},
		{"list_documents", list, "Robot house has 3 dragons.", false},
		{"list_documents", list, "The library holds Robot house.", true},
		{"list_documents", list, "The library does not hold Robot house.", false},
		{"list_documents", list, "The library burns Robot house.", false},
		{"calculate", sum, "He died in 2004.", false},
		{"calculate", sum, "The result is 2004.", true},
		{"calculate", sum, "The rent comes to 2004 pounds.", true},
		{"calculate", sum, "The fee comes to 2004 pounds.", false},
		{"calculate", sum, "The rent comes to 2005 pounds.", false},
	} {
		e := NewEvidence(NewSources(), NewCiter(nil, nil, ""), chat.RunRequest{
			Message: "How many pounds of rent is it?",
		})
		e.Results.Keep(Returned{
			Tool: tt.tool, Output: []byte(tt.output), Vocabulary: "library hold", Computed: tt.tool == "calculate",
		})
		if got := e.isReturned(tt.said, e.matcherFor(tt.said)); got != tt.want {
			t.Errorf("after %s, %q is stated: got %v, want %v", tt.tool, tt.said, got, tt.want)
		}
	}
}

func TestResultsAreComparedAsValues(t *testing.T) {
	t.Parallel()
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Accounts"}
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Text: "Revenue was 2,300,000 in 2024 and 2,100,000 in 2023.",
	}, doc)
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Text: "The Berlin office closed; people were sad."}, doc)
	const english = "How did revenue develop?"
	e := NewEvidence(s, NewCiter(s, nil, ""), chat.RunRequest{})
	e.Results.Keep(Returned{
		Tool: "calculate", Input: []byte(`{"expression":"2300000-2100000"}`), Output: []byte(`{"result":"200000"}`),
		Vocabulary: "minus subtract difference increase rise remain Anstieg augmentation aumento", Computed: true,
	})
	questions := map[string]string{
		"Der Anstieg beträgt 200.000 €.":   "Wie hat sich der Umsatz in den beiden Jahren entwickelt?",
		"Der Anstieg beträgt 200,000 €.":   "Wie hat sich der Umsatz in den beiden Jahren entwickelt?",
		"L'augmentation est de 200 000 €.": "De combien le chiffre d'affaires a-t-il augmenté dans la société ?",
		"El aumento es de 200.000 €.":      "¿Cómo han evolucionado los ingresos entre los dos años?",
		"El valor aumentó 200.000 £.":      "¿Cuánto aumentó el valor de Highlands?",
	}
	for said, want := range map[string]bool{
		"Der Anstieg beträgt 200,000 €.":                 false,
		"The increase is £200,000.":                      true,
		"Revenue increased by £200,000.":                 true,
		"The rise is 200,000.":                           true,
		"The remaining amount is £200,000.":              true,
		"The difference is £200,000.":                    true,
		"Revenue in 2024 was 200,000 more than in 2023.": true,
		"Der Anstieg beträgt 200.000 €.":                 true,
		"L'augmentation est de 200 000 €.":               true,
		"El aumento es de 200.000 €.":                    true,
		"El valor aumentó 200.000 £.":                    true,
		"The increase is £200.000.":                      false,
		"The increase is £20,000.":                       false,
		"The increase is £200,001.":                      false,
		"Revenue increased by £200,000 in 2025.":         false,
		"Revenue did not increase by £200,000.":          false,
		"The Berlin office closed with 200,000 people.":  false,
		"The king has 200,000 dragons.":                  false,
		"The increase at Harper is £200,000.":            false,
	} {
		e.question = english
		if question := questions[said]; question != "" {
			e.question = question
		}
		if got := e.isReturned(said, e.matcherFor(said)); got != want {
			t.Errorf("%q is stated: got %v, want %v", said, got, want)
		}
	}
}
