package locale

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/feature/plural"
)

func in(code string) context.Context { return With(context.Background(), Find(code)) }

func TestTheReadersLanguageIsTheChosenOneElseTheBrowsers(t *testing.T) {
	for _, tt := range []struct{ chosen, accept, want string }{
		{"", "", "en"},
		{"", "de-AT,de;q=0.9,en;q=0.8", "de"},
		{"", "fr-CA", "fr"},
		{"", "nl, fr;q=0.4, es;q=0.6", "es"},
		{"", "zh-CN,zh;q=0.9", "zh-Hans"},
		{"", "zh-TW", "zh-Hans"},
		{"", "ja", "ja"},
		{"", "sw", "en"},
		{"", "*", "en"},
		{"", "en-US,en;q=0.9,de;q=0.8", "en"},
		{"ja", "de", "ja"},
		{"xx", "de", "de"},
		{"en-XA", "de", "en-XA"},
		{"", "de;q=nonsense", "en"},
		{"", "de," + strings.Repeat("x-y-z,", 100_000), "de"},
		{"", strings.Repeat("d", 100_000), "en"},
	} {
		if got := Match(tt.chosen, tt.accept).Code; got != tt.want {
			t.Errorf("chosen %q, Accept-Language %.40q: %s, want %s", tt.chosen, tt.accept, got, tt.want)
		}
	}
}

func TestNumbersSizesAndDatesAreOfTheLanguage(t *testing.T) {
	at := time.Date(2026, 3, 4, 15, 6, 0, 0, time.UTC)
	for _, tt := range []struct{ code, digits, decimal, size, date, month string }{
		{"en", "12,345", "2.5", "1.5 MB", "4 March 2026", "March 2026"},
		{"de", "12.345", "2,5", "1,5 MB", "4. März 2026", "März 2026"},
		{"fr", "12\u00a0345", "2,5", "1,5 MB", "4 mars 2026", "mars 2026"},
		{"es", "12.345", "2,5", "1,5 MB", "4 de marzo de 2026", "marzo de 2026"},
		{"ja", "12,345", "2.5", "1.5 MB", "2026年3月4日", "2026年3月"},
		{"zh-Hans", "12,345", "2.5", "1.5 MB", "2026年3月4日", "2026年3月"},
	} {
		ctx := in(tt.code)
		for what, got := range map[string][2]string{
			"digits": {Digits(ctx, 12345), tt.digits}, "decimal": {Decimal(ctx, 2.5, 1), tt.decimal},
			"size": {Size(ctx, 1_500_000), tt.size}, "date": {Date(ctx, at), tt.date},
			"month": {Month(ctx, at, true), tt.month}, "small": {Digits(ctx, 999), "999"},
			"bytes": {Size(ctx, 999), "999 B"}, "nothing": {Size(ctx, -1), "0 B"},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %s = %q, want %q", tt.code, what, got[0], got[1])
			}
		}
	}
}

func TestPluralsAreThoseOfTheLanguage(t *testing.T) {
	pages := N("{n} page", "{n} pages")
	for _, tt := range []struct {
		code string
		n    int
		want string
	}{
		{"en", 0, "0 pages"}, {"en", 1, "1 page"}, {"en", 1500, "1,500 pages"},
		{"de", 0, "0 Seiten"}, {"de", 1, "1 Seite"}, {"de", 1500, "1.500 Seiten"},
		{"fr", 0, "0 page"}, {"fr", 1, "1 page"}, {"fr", 2, "2 pages"},
		{"es", 1, "1 página"}, {"es", 2, "2 páginas"},
	} {
		if got := pages.Count(in(tt.code), tt.n); got != tt.want {
			t.Errorf("%s, %d: %q, want %q", tt.code, tt.n, got, tt.want)
		}
	}
}

