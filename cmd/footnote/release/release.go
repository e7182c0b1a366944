// Package release says which source the program was built from.
package release

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Info says which source a program was built from. Empty fields are not known. It is filled at the start and not
// changed any more.
type Info struct {
	Version string // v1.2.3, what git describes otherwise, or "dev"
	Commit  string // its hash; empty: not known
	Date    string // when it was committed, in RFC 3339; empty: not known
	// Repository is where versions are published, such as github.com/owner/name. Empty: the build did not say.
	Repository string
}

// Read completes what the build set with what Go's own stamps say: go install and go build leave them. What is set by
// the build comes first. A program that is neither built by make nor from a repository has the version “dev” and no
// commit.
func Read(r Info, stamps func() (*debug.BuildInfo, bool)) Info {
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

// Tell writes the version in a line of its own, as --version does, and what it was built from below it. It has three
// lines: the version; commit and date; Go's version with the platform.
func (r Info) Tell(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\ncommit %s, %s\n%s %s/%s\n", r.Version, cmp.Or(r.Commit, "unknown"),
		cmp.Or(r.Date, "of an unknown date"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
