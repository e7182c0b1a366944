package offline

// aFile is the name of a file.
const aFile = `["“]?([\p{L}\p{N}][^"”?\n]{0,200}?\.[A-Za-z0-9]{1,5})["”]?`

// Questions that ask for what a document holds. A file is known by its ending; what open, read and view are said of
// is tried as a title.
var (
	opensFile = lazily(`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me)?|display|look ` +
		`(?:at|into)|what(?:'s| is| stands)? (?:written )?in|what does|what are the contents of)(?: ` +
		`(?:the|my|our))?(?: (?:contents? of )?(?:document|file))? ` +
		aFile + `(?: (?:document|file))?(?: say| contain| hold)?[?.! ]*$`)
	opensID = lazily(
		`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me)?|display|look (?:at|into)|what(?:'s| is| ` +
			`stands)? (?:written )?in|what does)(?: (?:the|my|our))? document (?:with (?:the )?)?id ` +
			`["“]?([\w-]{1,128})["”]?(?: say| contain| hold)?[?.! ]*$`,
	)
	opensTitle = lazily(
		`(?i)^(?:please |can you |could you )*(?:open|read|view)(?: (?:the|my|our))?(?: (?:document|file))? ` +
			`["“]?([\p{L}\p{N}][^"”?]{2,200}?)["”]?[?.! ]*$`,
	)
)

// toOpen returns the document that a question asks to be shown, and nothing when it asks for something else. A title
// with a pronoun in it is none.
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
