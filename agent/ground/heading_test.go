package ground

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// underHeading is what Evaluate calls unsupported in a section that quotes its only passage, and its confidence.
func underHeading(t *testing.T, question, heading, passage string) (unsupported []string, confidence float64) {
	t.Helper()
	s := NewSources()
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: passage}, corpus.Document{ID: "d", Title: "Handbook"})
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(nil, cite, false)
	if err := w.Quote(t.Context(), 1, passage, nil); err != nil {
		t.Fatal(err)
	}
	e := NewEvidence(s, cite, chat.RunRequest{Message: question})
	confidence, _, unsupported = e.Evaluate(heading + "\n\n" + strings.TrimSuffix(passage, ".") + " [1].\n")
	return unsupported, confidence
}

const (
	roofText    = "The roof covering is in poor condition, and several slates are missing"
	roofAsked   = "What does the survey say about the roof?"
	refundText  = "Refunds are paid within 14 days of the return."
	refundAsked = "How do refunds work?"
)

// ordinaryHeadings are headings as answers have them.
var ordinaryHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## Overview", roofText},
	{roofAsked, "## Roof", roofText},
	{roofAsked, "**Key findings**", roofText},
	{roofAsked, "### Condition of the roof", roofText},
	{roofAsked, "# Key findings and next steps", roofText},
	{roofAsked, "## 1. What the survey says about the roof", roofText},
	{roofAsked, "## 1.2 Missing slates", roofText},
	{roofAsked, "## Things that are missing", roofText},
	{roofAsked, "## Step 1: Inspection", roofText},
	{roofAsked, "## Roof: pros and cons", roofText},
	{roofAsked, "## What is damaged?", roofText},
	{roofAsked, "Overview\n========", roofText},
	{roofAsked, "Roof repairs\n---", roofText},
	{refundAsked, "## How refunds are paid", refundText},
	{refundAsked, "## Opening hours", "The desk is open from 9 to 5 on weekdays."},
	{refundAsked, "## Frequently asked questions", refundText},
	{refundAsked, "## Summary:", refundText},
	{"Wie ist der Zustand des Daches?", "## Zustand des Daches", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Wie ist der Zustand des Daches?", "## Vor- und Nachteile", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Wie ist der Zustand des Daches?", "## Was undicht ist", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Quel est l'état du toit ?", "## Avantages et inconvénients",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"Quel est l'état du toit ?", "## Ce qui est en mauvais état",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"¿Cuál es el horario?", "## Horario de apertura", "La oficina abre de 9 a 17 horas."},
	{"水車の直径は？", "## 概要", "水車の直径は四メートルである。"},
	{"水车的直径是多少？", "## 主要内容", "水车的直径是四米。"},
}

// statingHeadings say what their sections do not.
var statingHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## The roof is in perfect condition", roofText},
	{roofAsked, "## Seven dragons live in the cellar", roofText},
	{roofAsked, "**The king keeps dragons in the cellar**", roofText},
	{roofAsked, "# The roof needs urgent replacement", roofText},
	{roofAsked, "## The roof leaks badly.", roofText},
	{roofAsked, "## Roof covering renewed in 1998", roofText},
	{roofAsked, "The king was crowned here\n===", roofText},
	{refundAsked, "## Refunds take 90 days", refundText},
	{refundAsked, "## Refunds Are Unlimited", refundText},
	{refundAsked, "## No refunds", refundText},
	{refundAsked, "## There is a fee", refundText},
	{"Wie ist der Zustand des Daches?", "## Der König hält Drachen im Keller",
		"Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"Quel est l'état du toit ?", "## Le toit est en parfait état",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"¿Cuál es el horario?", "## El rey guarda dragones en el sótano", "La oficina abre de 9 a 17 horas."},
	{"水车的直径是多少？", "## 国王不在家里养龙", "水车的直径是四米。"},
}

// undecidedHeadings resemble their sections, or have many words of their own: words can't tell whether that is so.
var undecidedHeadings = []struct{ question, heading, passage string }{
	{roofAsked, "## Slates must be replaced", roofText},
	{"Wie ist der Zustand des Daches?", "## Das Dach ist in gutem Zustand",
		"Das Dach ist undicht, und mehrere Ziegel fehlen."},
	{"¿Cuál es el horario?", "## La oficina está cerrada", "La oficina abre de 9 a 17 horas."},
	{roofAsked, "## Dragons live under the mill house", roofText},
	{"Quel est l'état du toit ?", "## Le roi garde des dragons dans la cave",
		"Le toit est en mauvais état et des ardoises manquent."},
	{"水车的直径是多少？", "## 国王在地下室里养了很多龙", "水车的直径是四米。"},
}

func TestAHeadingIsHeldToItsSection(t *testing.T) {
	t.Parallel()
	for _, tt := range ordinaryHeadings {
		if unsupported, _ := underHeading(t, tt.question, tt.heading, tt.passage); len(unsupported) > 0 {
			t.Errorf("%q over %q: unsupported = %q, want none", tt.heading, tt.passage, unsupported)
		}
	}
	for _, tt := range statingHeadings {
		want := []string{headingText(strings.Split(tt.heading, "\n")[0])}
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if !slices.Equal(unsupported, want) || confidence > 0.5 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want %q, at most 0.5",
				tt.heading, tt.passage, unsupported, confidence, want)
		}
	}
	for _, tt := range undecidedHeadings {
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if len(unsupported) > 0 || confidence != 0.75 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want none, 0.75",
				tt.heading, tt.passage, unsupported, confidence)
		}
	}
}

func TestAHeadingInTheWordsOfItsSectionIsBacked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ question, heading, passage string }{
		{roofAsked, "## The roof covering is in poor condition", roofText},
		{refundAsked, "## Refunds are paid within 14 days", refundText},
		{"Wie ist das Dach?", "## Das Dach ist undicht", "Das Dach ist undicht, und mehrere Ziegel fehlen."},
	} {
		unsupported, confidence := underHeading(t, tt.question, tt.heading, tt.passage)
		if len(unsupported) > 0 || confidence != 1 {
			t.Errorf("%q over %q: unsupported = %q, confidence %v; want none, 1",
				tt.heading, tt.passage, unsupported, confidence)
		}
	}
}
