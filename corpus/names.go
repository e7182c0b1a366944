package corpus

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

const (
	maxName = 200  // runes of a file name
	maxPath = 1000 // runes of a path
)

// cleanName returns the last part of a file name without what could lead out of a directory or disturb a display. It is
// "" for a name of nothing but points, and "unnamed" with its extension for one that shows nothing.
func cleanName(name string) string {
	given := lastName(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSpace(strings.Map(cleanRune, strings.ToValidUTF8(given, "")))
	name = strings.TrimRight(name, ". ")
	if strings.Trim(name, ".") == "" {
		return ""
	}
	if ext := path.Ext(name); text.Blank(strings.TrimSuffix(name, ext)) &&
		(name != ext || !strings.HasPrefix(given, ".")) {
		return unnamed + ext // nobody could read what stands before it
	}
	return shortName(name, maxName)
}

// unnamed is how a file is called whose name shows nothing but its extension.
const unnamed = "unnamed"

// Batch are the files of one upload: those of one name that differ are kept apart. The zero value is ready; one
// goroutine uses it at a time. A folder may hold two files whose names become equal when they are cleaned.
type Batch struct{ taken map[string]string } // path → SHA256

// unusedPath returns the path under which a file of the batch is stored: its own, or, if another file of the batch or
// the library has that path, its own with a number. A file without a readable name is never the new version of another
// one. Numbers begin with " (2)". A file with the same bytes keeps the path that it has.
func (l *Library) unusedPath(ctx context.Context, b *Batch, d Document) (Document, error) {
	free := func(p string) (bool, error) {
		sha, ours := b.taken[p]
		if ours || !isNameless(p) {
			return !ours || sha == d.SHA256, nil
		}
		there, err := l.takenByOther(ctx, d, p)
		return !there, err
	}
	base, ext := strings.TrimSuffix(d.Path, path.Ext(d.Path)), path.Ext(d.Path)
	for n := 2; ; n++ {
		ok, err := free(d.Path)
		if err != nil {
			return d, err
		}
		if ok {
			break
		}
		d.Path = base + " (" + strconv.Itoa(n) + ")" + ext
		d.Filename = lastName(d.Path)
		d.Title = d.Filename
	}
	if b.taken == nil {
		b.taken = map[string]string{}
	}
	b.taken[d.Path] = d.SHA256
	return d, nil
}

// isNameless reports whether a path ends in a name that was made for want of one.
func isNameless(p string) bool { return strings.HasPrefix(lastName(p), unnamed) }

// takenByOther reports whether there is a document of other bytes at a path.
func (l *Library) takenByOther(ctx context.Context, d Document, p string) (bool, error) {
	f := Filter{Text: lastName(p), Limit: 1000}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, chat.Scope{User: d.User}.In(d.Namespace), f)
		if err != nil {
			return false, fmt.Errorf("look for a document of that name: %w", err)
		}
		if slices.ContainsFunc(docs, func(other Document) bool { return other.Path == p && other.SHA256 != d.SHA256 }) {
			return true, nil
		}
		if f.Cursor = next; next == "" {
			return false, nil
		}
	}
}

// CleanPath is the path that a document gets when this one is given for it.
func CleanPath(p string) string { return cleanPath(p) }

// cleanPath returns a relative, "/"-separated path of clean names; parts that climb are left out. A part that ends with
// a colon, such as a drive of Windows, is left out. A path that is too long loses its first parts.
func cleanPath(p string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		if part = cleanName(part); part != "" && !strings.HasSuffix(part, ":") {
			parts = append(parts, part)
		}
	}
	whole := strings.Join(parts, "/")
	for utf8.RuneCountInString(whole) > maxPath && len(parts) > 1 {
		parts = parts[1:]
		whole = strings.Join(parts, "/")
	}
	return whole
}

// lastName returns the part of a path behind its last slash.
func lastName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// cleanRune drops control and invisible formatting characters, among them those that turn the writing direction,
// which make names look like others.
func cleanRune(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0x200d || r == utf8.RuneError || r == 0x2028 ||
		r == 0x2029 {
		return -1
	}
	return r
}

// shortName cuts a long name in front of its extension.
func shortName(name string, limit int) string {
	r := []rune(name)
	if len(r) <= limit {
		return name
	}
	ext := []rune(path.Ext(name))
	if len(ext) > 10 {
		ext = nil
	}
	return string(r[:limit-len(ext)]) + string(ext)
}

// Blank reports whether nothing of a text is drawn.
func Blank(s string) bool { return text.Blank(s) }
