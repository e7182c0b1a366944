package text

import (
	"slices"
	"strings"
	"testing"
)

// An identifier, an amount and a date have one term, however they are written.
func TestIdentifiersDoNotDependOnSeparators(t *testing.T) {
	for term, written := range map[string][]string{
		"de89370400440532013000": {"DE89 3704 0044 0532 0130 00", "DE89-3704-0044-0532-0130-00",
			"DE89370400440532013000"},
		"err2041":       {"ERR-2041", "ERR 2041", "ERR_2041", "ERR2041", "Err-2041"},
		"tls1.3":        {"TLS 1.3", "TLS1.3", "TLS-1.3"},
		"m8x40":         {"M8 x 40", "M8x40", "M8 × 40", "M8 X 40"},
		"a113b":         {"A-113/B", "A113/B", "A 113/B"},
		"9783161484100": {"978-3-16-148410-0", "ISBN 978-3-16-148410-0", "9783161484100", "978 3 16 148410 0"},
		"0305550134":    {"030 555-0134", "(030) 555-0134", "030/555 0134", "030 5550134"},
		"47110815":      {"4711-0815", "4711/0815", "47110815"},
		"1234.56":       {"1.234,56 €", "1234,56", "1,234.56", "1'234.56", "1234.56"},
		"1234567":       {"1,234,567", "1.234.567", "1'234'567", "1234567"},
		"20260312": {"12.03.2026", "2026-03-12", "12 March 2026", "March 12, 2026", "12. März 2026",
			"12.3.2026"},
	} {
		for _, s := range written {
			for _, in := range []string{s, "Pay it: " + s + ".", "see (" + s + "), then go"} {
				var got []string
				for _, span := range Identifiers(in) {
					got = append(got, span.Term)
				}
				got = append(got, Terms(in, "")...)
				if !slices.Contains(got, term) {
					t.Errorf("%q: %q, want %s among them", in, got, term)
				}
			}
		}
	}
}

func TestProseHasNoIdentifiers(t *testing.T) {
	for _, s := range []string{
		"In 2024 we had 12 people, 3 of them new.", "He won 5, 6 and 7 games.", "well-known and/or up-to-date", "",
		"Room | 12 | 3400", "A-131/B", "TLS 1.2",
	} {
		for _, span := range Identifiers(s) {
			if slices.Contains([]string{"a113b", "tls1.3"}, span.Term) || strings.ContainsAny(span.Term, " -/") {
				t.Errorf("%q has %q", s, span.Term)
			}
			if term := span.Term; s[0] != 'A' && s[0] != 'T' {
				t.Errorf("%q has %q, want none", s, term)
			}
		}
	}
}

func BenchmarkIdentifiers(b *testing.B) {
	s := strings.Repeat("The order 4711-0815 of 12 March 2026 over 1.234,50 € was sent to Bern. It came in time. ", 100)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Identifiers(s)
	}
}

func BenchmarkLine(b *testing.B) {
	s := strings.Repeat("The order 4711-0815 of 12 March 2026 over 1.234,50 € was sent to Bern. It came in time. ", 100)
	b.SetBytes(int64(len(s)))
	a := NewAnalyser("en")
	for b.Loop() {
		a.Line(s)
	}
}
