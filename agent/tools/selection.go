package tools

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Selection is the way a run's first tools are selected.
type Selection string

// The values of Selection. With model, the model selects. With rules, the program's rules do. With auto, rules
// select for simple questions, and a model's selection for a similar earlier question is reused.
const (
	SelectModel Selection = "model"
	SelectRules Selection = "rules"
	SelectAuto  Selection = "auto"
)

// Check validates the value and returns an error with CodeInvalid. Empty is valid and means the default.
func (s Selection) Check() error {
	switch s {
	case "", SelectModel, SelectRules, SelectAuto:
		return nil
	default:
		return chat.Invalid("selection must be model, rules or auto, not “%s”.", text.Shorten(string(s), 60))
	}
}
