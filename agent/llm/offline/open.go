package offline

import "github.com/footnote/footnote/text/lazy"

// aFile matches the name of a file.
const aFile = `["“]?([\p{L}\p{N}][^"”?\n]{0,200}?\.[A-Za-z0-9]{1,5})["”]?`

// Questions that ask for a document's content. A file is recognised by its extension; the object of open, read and
// view is tried as a title.
var (
	opensFile = lazy.Regexp(`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me)?|display|look ` +
		`(?:at|into)|what(?:'s| is| stands)? (?:written )?in|what does|what are the contents of)(?: ` +
		`(?:the|my|our))?(?: (?:contents? of )?(?:document|file))? ` +
		aFile + `(?: (?:document|file))?(?: say| contain| hold)?[?.! ]*$`)
	opensID = lazy.Regexp(
		`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me)?|display|look (?:at|into)|what(?:'s| is| ` +
			`stands)? (?:written )?in|what does)(?: (?:the|my|our))? document (?:with (?:the )?)?id ` +
			`["“]?([\w-]{1,128})["”]?(?: say| contain| hold)?[?.! ]*$`,
	)
	opensTitle = lazy.Regexp(
		`(?i)^(?:please |can you |could you )*(?:open|read|view)(?: (?:the|my|our))?(?: (?:document|file))? ` +
			`["“]?([\p{L}\p{N}][^"”?]{2,200}?)["”]?[?.! ]*$`,
	)
)

// toOpen returns the document that a question asks to open, or an empty string. A title with a pronoun does not
// count.
func toOpen(q string) string {
	if m := opensFile().FindStringSubmatch(q); m != nil {
		return m[1]
	}
	if m := opensID().FindStringSubmatch(q); m != nil {
		return m[1]
	}
	if m := opensTitle().FindStringSubmatch(q); m != nil && !pointsBack().MatchString(m[1]) {
		return m[1]
	}
	return ""
}
