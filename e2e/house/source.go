package main

import (
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is one hand-written file of Go.
type source struct {
	path  string // from the module's root, with slashes
	test  bool
	lines []string // without what ends them
}

// made is the line by which Go knows files that a program wrote.
var made = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// readModule reads the hand-written Go of the module at root, in the order of the paths. Modules inside it count, too;
// folders that Go leaves out do not.
func readModule(root string) (files []source, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil || made.Match(raw) {
			return err
		}
		below, err := filepath.Rel(root, path)
		files = append(files, source{
			path: filepath.ToSlash(below), test: strings.HasSuffix(name, "_test.go"),
			lines: strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"),
		})
		return err
	})
	return files, err
}

// comments counts the lines that hold a comment and nothing else. Both kinds of comments count, and empty lines in
// them. A comment behind code does not.
func (f source) comments() (n int) {
	inside := false
	for _, line := range f.lines {
		line = strings.TrimSpace(line)
		inside = inside || strings.HasPrefix(line, "/*")
		if inside || strings.HasPrefix(line, "//") {
			n++
		}
		inside = inside && !strings.Contains(line, "*/")
	}
	return n
}

// pair is a piece that stands in two places. here is the place that comes first.
type pair struct {
	here, there place
	lines       int // not blank
}

// place is where a piece begins.
type place struct {
	file, line int // in the list of files; from 0, among the lines that are not blank
	path       string
	at         int // its number for people, from 1
}

func (p pair) String() string {
	return fmt.Sprintf("%d lines: %s:%d and %s:%d", p.lines, p.here.path, p.here.at, p.there.path, p.there.at)
}

// standTwice finds pieces of at least so many equal lines, without white space at their ends and blank lines. Each
// piece is told once, as long as it is, with the place where it stood first. Imports do not count.
//
// It hashes each window of least lines and compares for real where hashes are equal. A piece that repeats itself in
// one file is cut so that the two places don't overlap. The longest come first. Time and memory grow with the number
// of lines.
func standTwice(files []source, least int) (pairs []pair) {
	type line struct {
		text string
		at   int
	}
	bare := make([][]line, len(files))
	for i, f := range files {
		imports := false
		// They are equal in many files, and mean nothing.
		for n, text := range f.lines {
			text = strings.TrimSpace(text)
			imports = imports && text != ")" || text == "import ("
			if text != "" && !imports {
				bare[i] = append(bare[i], line{text, n + 1})
			}
		}
	}
	// The seed differs for each run; it changes no result.
	seed, first := maphash.MakeSeed(), map[uint64]place{}
	equal := func(a, b place) (n int) {
		here, there := bare[a.file][a.line:], bare[b.file][b.line:]
		for n < len(here) && n < len(there) && here[n].text == there[n].text && (a.file != b.file ||
			a.line+n < b.line) {
			n++
		}
		return n
	}
	for i := range files {
		for j := 0; j+least <= len(bare[i]); j++ {
			var h maphash.Hash
			h.SetSeed(seed)
			for _, l := range bare[i][j : j+least] {
				h.WriteString(l.text)
				h.WriteByte('\n')
			}
			now := place{i, j, files[i].path, bare[i][j].at}
			before, known := first[h.Sum64()]
			if !known {
				first[h.Sum64()] = now
				continue
			}
			if n := equal(before, now); n >= least {
				pairs = append(pairs, pair{before, now, n})
				j += n - 1
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.lines - a.lines })
	return pairs
}
