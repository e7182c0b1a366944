package views

import (
	"context"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The text of the page of standing questions.
var (
	KeptTitle    = locale.T("Monitored questions")
	txtKeep      = locale.T("Monitor this question")
	txtKeptAbout = locale.T("Monitored questions run again when relevant documents change. Each difference shows " +
		"the old and the new quote.")
	txtKeptNone      = locale.T("No monitored questions yet. Select “Monitor this question” below an answer.")
	txtKeptUnchanged = locale.T("Added {when}, unchanged")
	txtKeptLooked    = locale.T("Last run {when}: unchanged")
	txtKeptChanged   = locale.T("Changed {when}")
	txtKeptWaiting   = locale.T("Run queued")
	txtKeptAsking    = locale.T("Running")
	txtKeptPaused    = locale.T("Paused")
	txtKeptFailed    = locale.T("Run failed. Footnote retries automatically. Reason:")
	txtKeptValue     = locale.T("{document}: “{before}” changed to “{now}”")
	txtKeptSentence  = locale.T("{document}: “{now}”, previously “{before}”")
	txtKeptAdded     = locale.T("{document}: added “{now}”")
	txtKeptGone      = locale.T("{document}: removed “{before}”")
	txtKeptRemoved   = locale.T("{document} was removed. It contained “{before}”.")
	txtKeptBefore    = locale.T("Before")
	txtKeptNow       = locale.T("Now")
	txtKeptNothing   = locale.T("Not in the document.")
	txtKeptAnswers   = locale.T("View answers")
	txtKeptHistory   = locale.T("Earlier changes")
	txtKeptOn        = locale.T("Sources:")
	txtKeptAsk       = locale.T("Run now")
	txtKeptPause     = locale.T("Pause")
	txtKeptResume    = locale.T("Resume")
	txtKeptRemove    = locale.T("Remove")
	txtKeptNew       = locale.T("New")
	txtFeed          = locale.T("Subscribe in a feed reader")
	txtFeedAbout     = locale.T("Follow changes in a feed reader with a private feed URL. Anyone with the URL can " +
		"read them.")
	txtFeedOnce = locale.T("Your feed URL. It is shown only once:")
	txtFeedMake = locale.T("Create feed URL")
	txtFeedEnd  = locale.T("Revoke all feed URLs")
	txtHook     = locale.T("Send changes to a webhook")
	txtHookTo   = locale.T("Changes are sent to a webhook")
	txtHookHelp = locale.T("Each change is sent as JSON, signed with a secret. Failed deliveries are retried " +
		"for about 15 hours. The first delivery is a test message.")
	txtHookURL    = locale.T("Webhook URL")
	txtHookSet    = locale.T("Add webhook")
	txtHookRenew  = locale.T("Save with new secret")
	txtHookEnd    = locale.T("Remove webhook")
	txtHookOnce   = locale.T("Your signing secret. It is shown only once:")
	txtHookFirst  = locale.T("Test message queued.")
	txtHookSent   = locale.T("Last delivery succeeded {when}.")
	txtHookFailed = locale.T("Last delivery failed {when}:")
	hookWaiting   = locale.N("{n} change queued for delivery", "{n} changes queued for delivery")
	hookLost      = locale.N("{n} change not delivered after all retries",
		"{n} changes not delivered after all retries")
	keptMore   = locale.N("and {n} more difference", "and {n} more differences")
	keptUnseen = locale.N("{n} monitored question changed", "{n} monitored questions changed")
)

// KeptPage is the data of the page of standing questions.
//
// Feed and HookSecret are shown in one response only.
type KeptPage struct {
	Questions []chat.Standing // newest first
	Feed      string          // the URL of the feed, if it was created just now
	Now       time.Time

	Hook       chat.Webhook   // the webhook; zero: none
	HookSecret string         // a new secret, shown once
	HookTyped  string         // a rejected URL
	HookSaid   locale.Message // its error message
}

// hookValue returns the value of the webhook URL's field.
func (k KeptPage) hookValue() string {
	if k.HookSaid != "" {
		return k.HookTyped
	}
	return k.Hook.URL
}

// hookState returns the result of the last webhook delivery.
func (k KeptPage) hookState(ctx context.Context) string {
	switch h := k.Hook; {
	case !h.FailedAt.IsZero():
		return txtHookFailed.Say(ctx, added(ctx, h.FailedAt, k.Now))
	case !h.SentAt.IsZero():
		return txtHookSent.Say(ctx, added(ctx, h.SentAt, k.Now))
	default:
		return txtHookFirst.In(ctx)
	}
}

// keptState returns the text of a standing question's state.
//
// A change within one second before AskedAt belongs to that run: the two timestamps are taken one after the other.
func keptState(ctx context.Context, s chat.Standing, now time.Time) string {
	switch s.State() {
	case chat.StandingPaused:
		return txtKeptPaused.In(ctx)
	case chat.StandingAsking:
		return txtKeptAsking.In(ctx)
	case chat.StandingWaiting:
		return txtKeptWaiting.In(ctx)
	case chat.StandingFailed:
		return txtKeptFailed.In(ctx)
	case chat.StandingChanged, chat.StandingUnchanged:
	}
	switch {
	case len(s.Changes) > 0 && !s.AskedAt.After(s.Changes[0].At.Add(time.Second)):
		return txtKeptChanged.Say(ctx, added(ctx, s.Changes[0].At, now))
	case !s.AskedAt.IsZero():
		return txtKeptLooked.Say(ctx, added(ctx, s.AskedAt, now))
	default:
		return txtKeptUnchanged.Say(ctx, added(ctx, s.CreatedAt, now))
	}
}

// mostQuoted is the number of runes of a quote in a change's sentence. The value is arbitrary.
const mostQuoted = 160

// ChangeSentence describes a difference in one sentence. All of it except the template's text is quoted.
func ChangeSentence(ctx context.Context, d chat.Difference) string {
	title := visible(d.Title)
	switch {
	case d.Was != "" && d.Now != "":
		return txtKeptValue.Say(ctx, title, visible(d.Was), visible(d.Now))
	case d.Before != nil && d.After != nil:
		return txtKeptSentence.Say(ctx, title, shownQuote(d.After), shownQuote(d.Before))
	case d.After != nil:
		return txtKeptAdded.Say(ctx, title, shownQuote(d.After))
	case d.Before != nil && d.Removed:
		return txtKeptRemoved.Say(ctx, title, shownQuote(d.Before))
	case d.Before != nil:
		return txtKeptGone.Say(ctx, title, shownQuote(d.Before))
	}
	return title
}

func shownQuote(q *chat.MarkedQuote) string {
	runes := []rune(q.Quote)
	if len(runes) > mostQuoted {
		return visible(string(runes[:mostQuoted])) + "…"
	}
	return visible(q.Quote)
}

// markedPart is a segment of a quote.
type markedPart struct {
	Text   string
	Marked bool
}

// markedParts splits a quote at its marks.
//
// Marks are sorted rune ranges; invalid ones are skipped.
func markedParts(q chat.MarkedQuote) (parts []markedPart) {
	runes, done := []rune(q.Quote), 0
	for _, m := range q.Marks {
		if m[0] < done || m[1] > len(runes) || m[0] >= m[1] {
			continue
		}
		parts = append(parts, markedPart{visible(string(runes[done:m[0]])), false},
			markedPart{visible(string(runes[m[0]:m[1]])), true})
		done = m[1]
	}
	return slices.DeleteFunc(append(parts, markedPart{visible(string(runes[done:])), false}), func(p markedPart) bool {
		return p.Text == ""
	})
}

// sourceName returns the label of a quote's footnote.
func sourceName(when, number, title, place string) string {
	name := when + " " + number + ": " + visible(title)
	if place != "" {
		name += ", " + visible(place)
	}
	return name
}
