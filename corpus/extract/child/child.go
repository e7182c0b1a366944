// Package child starts and confines programs that read untrusted files: LibreOffice, tesseract, and this program's
// workers.
//
// On Linux a confined program has separate namespaces for users, mounts, processes, networks and IPC
// (namespaces(7)). It can access only the paths of its Bounds, no other file, no other process and no network. The
// kernel limits its memory, files and processor time. confine_linux.go starts it, inside_linux.go runs in the new
// namespaces before it. Other systems have no confinement.
package child

import (
	"bytes"
	"os"
	"time"
)

// Bounds are the resources of a confined program. All paths are absolute; missing ones are skipped. The zero value
// of a limit means no limit.
type Bounds struct {
	Programs []string      // read-only files and directories: the program, its libraries and data
	Hide     []string      // files and directories below Programs that stay hidden
	Read     []string      // read-only files and directories: the input
	Write    []string      // writable directories
	Memory   uint64        // bytes of private memory of each process
	File     uint64        // bytes of a file that it writes
	Time     time.Duration // processor time of each process, in whole seconds
}

// Environ returns the named environment variables that are set, in the form of exec.Cmd.Env. A third-party program
// gets no others.
func Environ(names ...string) (env []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Output buffers at most the first Most bytes that are written to it. Over reports whether there were more. Full, if
// set, is called once when there are. The limit protects memory from a program with endless output.
type Output struct {
	bytes.Buffer
	Most int
	Over bool
	Full func()
}

// Write implements io.Writer. It accepts all bytes and never fails. A failing writer would end the program with a
// broken pipe, and hide the actual error.
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
