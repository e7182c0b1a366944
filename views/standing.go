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
	KeptTitle    = locale.T("Kept questions")
	txtKeep      = locale.T("Keep asking this")
	txtKeptAbout = locale.T("These questions are asked again when the documents they rest on change. What is " +
		"different is shown with both quotes.")
	txtKeptNone      = locale.T("No question is kept yet. Choose “Keep asking this” under an answer.")
	txtKeptUnchanged = locale.T("Unchanged since {when}")
	txtKeptLooked    = locale.T("Asked again {when}: unchanged")
	txtKeptChanged   = locale.T("Changed {when}")
	txtKeptWaiting   = locale.T("Documents changed: it is asked again in a moment")
	txtKeptAsking    = locale.T("It is being asked again")
	txtKeptPaused    = locale.T("Paused")
	txtKeptFailed    = locale.T("It could not be asked again, and will be tried later:")
	txtKeptValue     = locale.T("{document}: “{before}”, now “{now}”")
	txtKeptSentence  = locale.T("{document} now says: “{now}”; before: “{before}”")
	txtKeptAdded     = locale.T("{document} now says: “{now}”")
	txtKeptGone      = locale.T("{document} no longer says: “{before}”")
	txtKeptRemoved   = locale.T("{document} is no longer there. It said: “{before}”")
	txtKeptBefore    = locale.T("Before")
	txtKeptNow       = locale.T("Now")
	txtKeptNothing   = locale.T("These words are not there.")
	txtKeptAnswers   = locale.T("The answers")
	txtKeptHistory   = locale.T("Earlier changes")
	txtKeptOn        = locale.T("It rests on:")
	txtKeptAsk       = locale.T("Ask now")
	txtKeptPause     = locale.T("Pause")
	txtKeptResume    = locale.T("Resume")
	txtKeptRemove    = locale.T("Remove")
	txtKeptNew       = locale.T("New")
	txtFeed          = locale.T("Follow the changes elsewhere")
	txtFeedAbout     = locale.T("A feed reader can follow the changes at an address of your own. Whoever knows the " +
		"address can read them.")
	txtFeedOnce = locale.T("This is the address. It is shown only now:")
	txtFeedMake = locale.T("Make an address")
	txtFeedEnd  = locale.T("Take back every address")
	txtHook     = locale.T("Send the changes to a program")
	txtHookTo   = locale.T("The changes are sent to a program")
	txtHookHelp = locale.T("Each change is sent to an address as JSON, signed with a secret, and again for some 15 " +
		"hours while the address does not take it. The first message says that it works.")
	txtHookURL    = locale.T("Address of the program")
	txtHookSet    = locale.T("Send changes there")
	txtHookRenew  = locale.T("Send there with a new secret")
	txtHookEnd    = locale.T("Send no changes any more")
	txtHookOnce   = locale.T("This is the secret that signs the messages. It is shown only now:")
	txtHookFirst  = locale.T("The first message is on its way.")
	txtHookSent   = locale.T("The last message was taken {when}.")
	txtHookFailed = locale.T("The last message was not taken {when}:")
	hookWaiting   = locale.N("{n} change waits to be sent", "{n} changes wait to be sent")
	hookLost      = locale.N("{n} change could not be sent and was given up",
		"{n} changes could not be sent and were given up")
	keptMore   = locale.N("and {n} more difference", "and {n} more differences")
	keptUnseen = locale.N("{n} kept question changed", "{n} kept questions changed")
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
