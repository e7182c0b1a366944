package align_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/align"
)

// TestWordsAlignWithPositions generates a text, and pages of it with known positions: with running headers,
// hyphenated words, footnotes moved to the end, numbers that only one of the two has, and repeated paragraphs.
// Words that occur several times on both sides may be ambiguous and without a match.
func TestWordsAlignWithPositions(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 7))
		var text, page []string
		var truth []int // of each word of the page: its word of the text, or -1
		var moved [][2]string
		var movedTruth []int
		head := func() {
			for _, w := range []string{"annual", "report", "page"} {
				page, truth = append(page, w), append(truth, -1)
			}
			page, truth = append(page, fmt.Sprint("p", len(page)/400)), append(truth, -1)
		}
		visible := 0
		show := func(w string) {
			text = append(text, w)
			at := len(text) - 1
			visible++
			if len(w) > 5 && random.IntN(30) == 0 { // hyphenated
				page, truth = append(page, w[:3], w[3:]), append(truth, at, at)
				return
			}
			page, truth = append(page, w), append(truth, at)
		}
		stock := strings.Fields(
			"the roof of a northern hall was inspected and found dry though not warm for years by our surveyor",
		)
		said := []string{}
		for paragraph := range 60 {
			if paragraph%6 == 0 {
				head()
			}
			switch random.IntN(6) {
			case 0: // a number that only the page has
				page, truth = append(page, fmt.Sprint(1000+paragraph)), append(truth, -1)
			case 1: // one that only the text has
				text = append(text, fmt.Sprint(1000+paragraph))
			}
			if random.IntN(3) > 0 || len(said) == 0 {
				said = nil
				for range 15 + random.IntN(20) {
					said = append(said, stock[random.IntN(len(stock))])
				}
			}
			for _, w := range said {
				show(w)
			}
			show(fmt.Sprintf("item%d", paragraph))
			if random.IntN(5) == 0 {
				for range 8 {
					w := stock[random.IntN(len(stock))]
					text = append(text, w)
					moved, movedTruth = append(moved, [2]string{w}), append(movedTruth, len(text)-1)
					visible++
				}
			}
		}
		for i, w := range moved {
			page, truth = append(page, w[0]), append(truth, movedTruth[i])
		}
		placed, wrong := 0, 0
		for i, r := range align.Find(text, page) {
			if r.To > r.From {
				placed++
			}
			for n := r.From; n < r.To; n++ {
				if truth[n] != i {
					wrong++
					t.Logf("seed %d: word %d, %q, is said to be %q of word %d", seed, i, text[i], page[n], truth[n])
				}
			}
		}
		t.Logf("seed %d: %d of %d", seed, placed, visible)
		if wrong > 0 || placed*100 < 85*visible {
			t.Errorf("seed %d: %d of %d words are placed, %d wrong; want 95 %% and none", seed, placed, visible, wrong)
		}
	}
}

func TestWords(t *testing.T) {
	got := []string{}
	for _, w := range align.Words([]rune("The ﬁrst CAFE\u0301 co\u00adoperates: 12,500 € 東京")) {
		got = append(got, w.Form)
	}
	if want := "the|first|café|cooperates|12|500|東|京"; strings.Join(got, "|") != want {
		t.Errorf("words = %q, want %s", got, want)
	}
}
