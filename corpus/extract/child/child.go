// Package child starts and bounds other people's programs that read files.
//
// LibreOffice and tesseract are large programs in C++ that read what strangers made. They are started with a few named
// variables of our environment, in a process group of their own that can be ended as a whole, with limits that the
// kernel holds, and where that is possible without a network. Outside of Linux only the time limits are left.
package child

import (
	"bytes"
	"os"
)

// Environ returns those of the named variables of this process that are set, as a command takes them: a program of
// others sees nothing else of our environment.
func Environ(names ...string) (env []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Output keeps the first bytes that are written to it: at most Most. Over says that there were more; Full, if it is
// set, is called once when there are. A program that complains without end would otherwise fill memory.
type Output struct {
	bytes.Buffer
	Most int
	Over bool
	Full func()
}

// Write implements io.Writer. It takes everything and never fails. A writer that fails would end the program with a
// broken pipe, and hide what was wrong with it.
func (o *Output) Write(p []byte) (int, error) {
	room := min(len(p), o.Most-o.Len())
	o.Buffer.Write(p[:room])
	if room < len(p) && !o.Over {
		o.Over = true
		if o.Full != nil {
			o.Full()
		}
	}
	return len(p), nil
}
