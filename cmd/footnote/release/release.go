// Package release identifies the source that the program was built from.
package release

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Info identifies the source that a program was built from. Unknown fields are empty. It is immutable after the
// start.
type Info struct {
	Version string // v1.2.3, or the output of git describe, or "dev"
	Commit  string // its hash; empty: unknown
	Date    string // time of the commit in RFC 3339; empty: unknown
	// Repository is the repository with the releases, such as github.com/owner/name. It is empty if the build did
	// not set it.
	Repository string
}

// Read completes the values set by the build with Go's build info, which go install and go build write. The build's
// values take precedence. A program that was built without make and outside a repository has the version “dev” and
// no commit.
func Read(r Info, stamps func() (*debug.BuildInfo, bool)) Info {
	info, ok := stamps()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if r.Version == "" && info.Main.Version != "(devel)" {
		r.Version = info.Main.Version
	}
	if r.Commit == "" && r.Date == "" { // both or neither: a date belongs to its commit
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

// Print writes three lines: the version alone, as --version does; commit and date; Go's version with the platform.
func (r Info) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\ncommit %s, %s\n%s %s/%s\n", r.Version, cmp.Or(r.Commit, "unknown"),
		cmp.Or(r.Date, "of an unknown date"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
