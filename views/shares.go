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

// The text of the pages of shared answers.
var (
	SharesTitle = locale.T("Shared answers")

	txtShare        = locale.T("Share")
	txtShareFor     = locale.T("Link expires after")
	shareDays       = locale.N("{n} day", "{n} days")
	txtShareMake    = locale.T("Create link")
	txtShareWhat    = locale.T("Anyone with the link can read the answer and its quotes, but not your documents.")
	txtShareMade    = locale.T("Copy the share link now. It won't be shown again.")
	txtShareAddress = locale.T("Share link")
	txtShareHere    = locale.T("Only this machine can reach this server, so the link works only here.")
	txtShareNone    = locale.T("No shared answers yet. Use “Share” below an answer to create a link.")
	txtShareUntil   = locale.T("expires {1}")
	shareOpens      = locale.N("opened once", "opened {n} times")
	txtShareUnread  = locale.T("not opened yet")
	txtShareEnd     = locale.T("Revoke link")

	txtSharedOf    = locale.T("A shared answer with quotes from its source documents. The link expires {1}.")
	txtSharedAsked = locale.T("Asked on {1}, answered by {2}")
	txtSharedQuote = locale.T("Quotes")
	txtSharedDoubt = locale.T("Unsupported sentences")
	txtSharedGone  = locale.T("Link not found")
	txtSharedAgain = locale.T("It has expired, was revoked or is incomplete. Ask the sender for a new link.")
)

// SharesPage is the data of the list of share links.
//
// URL is set only in the response that created the link: the server stores only its hash.
type SharesPage struct {
	Shares   []chat.Share
	Made     *chat.Share // the new share; nil: none
	URL      string      // its URL
	Now      time.Time
	OnlyHere bool // the server is not reachable from other machines
}

// opensText returns the number of times that a link was opened.
func opensText(ctx context.Context, h chat.Share) string {
	if h.Opens == 0 {
		return txtShareUnread.In(ctx)
	}
	return shareOpens.Count(ctx, int(h.Opens))
}

// SharedAnswer is an answer as its share link shows it.
//
// It contains no ids or URLs of the library, so the template can't leak them.
type SharedAnswer struct {
	Question    string
	Markdown    string // with [N]
	Model       string
	Asked       time.Time
	Until       time.Time
	Quotes      []SharedQuote
	Unsupported []string // sentences of the answer
}

// SharedQuote is a footnote's quote in a shared answer.
type SharedQuote struct {
	Number                          int
	Title, Filename, Place, Section string
	Quote, Claimed                  string // Claimed: the model's quote, if it was not found
	Check                           chat.Check
	Added                           bool // by Footnote
}

// sharedMarkdown renders answers whose external links skip the confirmation page. Links into the library are left
// out.
var sharedMarkdown = sync.OnceValue(func() *Markdown {
	return newMarkdown(func(address string) string { return address })
})

// html renders the answer with footnotes that link to the quotes below it.
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
	// Invisible characters are replaced in the Markdown source, so that readers of the link see them too.
	for _, block := range sharedMarkdown().In(ctx).Whole(visible(a.Markdown), a.Unsupported, cite) {
		b.WriteString(block.HTML)
	}
	return b.String()
}
