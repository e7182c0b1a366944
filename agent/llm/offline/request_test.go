package offline

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/text/english"
)

func TestReadRequest(t *testing.T) {
	for _, tt := range []struct {
		text  string
		kind  kind
		about string
	}{
		{"Please give me the gist of the lease", kindSummary, "the lease"},
		{"What is this document about?", kindSummary, "this document"},
		{"Fasse mir den Vertrag zusammen, bitte", kindSummary, "mir den Vertrag"},
		{"Résume le bail du magasin", kindSummary, "le bail du magasin"},
		{"Resumen de la carta", kindSummary, "la carta"},
		{"契約書を要約してください", kindSummary, "契約書"},
		{"请总结会议记录。", kindSummary, "会议记录"},
		{"List all deadlines of the project", kindItems, "deadlines of the project"},
		{"Donne-moi toutes les dates du contrat", kindItems, "dates du contrat"},
		{"料金の一覧をください", kindItems, "料金"},
		{"列出所有日期", kindItems, "日期"},
		{"Are all rooms insured?", kindFind, ""},
		{"Student tariff versus Plus tariff", kindComparison, "Student tariff Plus tariff"},
		{"Vergleiche die beiden Angebote", kindComparison, "die beiden Angebote"},
		{"二つの見積もりを比較してください", kindComparison, "二つの見積もり"},
		{"What changed between version 1 and version 2?", kindChanges, "between version 1 and version 2"},
		{"Was hat sich im Vertrag geändert?", kindChanges, "im Vertrag"},
		{"借阅规则有哪些变化？请列出来", kindChanges, "借阅规则"},
		{"How much is the rent?", kindFind, ""},
	} {
		if k, about := readRequest(tt.text); k != tt.kind || about != tt.about {
			t.Errorf("readRequest(%q) = %d, %q, want %d, %q", tt.text, k, about, tt.kind, tt.about)
		}
	}
}

func TestValuesAreRecognizedByFormat(t *testing.T) {
	for _, tt := range []struct {
		kind valueKind
		text string
		want bool
	}{
		{aDate, "by 28 February 2025", true},
		{aDate, "le 1er juin et le 1er septembre", true},
		{aDate, "termina el 11 de abril", true},
		{aDate, "am 1. April 2021", true},
		{aDate, "2月15日下午两点", true},
		{aDate, "within 24 hours", false},
		{anAmount, "costs £12.50", true},
		{anAmount, "62 400 euros", true},
		{anAmount, "EUR 20", true},
		{anAmount, "ABC 20", false},
		{anAmount, "新料金は2,200円です", true},
		{anAmount, "250 Mbit/s", false},
		{aPerson, "Present: Ruth Okafor (chair)", true},
		{aPerson, "Mrs Dunmore and the school", true},
		{aPerson, "The tenant pays.", false},
		{aNumber, "nine", false},
	} {
		if got := tt.kind.isIn(tt.text); got != tt.want {
			t.Errorf("%s in %q is %v, want %v", tt.kind, tt.text, got, tt.want)
		}
	}
}

var versions = []paper{
	{"v1", "policy-v1.md", "Work policy, version 1", []passage{
		{Section: "How much", Text: "Up to two days a week may be worked from home. Unused days lapse."},
		{Section: "Costs", Text: "The company pays £15 a month. Claims are due on 31 March."},
		{Section: "Travel", Text: "Trips by train are paid."},
	}},
	{"v2", "policy-v2.md", "Work policy, version 2", []passage{
		{Section: "How much", Text: "Up to three days a week may be worked from home. Unused days lapse."},
		{Section: "Costs", Text: "The company pays £26 a month. Claims are due on 30 June."},
	}},
}

func TestRequestsReturnAllRequestedContent(t *testing.T) {
	for _, tt := range []struct {
		request  string
		head     string
		has, not []string
	}{
		{"What changed between version 1 and version 2 of the work policy?", "What differs, word for word:",
			[]string{
				"> | Work policy, version 1 | Work policy, version 2 |\n> |---|---|",
				"> | Up to two days a week may be worked from home. [1] | Up to three days a week may be worked from " +
					"home. [",
				"> | Trips by train are paid. [", "] | |",
			}, []string{"Unused days lapse"}},
		{"Compare the costs in both work policies", "Side by side, word for word:",
			[]string{"£15 a month. [", "£26 a month. ["}, []string{"31 March", "two days a week"}},
		{"List all dates of the work policy, version 2", "Listed in Work policy, version 2, word for word:",
			[]string{"> Claims are due on 30 June. ["}, []string{"31 March", "Unused"}},
		{"Sum up the work policy, version 2", keyHead, []string{"> Up to three days a week"}, nil},
	} {
		got, _ := askIn(t, versions, tt.request)
		if !strings.HasPrefix(got, tt.head+"\n\n") || !strings.HasSuffix(got, "\n\n"+written) {
			t.Errorf("%s: %q, want %q at its beginning and %q at its end", tt.request, got, tt.head, written)
		}
		for _, want := range tt.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", tt.request, got, want)
			}
		}
		if i := slices.IndexFunc(tt.not, func(no string) bool { return strings.Contains(got, no) }); i >= 0 {
			t.Errorf("%s: %q, want no %q in it", tt.request, got, tt.not[i])
		}
	}
}

func TestRequestsForMissingContentAreNotFound(t *testing.T) {
	for _, q := range []string{
		"Summarise the work policy for Berlin", "Compare the two electricity contracts", "List all dates of the lease",
		"Résume le bail du magasin", "履歴書を要約してください",
	} {
		got, _ := askIn(t, versions, q)
		if !strings.HasPrefix(got, string(closest)) && !strings.HasPrefix(got, english.Refusal) {
			t.Errorf("%s: %q, want %q or %q at its beginning", q, got, closest, english.Refusal)
		}
	}
}
