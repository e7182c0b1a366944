package command

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Bar is a progress bar. On a terminal it is redrawn in place; elsewhere it prints a line at each tenth, and when
// another thing is being done.
type Bar struct {
	out      io.Writer
	total    int
	terminal bool
	tenth    int
	doing    string
}

// NewBar draws on a terminal; elsewhere it prints a line for every tenth, so that logs stay short.
func NewBar(out io.Writer, total int) *Bar {
	b := &Bar{out: out, total: total, tenth: -1}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

// Draw shows that done of the total are done and what is at work.
func (b *Bar) Draw(doing string, done int, what string) {
	const width = 24
	if b.terminal {
		full := width * done / b.total
		fmt.Fprintf(
			b.out, "\r\x1b[K[%s%s] %d/%d %s %s", strings.Repeat("█", full), strings.Repeat("·", width-full), done,
			b.total, doing, shortenLeft(what, 48),
		)
		return
	}
	if tenth := 10 * done / b.total; tenth != b.tenth || doing != b.doing {
		b.tenth, b.doing = tenth, doing
		fmt.Fprintf(b.out, "%d/%d %s\n", done, b.total, doing)
	}
}

// End replaces the bar by a last line.
func (b *Bar) End(line string) {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
	fmt.Fprintln(b.out, line)
}

// shortenLeft keeps the end of a text, which tells paths apart.
func shortenLeft(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return "…" + string(runes[len(runes)-most+1:])
}

// OnTerminal reports whether the bar is redrawn in place.
func (b *Bar) OnTerminal() bool { return b.terminal }
