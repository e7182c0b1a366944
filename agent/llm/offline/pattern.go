package offline

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first called: a hundred of them would hold up the start
// of every process that has this package in it. It is safe for concurrent use. The workers that read files are
// processes of this program, too.
type pattern func() *regexp.Regexp

// lazily returns the pattern of an expression, which must be valid: else its first use panics.
func lazily(expression string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