// English sentences of other packages are recognised by their form, with counts and names.
func TestKnownSentencesAreSaidInTheLanguage(t *testing.T) {
	list := newPhrases([]string{
		"Ready.", "Found {=1}", "{=1} in {=2}", "The file “{1}” is larger than {2}. Split it.", "Opened {1}{2}",
		"Read {1}",
		"{n} passage\t{n} passages", "{n} document\t{n} documents",
	})
	l := &Language{
		Code: "xx", catalogue: "none", tag: Find("de").tag, numbers: Find("de").numbers,
		words: func() map[string]translation {
			return map[string]translation{
				"Ready.": {one: "Fertig."}, "Found {=1}": {one: "Gefunden: {=1}"}, "{=1} in {=2}": {one: "{=1} ({=2})"},
				"The file “{1}” is larger than {2}. Split it.": {one: "Datei „{1}“: über {2}. Teilen."},
				"Read {1}": {one: "Gelesen: {1}"}, "Opened {1}{2}": {one: "Geöffnet: {1}{2}"},
				"{n} passages": {forms: map[plural.Form]string{plural.One: "{n} Stelle", plural.Other: "{n} Stellen"}},
				"{n} documents": {forms: map[plural.Form]string{
					plural.One: "{n} Dokument", plural.Other: "{n} Dokumente",
				}},
			}
		},
	}
	for said, want := range map[string]string{
		"Ready.":                    "Fertig.",
		"Found 1 passage":           "Gefunden: 1 Stelle",
		"Found 12,345 passages":     "Gefunden: 12.345 Stellen",
		"12 passages in 1 document": "12 Stellen (1 Dokument)",
		"Once in a while":           "Once in a while", // has the form of the one above, but counts nothing
		"The file “a “b” c.pdf” is larger than 5 MiB. Split it.": "Datei „a “b” c.pdf“: über 5 MiB. Teilen.",
		"Read {1} and Ready.":       "Gelesen: {1} and Ready.", // document names are not translated
		"Opened a.pdf, page 3":      "Geöffnet: a.pdf, page 3",
		"Read ":                     "Read ",
		"":                          "",
		"Nobody says so.":           "Nobody says so.",
		"x passages in 3 documents": "x passages in 3 documents",
	} {
		got, _ := list.say(l, said, anyForm, maxDepth)
		if got != want {
			t.Errorf("%q = %q, want %q", said, got, want)
		}
	}
	if got := Known(context.Background(), "Found 1 passage"); got != "Found 1 passage" {
		t.Errorf("in English: %q", got)
	}
}

func TestTheLanguageOfTestsIsLongerAndKeepsItsHoles(t *testing.T) {
	ctx := With(context.Background(), Pseudo)
	got := T("Reading page {page} of {pages}").Say(ctx, 3, 1200)
	if !strings.HasPrefix(got, "⟦Reading page 3 of 1,200") || !strings.HasSuffix(got, "⟧") || len(got) < 30 {
		t.Errorf("%q", got)
	}
	if got := N("{n} file", "{n} files").Count(ctx, 1); !strings.HasPrefix(got, "⟦1 file·") {
		t.Errorf("%q", got)
	}
	if l := Of(ctx); l.Direction() != "rtl" || English.Direction() != "ltr" {
		t.Errorf("direction %s", l.Direction())
	}
}

func BenchmarkTextInEnglish(b *testing.B) {
	text, ctx := T("Skip to content"), context.Background()
	for b.Loop() {
		_ = text.In(ctx)
	}
}

func BenchmarkTextInGerman(b *testing.B) {
	text, ctx := T("Skip to content"), in("de")
	for b.Loop() {
		_ = text.In(ctx)
	}
}

func BenchmarkKnownInGerman(b *testing.B) {
	ctx := in("de")
	for b.Loop() {
		_ = Known(ctx, "12 passages in 3 documents")
	}
}

func BenchmarkMatch(b *testing.B) {
	for b.Loop() {
		_ = Match("", "de-AT,de;q=0.9,en;q=0.8")
	}
}

// User input in a sentence must not cost more than linear time.
func TestASentenceMadeToBeSlowIsNot(t *testing.T) {
	ctx := in("de")
	slow := strings.Repeat("CSV in ", 130) + "x"
	if got := Known(ctx, slow); got == "" {
		t.Error("nothing is said")
	}
	if long := strings.Repeat("CSV in ", 1000); Known(ctx, long) != long {
		t.Error("a long sentence is not as it was")
	}
	if got := KnownClosely(ctx, "Read the lease first, then compare"); got != "Read the lease first, then compare" {
		t.Errorf("a model's own words = %q", got)
	}
}
