package offline

import (
	"strings"
	"testing"
)

func TestTheListOfDocumentsAnswersWhatItHolds(t *testing.T) {
	for question, want := range map[string]string{
		"What is the title of " +
			"Survey.pdf?": "The title of Survey.pdf is “Building survey of 12 Mill Lane”.",
		"What's the type of handbook.md?":       "handbook.md is of the type text/plain.",
		"How many pages does handbook.md have?": "handbook.md has no pages: only PDFs have.",
		"Which file holds the building survey?": "“Building survey of 12 Mill Lane” is the file Survey.pdf.",
		"Which document was added last?": "The newest document in your library is Building survey of " +
			"12 Mill Lane (Survey.pdf), added on 2026-01-02.",
		"List the documents whose title contains survey": "These documents have it in their title:\n\n- Building " +
			"survey of 12 Mill Lane (Survey.pdf)",
		"Which files have Mietvertrag in their name?": "These documents have it in their title:\n\n- Mietvertrag " +
			"Gartenstraße 5 (Mietvertrag.txt)",
		"What is the title of lost.pdf?":       "There is no such document in your library.",
		"Which files are called “Gartenhaus”?": "There is no such document in your library.",
		"Which documents are Markdown files?":  "You have 4 documents:", // the desk knows no types
	} {
		if got, calls := ask(t, question); !strings.HasPrefix(got, want) || len(calls) != 1 ||
			calls[0].Name != "list_documents" {
			t.Errorf("%s: %q after %v; want %q at its beginning, 1 call, %q",
				question, got, calls, want, "list_documents")
		}
	}
}

func TestWhatIsNoTitleIsLookedForInTheDocuments(t *testing.T) {
	for question, want := range map[string]string{
		"Which document says what the gutter clearing costs?": "£180",
		"Which file holds the cost of the gutter clearing?":   "£180",
		"What is the title of the tenant's novel?":            Refusal,
	} {
		if got, _ := ask(t, question); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", question, got, want)
		}
	}
}
