// Package lazy delays the compilation of regular expressions, so that processes start fast.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression at its first call. An invalid expression panics then. The
// function is safe for concurrent use.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
