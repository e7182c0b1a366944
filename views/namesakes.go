package views

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// sureToShow is the number of runes of a conversation's name that fit into the menu at its narrowest width. It is
// an estimate.
const sureToShow = 24

// namesake distinguishes a conversation from others of the same name by the time of its last update. The zero value
// means that the name is unique.
type namesake struct {
	at    time.Time
	exact bool // with seconds: another one of that name has the same minute
	nth   int  // number among those of that name and second, from the end of the list
}

// namesakes returns the distinguishing times for conversations whose visible names are the same in the menu.
//
// The keys are conversation ids. A conversation with a unique name has no entry.
func namesakes(sessions []chat.Session) map[string]namesake {
	names, minutes, seconds := map[string]int{}, map[string]int{}, map[string]int{}
	name := func(s chat.Session) string { return clipped(s.Title, sureToShow) }
	minute := func(s chat.Session) string { return name(s) + s.UpdatedAt.UTC().Format(" 200601021504") }
	for _, s := range sessions {
		names[name(s)]++
		minutes[minute(s)]++
	}
	apart := map[string]namesake{}
	// In order from the oldest, so that a number does not change when a newer conversation of that name is added.
	for _, s := range slices.Backward(sessions) {
		if names[name(s)] > 1 {
			second := minute(s) + s.UpdatedAt.UTC().Format("05")
			seconds[second]++
			apart[s.ID] = namesake{s.UpdatedAt, minutes[minute(s)] > 1, seconds[second]}
		}
	}
	return apart
}

// form is the time format for the page's script, which uses the reader's time zone.
func (n namesake) form() string {
	if n.exact {
		return "second"
	}
	return "minute"
}

// words formats the time in UTC, without the day if it is today.
func (n namesake) words(ctx context.Context, now time.Time) string {
	clock := "15:04"
	if n.exact {
		clock = "15:04:05"
	}
	words := n.at.UTC().Format(clock)
	if dayName(ctx, n.at, now) != txtToday.In(ctx) {
		words = locale.ShortDay(ctx, n.at) + " " + words
	}
	return words
}

// number distinguishes conversations of the same second. The first has no number.
func (n namesake) number() string {
	if n.nth < 2 {
		return ""
	}
	return fmt.Sprintf("(%d)", n.nth)
}

// named returns a conversation's name with its distinguishing time and number.
func (n namesake) named(ctx context.Context, s chat.Session, now time.Time) string {
	if n.at.IsZero() {
		return sessionTitle(ctx, s)
	}
	return strings.TrimSpace(sessionTitle(ctx, s) + " " + n.words(ctx, now) + " " + n.number())
}
