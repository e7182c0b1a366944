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

// sureToShow is how many runes of a conversation's name the menu shows however narrow it is.
// It is a choice.
const sureToShow = 24

// namesake is what tells a conversation from others of its name: when it was last worked on. The zero value: no other
// has its name.
type namesake struct {
	at    time.Time
	exact bool // to the second: another one of that name is of the same minute
	nth   int  // of those of that name and second, from the last of the list on
}

// namesakes returns what tells apart those of a list whose names begin alike, as far as the menu is sure to show them.
//
// Its keys are the ids of conversations; one that stands alone is not in it.
func namesakes(sessions []chat.Session) map[string]namesake {
	names, minutes, seconds := map[string]int{}, map[string]int{}, map[string]int{}
	name := func(s chat.Session) string { return clipped(s.Title, sureToShow) }
	minute := func(s chat.Session) string { return name(s) + s.UpdatedAt.UTC().Format(" 200601021504") }
	for _, s := range sessions {
		names[name(s)]++
		minutes[minute(s)]++
	}
	apart := map[string]namesake{}
	// From the oldest on, so that a number stays when a newer conversation of that name comes.
	for _, s := range slices.Backward(sessions) {
		if names[name(s)] > 1 {
			second := minute(s) + s.UpdatedAt.UTC().Format("05")
			seconds[second]++
			apart[s.ID] = namesake{s.UpdatedAt, minutes[minute(s)] > 1, seconds[second]}
		}
	}
	return apart
}

// form is how the page's script writes the time, in the reader's zone.
func (n namesake) form() string {
	if n.exact {
		return "second"
	}
	return "minute"
}

// words are the time in UTC: of today without its day.
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

// number tells it from those of its second, of which the first has none.
func (n namesake) number() string {
	if n.nth < 2 {
		return ""
	}
	return fmt.Sprintf("(%d)", n.nth)
}

// named is a conversation's name with what tells it apart.
func (n namesake) named(ctx context.Context, s chat.Session, now time.Time) string {
	if n.at.IsZero() {
		return sessionTitle(ctx, s)
	}
	return strings.TrimSpace(sessionTitle(ctx, s) + " " + n.words(ctx, now) + " " + n.number())
}
