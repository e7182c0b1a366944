package doctext

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// Placeholders that programs write as the title of a new file, in lower case without digits and punctuation, and the
// endings of the files that others are made from.
var (
	placeholders = []string{
		"anonymous", "document", "no title", "none", "powerpoint presentation", "presentation", "slide", "unknown",
		"untitled", "untitled document", "untitled presentation",
	}
	madeFrom = []string{
		".doc", ".docx", ".dvi", ".htm", ".html", ".indd", ".md", ".odp", ".odt", ".pdf", ".ppt", ".pptx",
		".ps", ".qxd",
		".rtf", ".tex", ".txt", ".xls", ".xlsx",
	}
)

// titleBody is how many bytes of a document's text are searched for the words of its title.
const titleBody = 256 << 10

// Title returns the title of a document: stated, which the file's properties have, unless the program that made the
// file put a placeholder there. Then it is seen, the title that a reader sees at the beginning, which may be empty. A
// stated title is a placeholder if it has no letters, is the name of a file, is one that programs are known for, or if
// a title is seen and the beginning of body, the document's text, has none of its content words.
func Title(stated, seen, body string) string {
	stated = strings.TrimPrefix(stated, "Microsoft Word - ")
	words := strings.FieldsFunc(strings.ToLower(stated), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || slices.Contains(placeholders, strings.Join(words, " ")) ||
		slices.Contains(madeFrom, strings.ToLower(filepath.Ext(stated))) {
		return seen
	}
	body = strings.ToLower(body[:min(len(body), titleBody)])
	if seen != "" && !slices.ContainsFunc(text.QueryWords(stated, nil), func(word text.Word) bool {
		return strings.Contains(body, strings.ToLower(word.Text))
	}) {
		return seen
	}
	return stated
}

// FirstHeading returns the text of a heading that the document begins with. Only the first five blocks are looked at: a
// heading further down is a chapter's.
func FirstHeading(x corpus.Extracted) string {
	for _, b := range x.Blocks[:min(len(x.Blocks), 5)] {
		if b.Kind == corpus.BlockHeading && b.Level == 1 {
			return Line(Slice(x.Text, b.Start, b.End))
		}
	}
	return ""
}
