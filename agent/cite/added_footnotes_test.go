package cite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// Sentences of the documents for tests of added footnotes.
const (
	sanding = "The parquet floor in the living room will be sanded on Monday 3 March."
	boiler  = "The boiler in the cellar was replaced by Miller & Sons in 2016."
	denial  = "The flashing on the north slope was repaired before the winter storms."
	asking  = "The landlord pays for the new kitchen window after the inspection"
)

// readDocuments returns sources 1 to 4; the first two are from one document.
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

// addedTo streams an answer in chunks and returns its stored text, its citations and its evidence.
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
		"the refusal":             english.Refusal + " " + sanding,
	} {
		text, cites, _ := addedTo(t, question, said)
		if text != strings.ReplaceAll(said, "[3]", "[1]") || slices.ContainsFunc(cites, func(c chat.Citation) bool {
			return c.Added
		}) {
			t.Errorf("%s: got %q with %+v, want it as it is", name, text, cites)
		}
	}
}

func TestFollowingFootnoteCoversCopiedSentences(t *testing.T) {
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

func TestAddedFootnoteCitesLastCitedDocument(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{"": "m", "Sanding [4]. Dust.\n\n": "c", "No use [3].\n\n": "m"} {
		_, cites, _ := addedTo(t, "When?", before+sanding)
		last := cites[len(cites)-1]
		if !last.Added || last.DocumentID != want || last.Quote != sanding {
			t.Errorf("behind %q: got %+v, want a quote of %s", before, last, want)
		}
	}
}

// BenchmarkAddedFootnotes writes an answer of 10,000 words, without and with
// added footnotes, with 60 passages that were read. No sentence is copied, or every tenth one.
func BenchmarkAddedFootnotes(b *testing.B) {
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Minutes"}
	var copies []string
	for i := range 60 {
		var text strings.Builder
		for k := range 20 {
			fmt.Fprintf(&text, "The committee approved item %d of list %d after a long debate about its costs. ", k, i)
		}
		copies = append(copies, fmt.Sprintf("The committee approved item 7 of list %d after a long debate about its "+
			"costs. ", i))
		s.Number(corpus.Passage{ID: fmt.Sprint("p", i), DocumentID: "d", Start: 10_000 * i, Text: text.String()}, doc)
	}
	for _, every := range []int{0, 10} {
		var answer []string
		for i := range 600 {
			said := fmt.Sprintf("Member %d of the council spoke for %d minutes and then moved to close the whole "+
				"debate. ", i, i%50)
			if every > 0 && i%every == 0 {
				said = copies[i/every%len(copies)]
			}
			if i%8 == 7 {
				said = strings.TrimSpace(said) + "\n\n"
			}
			answer = append(answer, strings.SplitAfter(said, " ")...)
		}
		for _, adds := range []bool{false, true} {
			b.Run(fmt.Sprintf("copied=%d/adds=%v", every, adds), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
					w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
					if adds {
						w.AddFootnotes(NewEvidence(s, cite, chat.RunRequest{Message: "What did they say?"}))
					}
					for _, piece := range answer {
						if err := w.Write(b.Context(), piece); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := w.Finish(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestFollowUps(t *testing.T) {
	const said = "It is done twice a week by the warden, at eight, with a lamp and a book."
	source := func(n int, section string) Source {
		return Source{N: n, Document: corpus.Document{ID: "mill", Language: "en", Title: "Rules of the mill"},
			Passage: corpus.Passage{
				Ordinal: n, Section: "Rules of the mill › " + section, Text: section + "\n" + said,
			}}
	}
	all := []Source{source(1, "Gates"), source(2, "Lamps"), source(3, "Lamps"), source(4, "Wells")}
	for _, tt := range []struct {
		name     string
		cited    []int
		question string
		want     []string
	}{
		{"those that were not cited", []int{1}, "When does the warden come?", []string{"What does “Lamps” say?",
			"What does “Wells” say?"}},
		{"not what was asked", []int{1}, "what does “Lamps” say?", []string{"What does “Wells” say?"}},
		{"the next section", []int{1}, "When is it open?", []string{"What does “Lamps” say?"}},
		{"another language", []int{1}, "Wann ist das Tor geöffnet und wer macht es auf?", nil},
		{"all were cited: those that were cited last", []int{1, 2, 4}, "", []string{"What does “Wells” say?",
			"What does “Lamps” say?"}},
		{"nothing was cited", nil, "When does the warden come?", nil},
	} {
		if got := FollowUps(all, tt.cited, tt.question); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFollowUpsConcernQuestion(t *testing.T) {
	source := func(n int, title, section, said string) Source {
		return Source{N: n, Document: corpus.Document{ID: title, Language: "en", Title: title},
			Passage: corpus.Passage{Ordinal: 2 * n, Section: title + " › " + section, Text: section + "\n" + said}}
	}
	all := []Source{
		source(1, "Rules of the mill", "Lighting", "The lamps are lit at dusk by the warden, who keeps a book of it."),
		source(2, "Rules of the mill", "Oil", "The oil of all lamps is filled up every second day, before it is dark."),
		source(3, "Rules of the mill", "Wells", "The well is covered at night, and opened again by eight o'clock."),
		source(4, "Lease of the office", "Rent", "The rent of 900 pounds is due on the first day of every month."),
		source(5, "Lease of the office", "Use", "No lamps with open fire are lit in the rooms of the office."),
	}
	want := []string{"What does “Oil” say?"}
	if got := FollowUps(all, []int{1}, "When are the lamps lit?"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlacedFootnotesNeedMoreThanNumbers(t *testing.T) {
	t.Parallel()
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Letters"}
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: "The meeting was on 12 February in the town hall."}, doc)
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Text: "The flashing has to be replaced within 6 months."}, doc)
	s.Number(corpus.Passage{
		ID: "r", DocumentID: "d", Text: "Sent on 12 January. Call the number below for an answer.",
	}, doc)
	e := NewEvidence(s, NewCiter(s, nil, ""), chat.RunRequest{})
	for said, want := range map[string]string{
		"Calc 12.": "Calc 12.", "Try 6.": "Try 6.", "The number is 12.": "The number is 12.",
		"The answer is 12.":                     "The answer is 12.",
		"The meeting was on 12 February.":       "The meeting was on 12 February [1].",
		"Replace the flashing within 6 months.": "Replace the flashing within 6 months [2].",
	} {
		if got, _, _ := e.WithPlacedFootnotes(said); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
