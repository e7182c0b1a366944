// Package suggest generates questions that a passage answers, in the language of its document: about its heading, a
// cell of its table, or words of its first sentence. The library checks whether a search finds the passage. The
// package is a leaf next to text, and its functions are pure.
//
// It uses no model: suggestions are generated while a page loads, and must cost nothing.
package suggest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

const (
	pathJoint = " › " // between the headings of a section
	joint     = " | " // between the cells of a row
)

const (
	longestHeading = 80 // maximum runes of a heading in a question
	longestCell    = 40 // maximum runes of a cell or a column name in a question
	wholeSentence  = 6  // minimum words, or twice as many signs, of a whole sentence
)

// Passage is the part of a document that a question is generated from.
type Passage struct {
	Language string // ISO 639-1 of its document, empty if unknown
	Title    string // of its document
	Section  string // path of the headings above or in it, joined by " › "; empty: none
	Text     string
}

// Question returns a question that the passage answers, or "" if it has no suitable subject. A table cell comes
// first, as its answer is the shortest, then a heading, then words of the text. The heading that is the document's
// title comes last, since it applies to the whole document.
func (p Passage) Question() string {
	named := innermost(p.Section)
	forms := formsOf(p.Language)
	if head, label := p.cell(); head != "" && !strings.Contains(named, joint) { // else the header is elsewhere
		return fill(forms.cell, head, label)
	}
	heading := plainHeading(named)
	if !p.hasBody(named) {
		heading = ""
	}
	isTitle := text.Fold(heading) == text.Fold(plainHeading(p.Title))
	words := ""
	if heading == "" || isTitle {
		words = p.subject()
	}
	switch {
	case words != "":
		return fill(forms.words, words)
	case heading == "":
		return ""
	case endsAsking(heading):
		return heading
	}
	return fill(forms.section, heading)
}

// endsAsking reports whether a heading is a question.
func endsAsking(heading string) bool {
	last, _ := utf8.DecodeLastRuneInString(heading)
	return strings.ContainsRune("?？؟", last)
}

// innermost returns the last heading of a path.
func innermost(section string) string {
	if at := strings.LastIndex(section, pathJoint); at >= 0 {
		section = section[at+len(pathJoint):]
	}
	return strings.TrimSpace(section)
}

// hasBody reports whether the passage has text besides the heading. A heading above an empty section is no answer.
func (p Passage) hasBody(heading string) bool {
	return len(text.Terms(strings.Replace(p.Text, heading, "", 1), p.Language)) >= wholeSentence
}

// plainHeading returns a heading without its number and surrounding marks; "" if it is unsuitable for a question.
func plainHeading(heading string) string {
	first := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	plain := strings.TrimLeftFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	if at := strings.IndexFunc(heading, first); at >= 0 && !isNumbered(heading[at:]) {
		plain = heading[at:]
	}
	plain = strings.TrimRightFunc(plain, func(r rune) bool { return !first(r) && !strings.ContainsRune("?？؟)）", r) })
	plain = strings.Join(strings.Fields(plain), " ")
	if !askable(plain, longestHeading) {
		return ""
	}
	return plain
}

// isNumbered reports whether a heading begins with a number, such as "3.1.5 " or "2. ".
func isNumbered(heading string) bool {
	number, _, spaced := strings.Cut(heading, " ")
	return spaced && strings.Trim(number, "0123456789.)") == ""
}

// askable reports whether text can be quoted in a question: it has letters, no quotation marks, and is not too
// long.
func askable(s string, longest int) bool {
	return utf8.RuneCountInString(s) <= longest && strings.ContainsFunc(s, unicode.IsLetter) &&
		!strings.ContainsAny(s, "\"“”„«»「」\n|")
}

