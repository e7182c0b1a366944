package ground

import (
	"context"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestReferencesInSentencesNeedNoPassage(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Section: "Manual › Chapter 2: Installation",
		Text: "Mount the pump on a level concrete base with four bolts.",
	}, corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Section: "3. Pump care", Text: "Grease it once a year."},
		corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	for said, want := range map[string]bool{
		"Mount the pump on a level concrete base (from Chapter 2: Installation) with four bolts [1].": true,
		"Mount the pump on a level concrete base (see section Installation) [1].":                     true,
		"Mount the pump on a level concrete base (Pump manual, page 3) [1].":                          true,
		"Mount the pump on a level concrete base [1] (from Chapter 2: Installation).":                 true,
		"Mount the pump on a level concrete base [1] (from 3. Pump care).":                            true,
		"Mount the pump on a level concrete base [1] (Pump manual: Chapter 2: Installation).":         true,
		"Mount the pump on a level concrete base (from Chapter 9: Installation) [1].":                 false,
		"Mount the pump on a level concrete base (from Chapter 2: Dragons) [1].":                      false,
		"Mount the pump on a level concrete base (never in the cellar) [1].":                          false,
	} {
		cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
		e := NewEvidence(s, cite, chat.RunRequest{})
		w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
		if err := w.Write(t.Context(), said); err != nil {
			t.Fatal(err)
		}
		answer, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _, unsupported := e.Evaluate(answer)
		if got := len(unsupported) == 0; got != want {
			t.Errorf("%q is supported: got %v, want %v", answer, got, want)
		}
	}
}

func TestFootnotesArePlacedBehindReferences(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Section: "3. Installation",
		Text: "Mount the pump on a level concrete base with four bolts.",
	}, corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	const said = "Mount the pump on a level concrete base with four bolts (from 3. Installation)"
	e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{})
	if got, _, _ := e.WithPlacedFootnotes(said + "."); got != said+" [1]." {
		t.Errorf("got %q, want the footnote behind the reference", got)
	}
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
	w.AddFootnotes(NewEvidence(s, cite, chat.RunRequest{}))
	if err := w.Write(t.Context(), said+"."); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Finish(t.Context()); err != nil || got != said+" [1]." {
		t.Errorf("got %q, %v, want the footnote behind the reference", got, err)
	}
}
