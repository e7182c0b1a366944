package corpus

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestDatesNarrowAFilter(t *testing.T) {
	for _, tt := range []struct {
		name           string
		parts          [][2]string // from, to
		from, to, says string
	}{
		{"a year", [][2]string{{"2024", "2024"}}, "2024", "2024", ""},
		{"nothing", [][2]string{{"", ""}}, "", "", ""},
		{"open ends", [][2]string{{"2024-05", ""}, {"", "2025"}}, "2024-05", "2025", ""},
		{"a month of its year, the year first", [][2]string{{"2024", "2024"}, {"2024-05", "2024-05"}}, "2024-05",
			"2024-05", ""},
		{"a month of its year, the month first", [][2]string{{"2024-05", "2024-05"}, {"2024", "2024"}}, "2024-05",
			"2024-05", ""},
		{"a day to the month that holds it", [][2]string{{"2024-05-31", "2024-05"}}, "2024-05-31", "2024-05", ""},
		{"the narrower ends", [][2]string{{"2019", "2025-03"}, {"2020-02", "2024"}}, "2020-02", "2024", ""},
		{"a leap day", [][2]string{{"2024-02-29", ""}}, "2024-02-29", "", ""},
		{"no leap day", [][2]string{{"2023-02-29", ""}}, "", "",
			`when must be a date like 2026-01-31, 2026-01 or 2026, not "2023-02-29".`},
		{"a month 13", [][2]string{{"", "2023-13"}}, "", "", `not "2023-13"`},
		{"words", [][2]string{{"last week", ""}}, "", "", `not "last week"`},
		{"a year of two figures", [][2]string{{"24", ""}}, "", "", `not "24"`},
		{"from after to", [][2]string{{"2025", ""}, {"", "2024-12-31"}}, "", "",
			"No date is both 2025 or later and 2024-12-31 or earlier."},
		{"two years", [][2]string{{"2024", "2024"}, {"2025", "2025"}}, "", "", "2025 or later and 2024 or earlier"},
		{"a month after the month", [][2]string{{"2024-06-01", "2024-05"}}, "", "", "No date"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f Filter
			var err error
			for _, p := range tt.parts {
				if err = f.Dated("when", p[0], p[1]); err != nil {
					break
				}
			}
			if tt.says != "" {
				if err == nil || chat.CodeOf(err) != chat.CodeInvalid ||
					!strings.Contains(chat.MessageOf(err), tt.says) {
					t.Errorf("Dated(%q) fails with %v, want %q", tt.parts, err, tt.says)
				}
			} else if err != nil || f.DatedFrom != tt.from || f.DatedTo != tt.to {
				t.Errorf("Dated(%q) = %q to %q, %v; want %q to %q", tt.parts, f.DatedFrom, f.DatedTo, err,
					tt.from, tt.to)
			}
		})
	}
}
