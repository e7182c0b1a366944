package ground

import (
	"testing"

	"footnote/chat"
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