// cell selects a cell of the passage's table and returns its column name and its row label, a cell that is unique
// in its column. Only rows without empty cells qualify. The search begins in the middle of the table, which avoids
// its first row and its total.
func (p Passage) cell() (head, label string) {
	lines := strings.Split(p.Text, "\n")
	for i, line := range lines {
		heads := cells(line)
		if len(heads) < 2 {
			continue
		}
		var rows [][]string
		for _, line := range lines[i+1:] {
			row := cells(line)
			if len(row) != len(heads) {
				break
			}
			rows = append(rows, row)
		}
		for k := range rows {
			row := rows[(len(rows)/2+k)%len(rows)]
			if slices.Contains(row, "") || slices.Contains(heads, "") {
				continue // parts of a larger table, or of something else
			}
			for c, label := range row {
				other := 0
				if c == 0 {
					other = 1
				}
				if askable(label, longestCell) && p.isTelling(heads[other]) && count(rows, c, label) == 1 {
					return heads[other], label
				}
			}
		}
		return "", ""
	}
	return "", ""
}

// isTelling reports whether a column name suits a question: it has a content word, unlike “What”.
func (p Passage) isTelling(head string) bool {
	return askable(head, longestCell) && slices.ContainsFunc(strings.Fields(head), func(word string) bool {
		return !text.IsStop(strings.ToLower(word), p.Language)
	})
}

// cells returns the cells of a table row in a document's text.
func cells(line string) []string {
	if !strings.Contains(line, joint) {
		return nil
	}
	row := strings.Split(line, joint)
	for i, cell := range row {
		row[i] = strings.TrimSpace(cell)
	}
	return row
}

// count returns how many rows have the cell in a column.
func count(rows [][]string, column int, cell string) (n int) {
	for _, row := range rows {
		if row[column] == cell {
			n++
		}
	}
	return n
}

const (
	fewestWords = 2 // minimum consecutive words in a question
	mostWords   = 3
	fewestSigns = 2 // of a script without spaces
	mostSigns   = 12
)

// subject returns the words that are the main subject of the passage: among the runs of consecutive content words
// in its sentences, the run whose words are most frequent, the first of equals; "" for none. A run's frequency is
// the mean over its terms, so that longer runs have no advantage. Only whole sentences count.
func (p Passage) subject() string {
	often := map[string]int{}
	for _, term := range text.Terms(p.Text, p.Language) {
		often[term]++
	}
	best, most := "", 0
	runes := []rune(p.Text)
	for _, span := range text.Sentences(p.Text) {
		if !strings.ContainsRune(".!。！", runes[span[1]-1]) {
			continue // a line of an address, an item, a heading
		}
		for _, words := range neighbours(string(runes[span[0]:span[1]]), p.Language) {
			terms, sum := text.Terms(words, p.Language), 0
			for _, term := range terms {
				sum += often[term]
			}
			if worth := sum * 100 / max(1, len(terms)); worth > most && askable(words, longestHeading) {
				best, most = words, worth
			}
		}
	}
	return best
}

// neighbours returns the runs of two or three consecutive content words of a sentence, without numbers; in a script
// without spaces the runs of signs that are not only grammar. Short sentences have none. A comma or a bracket ends
// a run.
func neighbours(sentence, language string) (runs []string) {
	words := text.QueryWords(sentence, []string{language})
	telling, grams := map[string]bool{}, 0
	for _, w := range words {
		telling[w.Text] = true
		if w.Gram {
			grams++
		}
	}
	if grams*2 > len(words) {
		return signs(sentence)
	}
	all := strings.Fields(sentence)
	if len(all) < wholeSentence {
		return nil
	}
	var run []string
	end := func() {
		if len(run) >= fewestWords && len(run) <= mostWords {
			runs = append(runs, strings.Join(run, " "))
		}
		run = nil
	}
	for _, word := range all {
		plain := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if !strings.HasPrefix(word, plain) {
			end()
		}
		if telling[plain] && !strings.ContainsAny(plain, "0123456789") {
			run = append(run, plain)
		} else {
			end()
		}
		if !strings.HasSuffix(word, plain) {
			end()
		}
	}
	end()
	return runs
}

// signs returns the runs of signs between punctuation and Japanese grammar.
func signs(sentence string) (runs []string) {
	if utf8.RuneCountInString(sentence) < 2*wholeSentence {
		return nil
	}
	for _, run := range strings.FieldsFunc(sentence, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) || unicode.Is(unicode.Hiragana, r)
	}) {
		if n := utf8.RuneCountInString(run); n >= fewestSigns && n <= mostSigns {
			runs = append(runs, run)
		}
	}
	return runs
}
