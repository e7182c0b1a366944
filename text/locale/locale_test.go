package locale

import (
	"context"
	"strings"
	"testing"
	"time"
)

func in(code string) context.Context { return With(context.Background(), Find(code)) }

func TestLanguagePrefersCookieOverBrowser(t *testing.T) {
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

func TestNumbersSizesAndDatesAreLocalized(t *testing.T) {
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

func TestPluralsAreLocalized(t *testing.T) {
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

func TestMessagesAreLocalized(t *testing.T) {
	var forms Forms
	for _, tt := range []struct {
		m             Message
		english, said string
	}{
		{"Step not found. It may have been deleted.", "Step not found. It may have been deleted.",
			"Schritt nicht gefunden. Möglicherweise wurde er gelöscht."},
		{Count(1, "passage"), "1 passage", "1 Textstelle"},
		{Count(12345, "passage"), "12,345 passages", "12.345 Textstellen"},
		{Say("{1} in {2}", Count(12, "passage"), Count(1, "document")), "12 passages in 1 document",
			"12 Textstellen (1 Dokument)"},
		{Say("Read {1}", "{1}, “b” and\x00 Text"), "Read {1}, “b” and\x00 Text", "Gelesen: {1}, “b” and\x00 Text"},
		{Say("{1} {2}", Message("Text"), "Text"), "Text Text", "Text Text"},
		{Say("{1} Footnote retries automatically.", Say("The server returned status {1}.", 5003)),
			"The server returned status 5003. Footnote retries automatically.",
			"Der Server hat den Status 5003 zurückgegeben. Footnote versucht es automatisch erneut."},
		{"", "", ""},
		{`["`, `["`, `["`},
		{"Nobody says so.", "Nobody says so.", "Nobody says so."},
	} {
		if got := tt.m.String(); got != tt.english {
			t.Errorf("English of %q = %q, want %q", string(tt.m), got, tt.english)
		}
		if got := tt.m.In(in("en")); got != tt.english {
			t.Errorf("%q in English = %q, want %q", string(tt.m), got, tt.english)
		}
		if got := tt.m.In(in("de")); got != tt.said && tt.said != "" {
			t.Errorf("%q in German = %q, want %q", string(tt.m), got, tt.said)
		}
		// an event has the English text and the forms
		if got := forms.Say(tt.m); got != tt.english || forms.Of(got) != tt.m {
			t.Errorf("form of %q = %q, want %q", got, forms.Of(got), tt.m)
		}
	}
	if len(forms) != 7 { // “["” looks like one
		t.Errorf("%d forms, want those of the 6 messages with values, and one", len(forms))
	}
}

func TestPseudoLanguageIsLongerAndKeepsPlaceholders(t *testing.T) {
	ctx := With(context.Background(), Pseudo)
	got := T("Importing page {page} of {pages}").Say(ctx, 3, 1200)
	if !strings.HasPrefix(got, "⟦Importing page 3 of 1,200") || !strings.HasSuffix(got, "⟧") || len(got) < 30 {
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

func BenchmarkMessageInGerman(b *testing.B) {
	m, ctx := Say("{1} in {2}", Count(12, "passage"), Count(3, "document")), in("de")
	for b.Loop() {
		_ = m.In(ctx)
	}
}

func BenchmarkMatch(b *testing.B) {
	for b.Loop() {
		_ = Match("", "de-AT,de;q=0.9,en;q=0.8")
	}
}
