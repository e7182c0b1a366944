// Package child starts and confines programs that read files of strangers: LibreOffice, tesseract, and the workers of
// this program.
//
// On Linux a confined program has namespaces of its own for users, mounts, processes, networks and IPC
// (namespaces(7)). It sees the paths that its Bounds name and nothing else of the disk, no other process and no
// network. Its memory, files and processor time are bounded by the kernel. confine_linux.go starts it, inside_linux.go
// runs in the new namespaces before it. Other systems have no confinement.
package child

import (
	"bytes"
	"os"
	"time"
)

// Bounds are what a confined program may use. All paths are absolute; those that do not exist are left out. The zero
// value of a limit sets none.
type Bounds struct {
	Programs []string      // read-only files and directories: the program, its libraries and data
	Hide     []string      // files and directories that stay hidden below Programs
	Read     []string      // read-only files and directories: the input
	Write    []string      // directories that it may change
	Memory   uint64        // bytes of private memory of each process
	File     uint64        // bytes of a file that it writes
	Time     time.Duration // of processor time of each process, in whole seconds
}

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
