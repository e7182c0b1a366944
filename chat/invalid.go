package chat

import "fmt"

// Invalid returns a CodeInvalid error with a user-facing sentence for a request that can't be served. The format
// must not include an error of another package, since its text is shown to the user.
func Invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
