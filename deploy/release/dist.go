package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// program is a built program for one platform. content is the whole program, in memory.
type program struct {
	system    string // GOOS
	processor string // GOARCH
	content   []byte
}

// name is what the program's file is called on its system.
func (p program) name() string {
	if p.system == "windows" {
		return "footnote.exe"
	}
	return "footnote"
}

// contents reads what every kind of package holds: the programs, one for each platform, and the papers that go with
// each. It fails before anything is read when the product has no version or no repository.
//
// Their order is that of platforms. notices is the file that makeNotices wrote.
func contents(root, notices, dist string, about product) ([]program, []entry, error) {
	if err := about.check(); err != nil {
		return nil, nil, err
	}
	programs, err := builtPrograms(root, dist)
	if err != nil {
		return nil, nil, err
	}
	with, err := papers(root, notices)
	return programs, with, err
}

// builtPrograms reads the programs that goreleaser built, by its list of all that it made, in the order of platforms.
//
// Each platform has to be there, or it is an error: a release without one would be noticed by its users only. Paths in
// the list are below root. An empty program is an error, too.
func builtPrograms(root, dist string) ([]program, error) {
	raw, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var made []struct {
		Path, Type, Goos, Goarch string
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return nil, fmt.Errorf("read artifacts.json: %w", err)
	}
	var programs []program
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		i := slices.IndexFunc(made, func(a struct{ Path, Type, Goos, Goarch string }) bool {
			return a.Type == "Binary" && a.Goos == system && a.Goarch == processor
		})
		if i < 0 {
			return nil, fmt.Errorf("%s has no program for %s", dist, platform)
		}
		path := made[i].Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(content) == 0 {
			return nil, errors.New(path + " is empty")
		}
		programs = append(programs, program{system, processor, content})
	}
	return programs, nil
}

// papers are the files that go with every program. They are the licence of the product and the notices, under their
// own names.
func papers(root, notices string) ([]entry, error) {
	var entries []entry
	for _, path := range []string{filepath.Join(root, "LICENSE"), notices} {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: filepath.Base(path), content: content})
	}
	return entries, nil
}
