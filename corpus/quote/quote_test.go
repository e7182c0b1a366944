package quote_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/quote"
)

func TestFind(t *testing.T) {
	const text = "The roof’s north slope is sound — mostly. It cost $1,250 in 2019–2020, a profit of -5 million. " +
		"The policy does not cover flood damage to the base-\nment “at all”. Cafe\u0301 owners agree; 15 million " +
		"apply. 首都は東京です。"
	for _, tt := range []struct {
		name, quote, want string
		check             chat.Check
	}{
		{"quotes only", "north slope is sound", "north slope is sound", chat.CheckVerified},
		{"other apostrophe and dash", "roof's north slope is sound - mostly", "roof’s north slope is sound — mostly",
			chat.CheckVerified},
		{"other white space and quotation marks", "the base-ment  \"at all\"", "the base-\nment “at all",
			chat.CheckVerified},
		{"a hyphen at the line's end", "damage to the basement", "damage to the base-\nment", chat.CheckVerified},
		{"marks around the quote", "“The roof's north slope…”", "The roof’s north slope", chat.CheckVerified},
		{"a full stop that the text does not have", "It cost $1,250.", "It cost $1,250", chat.CheckVerified},
		{"composed letters", "Café owners", "Cafe\u0301 owners", chat.CheckVerified},
		{"Japanese", "首都は東京", "首都は東京", chat.CheckVerified},
		{"a few letters differ", "The roofs north slopes is sounds", "The roof’s north slope is sound",
			chat.CheckApproximate},
		{"part of a number is no match", "5 million apply", "", chat.CheckNotFound},
		{"part of a number with a comma is no match", "cost $1", "", chat.CheckNotFound},
		{"a sign is not dropped", "a profit of 5 million", "", chat.CheckNotFound},
		{"part of a word at the edge is only alike", "roof’s north slo", "roof’s north slope", chat.CheckApproximate},
		{"part of a hyphenated word", "ment \"at all\"", "ment “at all", chat.CheckVerified},
		{"part of a word is no match", "lope is sound", "slope is sound", chat.CheckApproximate},
		{"another number is not alike", "It cost $1,350 in 2019–2020", "", chat.CheckNotFound},
		{"a missing negation is not alike", "The policy does cover flood damage to the basement", "",
			chat.CheckNotFound},
		{"two runs are not one", "The roof is sound. It cost a profit of million apply", "", chat.CheckNotFound},
		{"short and only alike", "north slop", "", chat.CheckNotFound},
		{"empty", " “” ", "", chat.CheckNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := []rune("x " + text)
			a, b, check := quote.Find(r, tt.quote, 2, 0)
			if got := string(r[a:b]); got != tt.want || check != tt.check {
				t.Errorf("Find(%q) = %q %s, want %q %s", tt.quote, got, check, tt.want, tt.check)
			}
		})
	}
}

func TestFindRespectsRange(t *testing.T) {
	r := []rune("one two three one two three")
	if a, b, check := quote.Find(r, "one two", 5, len(r)); a != 14 || b != 21 || check != chat.CheckVerified {
		t.Errorf("found [%d, %d) %s, want [14, 21)", a, b, check)
	}
	if _, _, check := quote.Find(r, "one two", 15, 20); check != chat.CheckNotFound {
		t.Errorf("found outside of its range: %s, want %s", check, chat.CheckNotFound)
	}
}

const survey = "Roof survey. The slates on the north slope are sound. Three of them have slipped above the bay " +
	"window. " +
	"Replacing the flashing costs about $1,250. Mr. Miller of Acme Roofing inspected it on 14 March " +
	"2021.\n\nItem\tPrice\nGutter\t$300\nChimney\t$900"

func FuzzFind(f *testing.F) {
	f.Add("The roof’s north slope is sound", "roofs north slope")
	f.Add("a\u0301 - \ufb01 …", "\ufb01")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, s, quoted string) {
		r := []rune(s)
		a, b, check := quote.Find(r, quoted, 0, 0)
		if a < 0 || a > b || b > len(r) || (check == chat.CheckNotFound) != (a == b) {
			t.Fatalf("Find(%q, %q) = %d, %d, %s; want at least 0, at most %d, at most %d",
				s, quoted, a, b, check, b, len(r))
		}
	})
}

func BenchmarkFindApproximateInAPassage(b *testing.B) {
	r := []rune(strings.Repeat("Filler sentence about nothing at all, really. ", 30) + survey)
	for b.Loop() {
		quote.Find(r, "Replacing the flashings cost around $1,250. Mr Miller of Acme Roofing", 0, 0)
	}
}

func BenchmarkFindApproximateInAMegabyte(b *testing.B) {
	r := []rune(strings.Repeat("Filler sentence about nothing at all, really. ", 22000) + survey)
	for b.Loop() {
		quote.Find(r, "Replacing the flashings cost around $1,250. Mr Miller of Acme Roofing", 0, 0)
	}
}
