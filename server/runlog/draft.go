package runlog

import (
	"strings"

	"github.com/footnote/footnote/chat"
)

// Draft finds what of an answer under way is safe to tell a reader who can't take text back: nothing before its first
// footnote or the whole answer, since text may turn out to be a thought. The zero value is that of a run's beginning.
type Draft struct {
	text  string // since the last reset
	told  int    // bytes of text that are told
	cited bool
}

// Told is what a reader gets to know with an event.
type Told struct {
	Withdrawn bool   // what was told before is no part of the answer, which begins anew with Text
	Text      string // that goes on with the answer
}

// Add takes the payload of a run's next event.
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

// addAnswer takes the whole answer, of which a part may be told.
func (d *Draft) addAnswer(whole string) Told {
	told := d.text[:d.told]
	d.text, d.told = whole, len(whole)
	switch {
	case strings.HasPrefix(told, whole): // it was cut at its end
		return Told{}
	case strings.HasPrefix(whole, told):
		return Told{Text: whole[len(told):]}
	}
	return Told{Withdrawn: true, Text: whole}
}

// Rest returns what is not told yet, and takes it for told.
func (d *Draft) Rest() string {
	rest := d.text[d.told:]
	d.told = len(d.text)
	return rest
}
