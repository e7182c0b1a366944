package offline

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled at its first use. Compiling a hundred of them would delay the
// start of every process with this package, including the workers that parse files. It is safe for concurrent use.
type pattern func() *regexp.Regexp

// lazily returns the pattern of an expression. An invalid expression panics at its first use.
func lazily(expression string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
