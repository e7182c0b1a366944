package chat

import "fmt"

// Invalid is a request that can't be served as it is, told in a sentence for the one who made it. The format must not
// hold an error of another package: its text goes to the user as it is.
func Invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
