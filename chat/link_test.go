package chat

import (
	"strings"
	"testing"
)

func TestLinkNamesWhatIsMarkedAndWhereItOpens(t *testing.T) {
	for _, tt := range []struct {
		name string
		link Link
		want string
	}{
		{"a document", Link{Document: "d1"}, "/d/d1"},
		{"a footnote", Link{Document: "d1", Citation: CitationName("run", 3)}, "/d/d1?c=run.3"},
		{"a passage on a later page", Link{Document: "d1", Passage: "p1", Page: 4}, "/d/d1?p=p1&page=4"},
		{"a passage at one of its blocks", Link{Document: "d1", Passage: "p1", Fragment: "b7"}, "/d/d1?p=p1#b7"},
		{"words from the first rune on", Link{Document: "d1", Start: 0, End: 5}, "/d/d1?end=5&start=0"},
		{"several pieces", Link{Document: "d1", Start: 3, End: 5, Also: Ranges{{7, 9}, {12, 20}}},
			"/d/d1?also=7-9%2C12-20&end=5&start=3"},
		{"no words", Link{Document: "d1", Start: 5, End: 5}, "/d/d1"},
		{"a block", Link{Document: "d1", Block: "b7"}, "/d/d1?b=b7"},
		{"another part with the same mark", Link{Document: "d1", Passage: "p1", At: "b9", Fragment: "b8"},
			"/d/d1?at=b9&p=p1#b8"},
		{"ids that are no words", Link{Document: "a/b?c#d e", Passage: "x&y"}, "/d/a%2Fb%3Fc%23d%20e?p=x%26y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.link.String(); got != tt.want {
				t.Errorf("link = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRangesAreReadAsTheyAreWritten(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "7-9": true, "7-9,9-20": true, "0-1": true, "9-7": false, "7-9,8-12": false, "7": false, "x-9": false,
		"-1-2": false, "7-99999999999": false, "7-9,": false, strings.Repeat("1-2,", 200) + "3-4": false,
	} {
		r, got := ReadRanges(text)
		if got != ok || ok && r.String() != text {
			t.Errorf("%q: %v, %v; want %v", text, r, got, ok)
		}
	}
}
