package views

import (
	"context"
	"regexp"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// instant is a time of day as sentences for programs and for people have it, with the word before it.
var instant = regexp.MustCompile(`\b(?:at )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`)

// phrase is a piece of a sentence: words, or the words for a time.
type phrase struct {
	Text string
	At   time.Time // zero: no time
}

// phrases finds the times in a sentence.
//
// What looks like a time and is none stays among the words.
func phrases(ctx context.Context, sentence string) []phrase {
	var out []phrase
	done := 0
	for _, m := range instant.FindAllStringSubmatchIndex(sentence, -1) {
		at, err := time.Parse(time.RFC3339, sentence[m[2]:m[3]])
		if err != nil {
			continue
		}
		if m[0] > done {
			out = append(out, phrase{Text: sentence[done:m[0]]})
		}
		out, done = append(out, phrase{onDay(ctx, at), at}), m[1]
	}
	if done < len(sentence) {
		out = append(out, phrase{Text: sentence[done:]})
	}
	return out
}

// onDay returns "on 2 January at 15:04 UTC". The page's script says it again in the reader's zone.
func onDay(ctx context.Context, at time.Time) string {
	return dayAndTime.Say(ctx, locale.Day(ctx, at), at.UTC().Format("15:04"))
}

// onDate returns "2 January 2006, 15:04 UTC", likewise.
func onDate(ctx context.Context, at time.Time) string { return locale.Moment(ctx, at) }

// stamp is a time as browsers read it.
//
// It is the value of the attribute datetime, RFC 3339 in UTC.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
