package offline

import (
	"strings"
	"testing"
)

func TestWordsOfDocumentsAreEscapedAndQuotedAsTheyAre(t *testing.T) {
	words := "The mark (\"\\\") stands for `*all*` of [3]."
	got := write([]candidate{{sentence: sentence{text: words, words: words}}}, []source{{passage: passage{N: 4}}})
	shown, quoted, found := strings.Cut(got, quoteMark)
	if want := "The mark (\"\\\\\") stands for \\`\\*all\\*\\` of \\[3\\]. "; shown != want {
		t.Errorf("shown = %q, want %q", shown, want)
	}
	if q := quotedBy(strings.TrimSuffix(quoted, quoteMark)); !found || q.Passage != 4 || q.Words != words {
		t.Errorf("quoted = %+v, want passage 4 and %q", q, words)
	}
}

func TestACalculationIsShownAsItWasWritten(t *testing.T) {
	if got, _ := ask(t, "What is 2*3*4?"); !strings.HasPrefix(got, `2\*3\*4 = `) {
		t.Errorf("answer = %q, want %q at its beginning", got, `2\*3\*4 = `)
	}
}
