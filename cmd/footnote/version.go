package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// The build sets these: -ldflags "-X main.version=… -X main.commit=… -X main.date=…". The date is that of the commit,
// so that the same source makes the same bytes.
var version, commit, date string

// built is the program that runs.
var built = readRelease(release{Version: version, Commit: commit, Date: date}, debug.ReadBuildInfo)

// release says which source a program was built from.
type release struct {
	Version string // v1.2.3, what git describes otherwise, or "dev"
	Commit  string // its hash; empty: not known
	Date    string // when it was committed, in RFC 3339; empty: not known
}

// readRelease completes what the build set with what Go's own stamps say: go install and go build leave them.
func readRelease(r release, stamps func() (*debug.BuildInfo, bool)) release {
	info, ok := stamps()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if r.Version == "" && info.Main.Version != "(devel)" {
		r.Version = info.Main.Version
	}
	if r.Commit == "" && r.Date == "" { // both or none: a date belongs to its commit
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				r.Commit = s.Value
			case "vcs.time":
				r.Date = s.Value
			}
		}
	}
	r.Version = cmp.Or(r.Version, "dev")
	return r
}

// tell writes the version in a line of its own, as --version does, and what it was built from below it.
func (r release) tell(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\ncommit %s, %s\n%s %s/%s\n", r.Version, cmp.Or(r.Commit, "unknown"),
		cmp.Or(r.Date, "of an unknown date"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionCommand prints the version, and which commit it was built from.
type versionCommand struct{}

func (versionCommand) bare() {}

// Run prints them.
func (versionCommand) Run(p *program) error { return built.tell(p.stdout) }
