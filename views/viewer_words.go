package views

import (
	"context"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text/locale"
)

const defaultNamespace = chat.DefaultNamespace

// documentFacts are a document's size, date, author and the like, for a line under its title.
//
// Author and date are what the document or its user says, cut at 80 characters, which is a choice.
func documentFacts(ctx context.Context, d corpus.Document) []string {
	var facts []string
	if d.Pages > 0 {
		facts = append(facts, pagesWord(ctx, d))
	}
	facts = append(facts, locale.Size(ctx, d.Bytes), addedOn.Say(ctx, locale.Date(ctx, d.CreatedAt)))
	for _, key := range []string{"author", "date"} {
		if text := d.MetaText(key); text != "" {
			facts = append(facts, clipped(text, 80))
		}
	}
	return append(facts, d.Path)
}

// pagesWord counts the pages of a document: "12 pages", "7 slides".
func pagesWord(ctx context.Context, d corpus.Document) string {
	return pageNames[pageWord(d)].counted.Count(ctx, d.Pages)
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
func regionWord(v *Viewer) locale.Text {
	if len(v.Sheets) > 0 {
		return txtPagesRegion
	}
	return txtTextRegion
}

// earlierWord leads to what stands before the part that is shown.
func earlierWord(v *Viewer) locale.Text {
	if len(v.Sheets) > 0 {
		return txtEarlierPages
	}
	return txtEarlier
}

// laterWord leads to what stands behind it.
func laterWord(v *Viewer) locale.Text {
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
	// An item without a number of its own gets a point.
	case b.Ordinal == 0:
		class += " bullet"
	}
	return class
}

// added is when a document came, for people: "now", "5 min ago", "Today", "12 March", days as dayName has them.
//
// now is the server's time, and days are those of UTC.
func added(ctx context.Context, t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return justNow.In(ctx)
	case ago < time.Hour:
		return minutesAgo.Count(ctx, int(ago.Minutes()))
	}
	if day := dayName(ctx, t, now); day == txtToday.In(ctx) || day == txtYesterday.In(ctx) {
		return day
	}
	if t.Year() == now.Year() {
		return locale.Day(ctx, t)
	}
	return locale.ShortDate(ctx, t)
}
