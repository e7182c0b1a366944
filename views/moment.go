package views

import (
	"context"
	"time"

	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// instant matches an RFC 3339 time in a sentence, with the word before it.
var instant = lazy.Regexp(`\b(?:at )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`)

// phrase is a segment of a sentence: text, or the text of a time.
type phrase struct {
	Text string
	At   time.Time // zero: no time
}

// phrases parses the times in a sentence.
//
// A match that is not a valid time stays text.
func phrases(ctx context.Context, sentence string) []phrase {
	var out []phrase
	done := 0
	for _, m := range instant().FindAllStringSubmatchIndex(sentence, -1) {
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

// onDay returns "on 2 January at 15:04 UTC". The page's script formats it again in the reader's time zone.
func onDay(ctx context.Context, at time.Time) string {
	return dayAndTime.Say(ctx, locale.Day(ctx, at), at.UTC().Format("15:04"))
}

// onDate returns "2 January 2006, 15:04 UTC", which the script formats again, too.
func onDate(ctx context.Context, at time.Time) string { return locale.Moment(ctx, at) }

// stamp encodes a time for the datetime attribute: RFC 3339 in UTC.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
