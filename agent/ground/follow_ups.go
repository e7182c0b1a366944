package ground

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

// FollowUps makes up to three questions from sections that were seen but not cited. No model is asked: a heading that
// was seen is sure to have an answer in the documents.
func FollowUps(all []Source, cited []int, question string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range cited {
		for _, src := range all {
			if src.N == n {
				seen[innermostHeading(src.Passage.Section)] = true
			}
		}
	}
	for _, src := range all {
		h := innermostHeading(src.Passage.Section)
		if h == "" || seen[h] || utf8.RuneCountInString(h) > 80 ||
			strings.Contains(strings.ToLower(question), strings.ToLower(h)) {
			continue
		}
		seen[h] = true
		if out = append(
			out, fmt.Sprintf("What does %s say about “%s”?", text.Shorten(src.Document.DisplayTitle(), 60), h),
		); len(out) == 3 {
			break
		}
	}
	return out
}

// innermostHeading is the innermost heading of a section.
func innermostHeading(section string) string {
	if i := strings.LastIndex(section, " › "); i >= 0 {
		section = section[i+len(" › "):]
	}
	return strings.TrimSpace(section)
}
