package extract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/lazy"
)

const (
	maxFrontMatter = 64 << 10 // bytes
	maxMetaItems   = 100      // of a front matter's list or map
)

// front is the front matter of a document. Static site generators and note-taking programs write it: Jekyll, Hugo,
// Zola, Pandoc, Obsidian.
type front map[string]any

// fences are the notations of front matter, each with the line before it and the lines that may be after it. "..." is
// the other document end of YAML 1.2.
var fences = []struct {
	begin string
	ends  []string
	parse func(src []byte, values any) error
}{
	{"---", []string{"---", "..."}, unmarshalEntries},
	{"+++", []string{"+++"}, toml.Unmarshal},
}

// frontMatter splits the front matter from the text after it. Front matter that is not a map stays in the text. The
// end has to be within maxFrontMatter bytes, because a text that begins with a line of dashes has no end marker. Blank
// lines may be above.
func frontMatter(src string) (front, string) {
	for _, fence := range fences {
		rest, ok := strings.CutPrefix(strings.TrimLeft(src, "\n"), fence.begin+"\n")
		if !ok {
			continue
		}
		head := rest[:min(len(rest), maxFrontMatter)]
		if len(head) == len(rest) {
			head += "\n" // the end may be the last line
		}
		end := -1
		for _, mark := range fence.ends {
			if i := strings.Index(head, "\n"+mark+"\n"); i >= 0 && (end < 0 || i < end) {
				end = i
			}
		}
		var values map[string]any
		if end >= 0 && fence.parse([]byte(head[:end]), &values) == nil && len(values) > 0 {
			return values, rest[min(end+len("\n---\n"), len(rest)):]
		}
	}
	return nil, src
}

// entryStart matches the first line of an entry of a map.
var entryStart = lazy.Regexp(`^[\pL_][\pL\pN_. -]*:(\s|$)`)

// unmarshalEntries parses YAML, or its entries one by one if it is invalid as a whole: people write titles with a
// colon, a key twice or a placeholder of a template. An invalid value is text, and of equal keys the first counts. It
// returns the error of the whole if a line belongs to no entry, or no entry is valid.
func unmarshalEntries(src []byte, values any) error {
	failed := yaml.Unmarshal(src, values)
	into, ok := values.(*map[string]any)
	if failed == nil || !ok {
		return failed
	}
	var entries []string
	for line := range strings.Lines(string(src)) {
		switch {
		case entryStart().MatchString(line):
			entries = append(entries, line)
		case len(entries) == 0 || strings.Trim(line[:1], " \t\n-#]}") != "":
			return failed
		default:
			entries[len(entries)-1] += line
		}
	}
	*into = map[string]any{}
	valid := false
	for _, entry := range entries {
		key, said, _ := strings.Cut(entry, ":")
		var one map[string]any
		if yaml.Unmarshal([]byte(entry), &one) == nil && len(one) == 1 {
			valid = true
		} else {
			one = map[string]any{key: strings.TrimSpace(said)}
		}
		if _, has := (*into)[key]; !has {
			maps.Copy(*into, one)
		}
	}
	if !valid {
		return failed
	}
	return nil
}

// applyFields sets the title, the language and Meta from the front matter. It takes keys in alphabetic order, so
// that the same file always keeps the same maxMetaItems.
func (fm front) applyFields(x *corpus.Extracted) {
	for _, key := range slices.Sorted(maps.Keys(fm)) {
		if len(x.Meta) >= maxMetaItems {
			break
		}
		v := plainValue(fm[key], 0)
		key = strings.ToLower(doctext.Line(key))
		s, isText := v.(string)
		switch {
		case v == nil || v == "" || key == "":
		case key == "title" && isText:
			x.Title = doctext.Line(s)
		case (key == "lang" || key == "language") && isText:
			x.Language = languageCode(s)
		default:
			x.Meta[key] = v
		}
	}
}

// plainValue converts a value of YAML or TOML to one that JSON can encode: dates become strings. Lists and maps are
// cut at maxMetaItems and at four levels. NaN and infinities become strings as well, since encoding/json fails on them.
func plainValue(v any, depth int) any {
	if depth > 4 {
		return nil
	}
	switch v := v.(type) {
	case string:
		return doctext.Line(v)
	case bool, int, int64, uint64:
		return v
	case float64:
		if v != v || v > 1e300 || v < -1e300 {
			return fmt.Sprint(v)
		}
		return v
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case fmt.Stringer: // a date or a time of day of TOML
		return v.String()
	case []any:
		var list []any
		for _, item := range v[:min(len(v), maxMetaItems)] {
			if item = plainValue(item, depth+1); item != nil {
				list = append(list, item)
			}
		}
		return list
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if item = plainValue(item, depth+1); item != nil && len(out) < maxMetaItems {
				out[doctext.Line(key)] = item
			}
		}
		return out
	}
	return nil
}

// languageCode returns the ISO 639-1 part of a language tag, empty without one. "en-GB" and "en_GB" both return
// "en". Three-letter codes and words such as "english" return "". The language chooses the stemmer, so a wrong one
// is worse than an unknown one.
func languageCode(tag string) string {
	code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	code, _, _ = strings.Cut(code, "_")
	if len(code) != 2 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return code
}
