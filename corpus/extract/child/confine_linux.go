package child

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// insideName is argument 0 of this program when it sets up the namespaces for another; see inside_linux.go.
const insideName = "footnote-confine"

// confinement is the request to the process in the new namespaces, encoded as JSON in argument 1. The other arguments
// are the program to run; without them it only tests the setup.
type confinement struct {
	Bounds
	Dir      string // working directory
	Confined bool   // it has separate namespaces
	// Targets maps the paths of Read and Write that contain symbolic links to their targets.
	Targets map[string]string
}

// Programs returns the paths that a program reads besides its input: its executable, libraries, data and fonts, as
// distributions install them.
func Programs(program string) []string {
	paths := []string{
		"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/local/lib",
		"/usr/local/share/fonts", "/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts",
		"/etc/ld.so.cache", "/etc/libreoffice", "/var/cache/fontconfig", "/var/lib/libreoffice", "/nix/store", program,
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return paths // its start fails and reports the error
	}
	// An installation of LibreOffice has a directory “program”. Others have “bin” beside “lib”.
	dir, parent := filepath.Dir(real), filepath.Dir(filepath.Dir(real))
	return append(paths, strings.TrimSuffix(dir, "/program"), parent+"/lib", parent+"/lib64", parent+"/share")
}

// Confine configures a command to run within bounds. Where the kernel refuses namespaces, see Refused, only the
// limits of memory, files and time apply. When its context ends, the command and all its child processes are killed.
// A failure before the program runs is exit status 126 with a message on standard error. Confine must be called
// once, right before the start.
func Confine(cmd *exec.Cmd, b Bounds) { confine(cmd, b, Refused() == nil) }

func confine(cmd *exec.Cmd, b Bounds, confined bool) {
	hide := make([]string, 0, len(b.Hide))
	for _, path := range b.Hide { // a missing path needs no hiding
		if real, err := filepath.EvalSymlinks(path); err == nil {
			if real, err = filepath.Abs(real); err == nil {
				hide = append(hide, real)
			}
		}
	}
	b.Hide = hide
	targets := make(map[string]string)
	for _, path := range slices.Concat(b.Read, b.Write) {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			targets[path] = real
		}
	}
	// it contains only strings and numbers
	asked, _ := json.Marshal(confinement{Bounds: b, Dir: cmd.Dir, Confined: confined, Targets: targets})
	var run []string
	if cmd.Path != "" {
		run = append([]string{cmd.Path}, cmd.Args[1:]...)
	}
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{insideName, string(asked)}, run...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	if !confined {
		return
	}
	itself := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC
	cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = itself(unix.Getuid()), itself(unix.Getgid())
	cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP}
}

// Refused returns the reason why this system can't confine programs, nil if it can. The first call starts a process
// to test it, and the result is cached. It is safe for concurrent use.
var Refused = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "")
	cmd.Err = nil
	cmd.Env = []string{}
	said := Output{Most: 1 << 10}
	cmd.Stderr = &said
	confine(cmd, Bounds{Programs: Programs("/bin/sh")}, true)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the system does not permit user, mount and network namespaces: %w",
			withOutput(err, strings.TrimSpace(said.String())))
	}
	return nil
})

// withOutput wraps an error with the output of the process, if there is any.
func withOutput(err error, said string) error {
	if said == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, said)
}
