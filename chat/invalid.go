package chat

import "fmt"

// Invalid is a request that can't be served as it is, told in a sentence for the one who made it.
func Invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
