package ground

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Sentences of the documents that added footnotes are tested with.
const (
	sanding = "The parquet floor in the living room will be sanded on Monday 3 March."
	boiler  = "The boiler in the cellar was replaced by Miller & Sons in 2016."
	denial  = "The flashing on the north slope was repaired before the winter storms."
	asking  = "The landlord pays for the new kitchen window after the inspection"
)

// readDocuments are sources 1 to 4; the first two are of one document.
func readDocuments() *Sources {
	s := NewSources()
	mail, survey := corpus.Document{ID: "m", Title: "Mail"}, corpus.Document{ID: "s", Title: "Survey"}
	for i, p := range []struct {
		text string
		of   corpus.Document
	}{
		{"Dear Anna,\n\n" + sanding + " Please move the furniture.\n\nYours, Ben", mail},
		{"It is not true that " + strings.ToLower(denial[:1]) + denial[1:] + "\n\n" + asking + "?", mail},
		{boiler + " Nobody uses it. It stands in the old hall.", survey},
		{"- " + sanding, corpus.Document{ID: "c", Title: "Calendar"}},
	} {
		s.Number(corpus.Passage{
			ID: "p" + strconv.Itoa(i), DocumentID: p.of.ID, Start: 1000 * i, Text: p.text,
		}, p.of)
	}
	listed := corpus.Document{ID: "l", Title: "Ladders are kept behind the green door of the garage."}
	s.AddDocuments(listed)
	return s
}

