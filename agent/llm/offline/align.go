package offline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// mostPairs is the maximum number of rows of a comparison.
const mostPairs = 12

// pair is a unit of the first document and the matching one of the second; -1: no match.
type pair struct{ a, b int }

// aligned renders a table of two documents side by side. For changes, the older document comes first and equal rows
// are omitted. Rows are filtered by a value of the requested kind, or else by a heading of the topic. The first measure
// that leaves rows of both documents is used; without one all rows are shown. It may swap w.docs. ok is false if no row
// is left.
func (w wholes) aligned(k kind, value valueKind) (move, bool) {
	if k == kindChanges && inOrder(w.docs[1], w.docs[0]) {
		w.docs[0], w.docs[1] = w.docs[1], w.docs[0]
	}
	rows := w.align()
	if k == kindChanges {
		rows = slices.DeleteFunc(rows, func(r pair) bool {
			return r.a >= 0 && r.b >= 0 && slices.Equal(tokensOf(w.units[r.a].text), tokensOf(w.units[r.b].text))
		})
	}
	// The most exact measure first. Rows of one document alone are not a comparison, so the next measure is tried
	// then.
	for _, worth := range []func(i int) float64{
		func(i int) float64 {
			if value.isIn(w.units[i].text) {
				return 1
			}
			return 0
		},
		w.under,
	} {
		few := most(rows, func(r pair) float64 { return r.most(worth) })
		if slices.ContainsFunc(few, func(r pair) bool { return r.a >= 0 }) &&
			slices.ContainsFunc(few, func(r pair) bool { return r.b >= 0 }) {
			rows = few
			break
		}
	}
	if len(rows) == 0 {
		return move{}, false
	}
	body := tableLine([]string{w.docs[0].label(), w.docs[1].label()}) + "> |---|---|\n"
	for _, r := range rows[:min(len(rows), mostPairs)] {
		body += "> |" + w.cell(r.a) + " |" + w.cell(r.b) + " |\n"
	}
	head := "Side by side, word for word"
	if k == kindChanges {
		head = "What differs, word for word"
	}
	if more := len(rows) - mostPairs; more > 0 {
		head += fmt.Sprintf(", the first %d of %d", mostPairs, len(rows))
	}
	head += ":"
	return w.answer(head, strings.TrimSuffix(body, "\n")), true
}

// most returns the higher score of a pair's units.
func (r pair) most(worth func(i int) float64) (best float64) {
	for _, i := range []int{r.a, r.b} {
		if i >= 0 {
			best = max(best, worth(i))
		}
	}
	return best
}

// cell formats a unit as a quote in a table cell.
func (w wholes) cell(i int) string {
	if i < 0 {
		return ""
	}
	u := w.units[i]
	src := w.sources[u.source]
	said := strings.TrimPrefix(text.QuoteMarkdown([]string{u.text}), "> ")
	said = strings.ReplaceAll(said, "|", `\|`)
	return " " + said + cited(u.text, src.N, matchedWords(u.text, w.words, text.Detect(src.Text)))
}

// align matches the units of two documents by similarity, with a bonus for a common section. The pairs are in the
// order of the first document, followed by unmatched units of the second. It is greedy: the most similar pair is
// matched first, and each unit only once. All units are compared with all, which is fast enough for documents of a
// few pages (mostPages).
func (w wholes) align() []pair {
	type match struct {
		pair
		worth float64
	}
	var of [2][]int
	for i, u := range w.units {
		if u.quotable() && !w.isTitle(i) {
			n := 0
			if w.sources[u.source].document.DocID == w.docs[1].DocID {
				n = 1
			}
			of[n] = append(of[n], i)
		}
	}
	var matches []match
	for _, a := range of[0] {
		for _, b := range of[1] {
			if worth := w.alike(a, b); worth > 0 {
				matches = append(matches, match{pair{a, b}, worth})
			}
		}
	}
	slices.SortStableFunc(matches, func(x, y match) int { return cmp.Compare(y.worth, x.worth) })
	// The best pair first; each unit is in one pair at most.
	partner := map[int]int{}
	for _, m := range matches {
		_, tookA := partner[m.a]
		_, tookB := partner[m.b]
		if !tookA && !tookB {
			partner[m.a], partner[m.b] = m.b, m.a
		}
	}
	var rows []pair
	for _, a := range of[0] {
		if b, ok := partner[a]; ok {
			rows = append(rows, pair{a, b})
		} else {
			rows = append(rows, pair{a, -1})
		}
	}
	for _, b := range of[1] {
		if _, ok := partner[b]; !ok {
			rows = append(rows, pair{-1, b})
		}
	}
	return rows
}

// alike returns the similarity of two units: the share of common words, plus 1 for a common section; 0 if it is too
// low. The share is 0–1, so pairs of one section rank above all others.
func (w wholes) alike(a, b int) float64 {
	mine, other := w.units[a].terms, w.units[b].terms
	share := shared(mine, other)
	if section := w.sectionOf(a); share > 0 && section != "" && section == w.sectionOf(b) {
		return 1 + share
	}
	if share < mostOf {
		return 0
	}
	return share
}

// sectionOf returns the normalised heading of a unit, so that “3. Fees” of two versions are equal: the line above
// its block, else the last part of its passage's section.
func (w wholes) sectionOf(i int) string {
	at := strings.Split(w.sources[w.units[i].source].Section, "›")
	if title := w.titleOf(i); title >= 0 {
		return plain(w.units[title].text)
	}
	return plain(at[len(at)-1])
}

var digits = regexp.MustCompile(`\d+`)

// inOrder reports whether the numbers in a document's name, such as a version or a year, sort before another's.
// Numbers are compared as strings, which is right for years and for versions of one digit. Names without numbers are
// equal.
func inOrder(a, b document) bool {
	return slices.Compare(digits.FindAllString(a.name(), -1), digits.FindAllString(b.name(), -1)) < 0
}
