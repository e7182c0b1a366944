package views

import (
	"strconv"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/extract"
	"footnote/english"

	"github.com/dustin/go-humanize"
)

const defaultNamespace = chat.DefaultNamespace

// documentFacts are a document's size, date, author and the like, for a line under its title.
func documentFacts(d corpus.Document) []string {
	var facts []string
	if d.Pages > 0 {
		facts = append(facts, pagesWord(d))
	}
	facts = append(facts, humanize.Bytes(uint64(d.Bytes)), "added "+d.CreatedAt.Format("2 January 2006"))
	for _, key := range []string{"author", "date"} {
		if text := d.MetaText(key); text != "" {
			facts = append(facts, clipped(text, 80))
		}
	}
	return append(facts, d.Path)
}

// pagesWord counts the pages of a document: "12 pages", "7 slides".
func pagesWord(d corpus.Document) string {
	return english.Count(d.Pages, pageWord(d))
}

// pageWord is what a page of a document is called: "page", "slide", "cell".
func pageWord(d corpus.Document) string {
	if word := extract.Formats.PageWord(d.MIME, d.Filename); word != "p." {
		return word
	}
	return "page"
}

// trueWord is a boolean attribute of ARIA.
func trueWord(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// regionWord names the region of the document for screen readers.
func regionWord(v *Viewer) string {
	if len(v.Sheets) > 0 {
		return txtPagesRegion
	}
	return txtTextRegion
}

// earlierWord leads to what stands before the part that is shown.
func earlierWord(v *Viewer) string {
	if len(v.Sheets) > 0 {
		return txtEarlierPages
	}
	return txtEarlier
}

// laterWord leads to what stands behind it.
func laterWord(v *Viewer) string {
	if len(v.Sheets) > 0 {
		return txtLaterPages
	}
	return LaterPart
}

// itemClass is the class of a list's item, by its level and mark.
func itemClass(b numberedBlock) string {
	class := "level-" + strconv.Itoa(min(max(b.Level, 1), 6))
	switch {
	case b.Numbered:
		class += " numbered"
	case b.Ordinal == 0:
		class += " bullet"
	}
	return class
}

// added is when a document came, for people: "now", "5 min ago", "Today", "12 March", days as dayName has them.
func added(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return "now"
	case ago < time.Hour:
		return strconv.Itoa(int(ago.Minutes())) + " min ago"
	}
	if day := dayName(t, now); day == txtToday || day == txtYesterday {
		return day
	}
	if t.Year() == now.Year() {
		return t.Format("2 January")
	}
	return t.Format("2 Jan 2006")
}
