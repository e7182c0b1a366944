package chat

import "github.com/footnote/footnote/text/locale"

// Invalid returns a CodeInvalid error with a user-facing sentence for a request that can't be served; see locale.Say.
// No value may be an error of another package, since its text is shown to the user.
func Invalid(form string, values ...any) error {
	return &Error{Code: CodeInvalid, Message: locale.Say(form, values...)}
}
