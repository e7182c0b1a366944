package doctext

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// placeholders are the titles that programs write into new files, in lower case without digits and punctuation.
// madeFrom holds the extensions of source files, whose names programs write as titles.
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

// Titles that programs derive. printed matches what a printer driver writes before a file name. filePath matches a
// path or an address. fileName matches a word with an extension, which is a title only if the text has it. counted
// matches a word with a number, as programs in any language name new files: "Dokument2", "Unbenannt-1". It is a title
// only if the text has the word.
var (
	printed  = regexp.MustCompile(`^Microsoft (Office )?\pL+ [-–] `)
	filePath = regexp.MustCompile(`^(file:|[A-Za-z]:[\\/]|\\\\)|^(~|\.{1,2}|https?:/)?/\S+$`)
	fileName = regexp.MustCompile(`^\S+\.\w{2,4}$`)
	counted  = regexp.MustCompile(`^\pL+[-_ ]?\(?\d{1,3}\)?$`)
)

// titleBody is the number of bytes of a document's text that are searched for the words of its title.
const titleBody = 256 << 10

// Title returns the title of a document. stated is the title in the file's properties, and seen the title at the
// start of the text, which may be empty. It returns seen if stated is a placeholder: without letters, a file name
// or path, or a default of programs. body is the document's text. If seen is not empty, stated is also a placeholder
// if the start of body contains none of its content words.
func Title(stated, seen, body string) string {
	stated = printed.ReplaceAllString(stated, "")
	words := strings.FieldsFunc(strings.ToLower(stated), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || slices.Contains(placeholders, strings.Join(words, " ")) || filePath.MatchString(stated) ||
		slices.Contains(madeFrom, strings.ToLower(filepath.Ext(stated))) {
		return seen
	}
	body = strings.ToLower(body[:min(len(body), titleBody)])
	if counted.MatchString(stated) && !strings.Contains(body, words[0]) ||
		fileName.MatchString(stated) && !strings.Contains(body, strings.ToLower(stated)) ||
		slices.Contains(words, "powerpoint") && !strings.Contains(body, "powerpoint") { // in any language
		return seen
	}
	if seen != "" && !slices.ContainsFunc(text.QueryWords(stated, nil), func(word text.Word) bool {
		return strings.Contains(body, strings.ToLower(word.Text))
	}) {
		return seen
	}
	return stated
}

// FirstHeading returns the text of a level 1 heading among the first five blocks. A heading further down is a
// chapter's.
func FirstHeading(x corpus.Extracted) string {
	for _, b := range x.Blocks[:min(len(x.Blocks), 5)] {
		if b.Kind == corpus.BlockHeading && b.Level == 1 {
			return Line(Slice(x.Text, b.Start, b.End))
		}
	}
	return ""
}
