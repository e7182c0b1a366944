package views

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The words of links to answers.
var (
	SharesTitle = locale.T("Shared answers")

	txtShare        = locale.T("Share")
	txtShareFor     = locale.T("Make a link that is open for")
	shareDays       = locale.N("{n} day", "{n} days")
	txtShareMake    = locale.T("Make the link")
	txtShareWhat    = locale.T("Whoever has the link reads this answer and its quotes, but none of your documents.")
	txtShareMade    = locale.T("This is the link. Copy it now: it is not shown again.")
	txtShareAddress = locale.T("Address of the link")
	txtShareHere    = locale.T("Only this machine can reach this server, so the link opens only here.")
	txtShareNone    = locale.T("No answer is shared. The button Share below an answer makes a link to it.")
	txtShareUntil   = locale.T("open until {1}")
	shareOpens      = locale.N("opened once", "opened {n} times")
	txtShareUnread  = locale.T("not opened yet")
	txtShareEnd     = locale.T("End this link")

	txtSharedOf = locale.T("An answer from someone's documents, with the quotes it rests on. The link is open " +
		"until {1}.")
	txtSharedAsked = locale.T("Asked on {1}, answered by {2}")
	txtSharedQuote = locale.T("Quotes")
	txtSharedDoubt = locale.T("Sentences without support")
	txtSharedGone  = locale.T("This link opens nothing")
	txtSharedAgain = locale.T("It has ended, or its address is not complete. Ask whoever sent it for another one.")
)

// SharesPage lists the links to answers.
//
// URL is known only in the answer that made the link: the server keeps its hash.
type SharesPage struct {
	Shares   []chat.Share
	Made     *chat.Share // one that was just made; nil: none
	URL      string      // its address
	Now      time.Time
	OnlyHere bool // other machines can't reach the server
}

// opensText says how often a link was opened.
func opensText(ctx context.Context, h chat.Share) string {
	if h.Opens == 0 {
		return txtShareUnread.In(ctx)
	}
	return shareOpens.Count(ctx, int(h.Opens))
}

// SharedAnswer is one answer as a link shows it.
//
// It has no id and no address of the library, so nothing of that can be drawn.
type SharedAnswer struct {
	Question    string
	Markdown    string // with [N]
	Model       string
	Asked       time.Time
	Until       time.Time
	Quotes      []SharedQuote
	Unsupported []string // sentences of the answer
}

// SharedQuote is one of its footnotes.
type SharedQuote struct {
	Number                          int
	Title, Filename, Place, Section string
	Quote, Claimed                  string // Claimed: what the model said it quotes, when that was not found
	Check                           chat.Check
	Added                           bool // by Footnote
}

// sharedMarkdown draws answers whose links lead where they say. Those into the library are none of the web's: they are
// left out.
var sharedMarkdown = sync.OnceValue(func() *Markdown {
	return newMarkdown(func(address string) string { return address })
})

// html is the answer with footnotes that lead to the quotes below it.
func (a SharedAnswer) html(ctx context.Context) string {
	var b strings.Builder
	cite := func(n int) (chat.Citation, bool) {
		for _, q := range a.Quotes {
			if q.Number == n {
				return chat.Citation{
					Number: n, Title: visible(q.Title), Place: visible(q.Place), Section: visible(q.Section),
					Check: q.Check, URL: "#quote-" + strconv.Itoa(n),
				}, true
			}
		}
		return chat.Citation{}, false
	}
	// Signs that nobody sees are named in the Markdown already, so a reader of the link sees them too.
	for _, block := range sharedMarkdown().In(ctx).Whole(visible(a.Markdown), a.Unsupported, cite) {
		b.WriteString(block.HTML)
	}
	return b.String()
}
