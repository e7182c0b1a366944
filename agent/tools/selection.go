package tools

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Selection says who chooses a run's first tools.
type Selection string

// The ways to choose. With auto rules choose for simple questions, and what the model chose for a similar question
// before is used again.
//
// With model the model chooses, and with rules the program does.
const (
	SelectModel Selection = "model"
	SelectRules Selection = "rules"
	SelectAuto  Selection = "auto"
)

// Check says what is wrong with it, as an error with CodeInvalid. Empty is right: somebody else chooses.
func (s Selection) Check() error {
	switch s {
	case "", SelectModel, SelectRules, SelectAuto:
		return nil
	default:
		return chat.Invalid("selection must be model, rules or auto, not “%s”.", text.Shorten(string(s), 60))
	}
}