// addedTo writes an answer in chunks and returns it as it was stored, with its citations and its judgement.
func addedTo(t *testing.T, question string, chunks ...string) (string, []chat.Citation, *Evidence) {
	t.Helper()
	s := readDocuments()
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	e := NewEvidence(s, cite, chat.RunRequest{Message: question})
	var text string
	var cites []chat.Citation
	store := func(_ context.Context, ps ...chat.Payload) error {
		for _, p := range ps {
			switch p := p.(type) {
			case chat.Citation:
				cites = append(cites, p)
			case chat.AnswerDelta:
				text += p.Text
			}
		}
		return nil
	}
	w := NewWriter(store, cite, false)
	w.AddFootnotes(e)
	for _, chunk := range chunks {
		if err := w.Write(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store(t.Context(), w.Rest()...); err != nil {
		t.Fatal(err)
	}
	if whole != text || w.Original() != strings.Join(chunks, "") {
		t.Errorf("got %q stored, %q as the whole and %q as the original, want the same and %q",
			text, whole, w.Original(), chunks)
	}
	if !slices.EqualFunc(cites, cite.Citations, func(a, b chat.Citation) bool { return a.Quote == b.Quote }) {
		t.Errorf("stored citations %+v, want %+v", cites, cite.Citations)
	}
	return text, cites, e
}

func TestCopiedSentencesGetFootnotes(t *testing.T) {
	t.Parallel()
	const (
		bare  = "The parquet floor in the living room will be sanded on Monday 3 March"
		cited = bare + " [1]."
	)
	for _, tt := range []struct{ name, in, want string }{
		{"a sentence", sanding, cited},
		{"without its stop", bare, bare + " [1]"},
		{"in other type", "THE **parquet floor** in the  “living room”, will be sanded on *Monday* 3 March.",
			"THE **parquet floor** in the  “living room”, will be sanded on *Monday* 3 March [1]."},
		{"among others", "Some work is planned. " + sanding + " Ask Ben about it.",
			"Some work is planned. " + cited + " Ask Ben about it."},
		{"in items", "Soon:\n\n1. " + sanding + "\n2. **Later**\n- " + boiler,
			"Soon:\n\n1. " + cited + "\n2. **Later**\n- " + boiler[:len(boiler)-1] + " [2]."},
		{"behind a cited one", "Nobody uses it [3]. " + boiler + " So it is.",
			"Nobody uses it [1]. " + boiler[:len(boiler)-1] + " [2]. So it is."},
		{"behind a footnote that follows a stop", "Nobody uses it. [3] " + boiler + "\n\nYes.",
			"Nobody uses it. [1] " + boiler[:len(boiler)-1] + " [2].\n\nYes."},
		{"the footnote that follows stands for another passage", sanding + " Nobody uses the boiler [3].",
			cited + " Nobody uses the boiler [2]."},
		{"twice", sanding + "\n\n" + sanding, cited + "\n\n" + cited},
		{"over a line break", "The parquet floor in the living room\nwill be sanded on Monday 3 March.\n\nYes.",
			"The parquet floor in the living room\nwill be sanded on Monday 3 March [1].\n\nYes."},
		{"in a quotation", "> " + sanding, "> " + cited},
	} {
		text, cites, e := addedTo(t, "When is it sanded?", tt.in)
		if text != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
		}
		if !slices.ContainsFunc(cites, func(c chat.Citation) bool {
			return c.Added && c.Check == chat.CheckVerified && c.Score == 1
		}) {
			t.Errorf("%s: got %+v, want an added citation", tt.name, cites)
		}
		if _, _, unsupported := e.Evaluate(text); slices.Contains(unsupported, sanding) {
			t.Errorf("%s: unsupported %q, want none of the copied sentences", tt.name, unsupported)
		}
		for range 30 {
			if again, _, _ := addedTo(t, "When is it sanded?", cutAtRandom(tt.in)...); again != text {
				t.Errorf("%s: in other pieces: got %q, want %q", tt.name, again, text)
			}
		}
	}
}

// cutAtRandom cuts a text into pieces of up to 12 bytes.
func cutAtRandom(s string) []string {
	var out []string
	for s != "" {
		n := min(len(s), 1+rand.IntN(12))
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

func TestOtherSentencesGetNoFootnotes(t *testing.T) {
	t.Parallel()
	const question = "Please say when the parquet floor in the living room will be sanded on Monday 3 March."
	for name, said := range map[string]string{
		"negated":                 strings.Replace(sanding, "will be", "will not be", 1),
		"another number":          strings.Replace(sanding, "3 March", "4 March", 1),
		"another word":            strings.Replace(sanding, "Monday", "Tuesday", 1),
		"more than the passage":   strings.TrimSuffix(sanding, ".") + ", at no cost to the tenants.",
		"what the passage denies": denial,
		"what the passage asks":   asking + ".",
		"few words":               "Nobody uses it. Please move the furniture.",
		"few content words":       "It stands in the old hall.",
		"words across two places": "Please move the furniture. Yours, Ben is not true that the flashing.",
		"a document only listed":  "Ladders are kept behind the green door of the garage.",
		"a heading":               "# " + sanding,
		"a bold line":             "**" + strings.TrimSuffix(sanding, ".") + "**",
		"an underlined line":      strings.TrimSuffix(sanding, ".") + "\n====\n\nYes.",
		"a label":                 strings.TrimSuffix(sanding, ".") + ":\n\n- Yes.",
		"a question":              strings.TrimSuffix(sanding, ".") + "?",
		"code":                    "```\n" + sanding + "\n```",
		"indented code":           "So:\n\n    " + sanding,
		"a code span":             "Say `" + sanding + "`",
		"a row":                   "| a |\n|---|\n| " + sanding + " |",
		"the end of a cited one":  "Nobody uses it [3] and " + strings.ToLower(sanding[:1]) + sanding[1:],
		"the user's own words":    "> The parquet floor in the living room will be sanded on Monday 3 March.",
		"the refusal":             RefusalSentence + " " + sanding,
	} {
		text, cites, _ := addedTo(t, question, said)
		if text != strings.ReplaceAll(said, "[3]", "[1]") || slices.ContainsFunc(cites, func(c chat.Citation) bool {
			return c.Added
		}) {
			t.Errorf("%s: got %q with %+v, want it as it is", name, text, cites)
		}
	}
}

func TestFootnoteThatFollowsCoversCopiedSentences(t *testing.T) {
	t.Parallel()
	said := sanding + " Please move the furniture [1]."
	text, cites, e := addedTo(t, "When?", said)
	if text != said || len(cites) != 1 || cites[0].Added {
		t.Errorf("got %q with %+v, want %q", text, cites, said)
	}
	if _, _, unsupported := e.Evaluate(text); len(unsupported) > 0 {
		t.Errorf("unsupported %q, want none", unsupported)
	}
}

func TestAddedFootnoteCitesTheDocumentThatWasCitedLast(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{"": "m", "Sanding [4]. Dust.\n\n": "c", "No use [3].\n\n": "m"} {
		_, cites, _ := addedTo(t, "When?", before+sanding)
		last := cites[len(cites)-1]
		if !last.Added || last.DocumentID != want || last.Quote != sanding {
			t.Errorf("behind %q: got %+v, want a quote of %s", before, last, want)
		}
	}
}
