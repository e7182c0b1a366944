package folder

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFiles are read in this order at the top of a folder; the last rule that fits a path decides.
var ignoreFiles = []string{".gitignore", ".footnoteignore"}

// rule is one line of an ignore file.
type rule struct {
	file    string // that it stands in
	pattern string // of doublestar, against the path below the folder
	folders bool   // fits folders only
	keep    bool   // takes back an earlier rule
}

// rules are the lines of the ignore files, in order. The rules are git's in what most files use (gitignore(5)): no
// slash means at any depth, a slash at the front or in the middle the top, one at the end folders only, “!” takes back.
// Classes and ranges are doublestar's.
type rules []rule

// readRules reads the ignore files at the top of a folder. Missing ones are empty.
func readRules(folder fs.FS) (rules, error) {
	var all rules
	for _, name := range ignoreFiles {
		text, err := fs.ReadFile(folder, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		lines := bufio.NewScanner(strings.NewReader(string(text)))
		for lines.Scan() {
			r, ok := parseRule(lines.Text())
			if !ok {
				continue
			}
			r.file = name
			if !doublestar.ValidatePattern(r.pattern) {
				return nil, fmt.Errorf("%s: %q is no pattern", name, lines.Text())
			}
			all = append(all, r)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return all, nil
}

// parseRule reads one line of an ignore file; ok is false for an empty one and a comment. A backslash before “#” or “!”
// goes to the pattern, where it makes the sign plain.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || strings.HasPrefix(line, "#") {
		return r, false
	}
	if line, r.keep = strings.CutPrefix(line, "!"); line == "" {
		return r, false
	}
	line, r.folders = strings.CutSuffix(line, "/")
	line, top := strings.CutPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if !top && !strings.Contains(line, "/") {
		line = "**/" + line
	}
	// git knows no alternatives: its braces stand for themselves
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, true
}

// ignores reports whether a path below the folder is left out, and which file says so; none for what is hidden. The
// caller does not enter a folder that is left out. As git has it, a file can't be taken back whose folder is left out,
// since that folder is not entered.
func (rs rules) ignores(name string, folder bool) (out bool, by string) {
	if strings.HasPrefix(path.Base(name), ".") {
		return true, ""
	}
	for i := len(rs) - 1; i >= 0; i-- {
		if rs[i].folders && !folder {
			continue
		}
		if fits, err := doublestar.Match(rs[i].pattern, name); err == nil && fits {
			return !rs[i].keep, rs[i].file
		}
	}
	return false, ""
}
