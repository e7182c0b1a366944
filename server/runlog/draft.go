package runlog

import (
	"strings"

	"github.com/footnote/footnote/chat"
)

// Draft returns the part of an unfinished answer that can be streamed to a client unable to retract text. It holds
// text back until the first footnote or the whole answer, since text may turn out to be a thought. The zero value is
// a new draft.
type Draft struct {
	text  string // since the last reset
	told  int    // bytes of text already streamed
	cited bool
}

// Told is the update that an event adds for a reader.
type Told struct {
	Withdrawn bool   // the text sent before is retracted, and the answer restarts with Text
	Text      string // continues the answer
}

// Add applies the payload of a run's next event.
func (d *Draft) Add(p chat.Payload) Told {
	switch p := p.(type) {
	case chat.AnswerDelta:
		d.text += p.Text
		if d.cited {
			return Told{Text: d.Rest()}
		}
	case chat.Citation:
		d.cited = true
		return Told{Text: d.Rest()}
	case chat.AnswerReset:
		told := d.told > 0
		*d = Draft{}
		return Told{Withdrawn: told}
	case chat.Answer:
		return d.addAnswer(p.Markdown)
	}
	return Told{}
}

// addAnswer sets the whole answer, part of which may already be streamed.
func (d *Draft) addAnswer(whole string) Told {
	told := d.text[:d.told]
	d.text, d.told = whole, len(whole)
	switch {
	case strings.HasPrefix(told, whole): // it was truncated at its end
		return Told{}
	case strings.HasPrefix(whole, told):
		return Told{Text: whole[len(told):]}
	}
	return Told{Withdrawn: true, Text: whole}
}

// Rest returns the unsent rest and marks it as sent.
func (d *Draft) Rest() string {
	rest := d.text[d.told:]
	d.told = len(d.text)
	return rest
}
