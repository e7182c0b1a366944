package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// line is a paragraph as it begins: what may be its number in a list, and what follows.
//
// Both sides of a comparison are made of lines: what this program read, and what LibreOffice wrote as text. rest is
// cut to the first 40 characters.
type line struct {
	label, rest string
	numbered    bool // its program gave it a number; nobody typed it
}

// labelled is a number of a list before a text: Arabic, Roman or letters, of several parts, with what may be around
// it, such as “1.”, “(a)” or “1.2.3”. bullet is a sign that is no letter, digit or bracket before a space.
var (
	labelled = regexp.MustCompile(`^([(\[]?(?:\d+|[ivxlcdm]+|[IVXLCDM]+|[a-z]{1,3}|[A-Z]{1,3})` +
		`(?:[.\-)][\dA-Za-z]{1,4})*[.):\]°ºª]*)\s+(.*)$`)
	bullet = regexp.MustCompile(`^[^\p{L}\p{N}\s(\[]\s+`)
)

// The numbers are choices.
const (
	compared = 40  // runes of a paragraph by which it is known
	ahead    = 400 // lines that are looked through for one
)

// readLine takes a line apart. Signs that mean the same are made equal (NFKC), white space becomes one space, and
// bullets are taken away: programs write different ones.
func readLine(text string, numbered bool) line {
	text = strings.Join(strings.Fields(norm.NFKC.String(text)), " ")
	text = bullet.ReplaceAllString(text, "")
	l := line{rest: text, numbered: numbered}
	if parts := labelled.FindStringSubmatch(text); parts != nil {
		l.label, l.rest = parts[1], parts[2]
	}
	if runes := []rune(l.rest); len(runes) > compared {
		l.rest = string(runes[:compared])
	}
	return l
}

// linesOf are the first lines of a document's headings, list items and paragraphs. Blocks of other kinds, such as
// tables and notes, are left out, since LibreOffice's text has them elsewhere.
func linesOf(x corpus.Extracted) (lines []line) {
	for _, b := range x.Blocks {
		if b.Kind == corpus.BlockHeading || b.Kind == corpus.BlockList || b.Kind == corpus.BlockParagraph {
			first, _, _ := strings.Cut(doctext.Slice(x.Text, b.Start, b.End), "\n")
			lines = append(lines, readLine(first, b.Numbered))
		}
	}
	return lines
}

// officeLines are those of LibreOffice's text, which begins what is in a list with spaces. Empty lines are left out.
func officeLines(text string) (lines []line) {
	for one := range strings.Lines(text) {
		if strings.TrimSpace(one) != "" {
			l := readLine(one, false)
			l.numbered = l.label != "" && strings.HasPrefix(one, "    ")
			lines = append(lines, l)
		}
	}
	return lines
}

// labels compares the numbers of lists in a file with LibreOffice's, paragraph by paragraph. Numbers that somebody
// typed are text.
//
// compared counts paragraphs that both have and that at least one gives a number; equal those with the same.
type labels struct {
	compared, equal int
	missed          int      // paragraphs with a number that LibreOffice's text doesn't have
	other           []string // "“1.1” for “1.a” before “The Landlord”"
}

// compareLabels goes through both in order. A paragraph is looked for in the next 400 of LibreOffice's lines, so one
// that is missing there does not lose the rest.
func compareLabels(ours, theirs []line) (found labels) {
	at := 0
	for _, one := range ours {
		i := findLine(theirs[at:min(at+ahead, len(theirs))], one)
		if i < 0 {
			if one.numbered {
				found.missed++
			}
			continue
		}
		other := theirs[at+i]
		at += i + 1
		mine, its := one.label, other.label
		// The number may be in the text on the other side.
		if rest := strings.TrimSuffix(other.rest, one.rest); rest != other.rest && rest != "" {
			its = strings.TrimSpace(its + " " + rest)
		}
		if !one.numbered && !other.numbered {
			continue
		}
		found.compared++
		if mine == its {
			found.equal++
		} else {
			found.other = append(found.other, fmt.Sprintf("“%s” for “%s” before “%.30s”", mine, its, one.rest))
		}
	}
	return found
}

// findLine returns which of some lines a paragraph is: the same with its number, else without, else the end of a line
// whose number is of several words. It returns -1 when none is.
func findLine(lines []line, one line) int {
	without, end := -1, -1
	for i, other := range lines {
		switch {
		case one.rest == other.rest && one.label == other.label:
			if without >= 0 && i > without+10 { // far behind one that differs in its number
				return without
			}
			return i
		case one.rest == other.rest && without < 0:
			without = i
		case end < 0 && one.numbered && len(one.rest) > 10 && strings.HasSuffix(other.rest, " "+one.rest):
			end = i
		}
	}
	if without >= 0 {
		return without
	}
	return end
}

// compareAllLabels returns the labels of each file of a kind that has lists and LibreOffice's own text. Only the word
// processors' formats are compared: DOCX, ODT and RTF. dir is for the reference texts.
func compareAllLabels(ctx context.Context, dir string, readings []reading) (map[string]labels, error) {
	all := map[string]labels{}
	for _, r := range readings {
		if r.failure != "" || r.kind != "docx" && r.kind != "odt" && r.kind != "rtf" {
			continue
		}
		text, err := referenceText(ctx, officeText, dir, r.path)
		if err != nil {
			return all, err
		}
		if found := compareLabels(r.lines, officeLines(text)); found.compared > 0 {
			all[r.path] = found
		}
	}
	return all, nil
}

// printLabels prints each number that is another than LibreOffice's. Without references it prints an empty line.
func printLabels(w io.Writer, readings []reading, all map[string]labels) {
	fmt.Fprintln(w)
	for _, r := range readings {
		for _, other := range all[r.path].other {
			fmt.Fprintf(w, "%s: %s\n", filepath.Base(r.path), other)
		}
	}
}
