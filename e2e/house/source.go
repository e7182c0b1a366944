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

// source is one hand-written Go file.
type source struct {
	path  string // relative to the module's root, with slashes
	test  bool
	lines []string // without line ends
}

// made matches the line that marks a generated Go file.
var made = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// readModule reads the hand-written Go files of the module at root, sorted by path. Nested modules are included;
// folders that Go ignores are not.
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

// comments counts the lines that contain only a comment, including empty lines in a block comment. A comment after
// code is not counted.
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

// pair is a duplicate: a segment in two places. here is the first place.
type pair struct {
	here, there place
	lines       int // without blank lines
}

// place is the start of a segment.
type place struct {
	file, line int // index of the file; index among its non-blank lines
	path       string
	at         int // line number, from 1
}

func (p pair) String() string {
	return fmt.Sprintf("%d lines: %s:%d and %s:%d", p.lines, p.here.path, p.here.at, p.there.path, p.there.at)
}

// standTwice finds duplicate segments of at least a number of equal lines, ignoring blank lines and leading and
// trailing white space. Each is returned once, at full length, with its first occurrence. Imports are ignored.
//
// It hashes each window of least lines and compares the lines if hashes are equal. A segment that overlaps its copy
// in one file is cut. The longest come first. Time and memory are linear in the number of lines.
func standTwice(files []source, least int) (pairs []pair) {
	type line struct {
		text string
		at   int
	}
	bare := make([][]line, len(files))
	for i, f := range files {
		imports := false
		// Imports are equal in many files without being duplicates.
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
