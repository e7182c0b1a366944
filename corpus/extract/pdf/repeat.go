package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	margin      = 0.12 // of the page's height, within which headers and footers are
	repeatShare = 0.4  // of the pages; headers may differ on left and right pages
	repeatMin   = 3    // pages
)

// dropRepeated removes headers, footers and page numbers. These are lines in the margins that recur at the same
// height, ignoring digits, on many pages (repeatShare). Watermarks, which are oblique, are matched anywhere on the
// page. A line is counted at its height and at one step above and below, since pages of a scan vary a little. A page
// counts once for each place.
func dropRepeated(sheets []sheet, pages int) {
	type place struct {
		text string
		at   int // height in steps of 1 % of the page
	}
	seen := map[place]int{}
	keys := func(p *sheet, l *line) []place {
		y := (l.y0 + l.y1) / 2 / p.height
		if y > margin && y < 1-margin && !p.oblique {
			return nil
		}
		text, at := lineShape(l.joinWords()), int(math.Round(float64(y)*100))
		return []place{{text, at}, {text, at + 1}, {text, at - 1}}
	}
	for i := range sheets {
		var here []place
		for j := range sheets[i].lines {
			for _, k := range keys(&sheets[i], &sheets[i].lines[j]) {
				if !slices.Contains(here, k) {
					here = append(here, k)
					seen[k]++
				}
			}
		}
	}
	limit := max(repeatMin, int(math.Ceil(repeatShare*float64(pages))))
	for i := range sheets {
		p := &sheets[i]
		p.lines = slices.DeleteFunc(p.lines, func(l line) bool {
			k := keys(p, &l)
			return len(k) > 0 && seen[k[0]] >= limit
		})
	}
}

// lineShape returns a line's text with each number replaced by "#", including a Roman number without other text.
// "Page 7 of 12" and "Page 8 of 12" have one shape, "page # of #".
func lineShape(s string) string {
	var b strings.Builder
	digits := false
	for _, r := range s {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(unicode.ToLower(r))
	}
	if t := b.String(); strings.Trim(t, "ivxlc") != "" || t == "" {
		return t
	}
	return "#"
}
