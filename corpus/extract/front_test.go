package extract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Generators of sites write front matter in several notations. It is metadata, not text.
func TestFrontMatterNotations(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		title     string
		meta      map[string]any
		text      string
	}{
		{"TOML", "+++\ntitle = \"Gate\"\ndate = 2026-01-05\ndraft = false\n+++\n\nThe gate opens at 7.\n", "Gate",
			map[string]any{"date": "2026-01-05", "draft": false}, "The gate opens at 7."},
		{"TOML with tables, as Zola and Hugo write", "+++\r\ntitle = '''Gate'''\r\ndate = " +
			"2026-01-05T07:00:00+01:00\r\n" +
			"weight = 10\r\n[taxonomies]\r\ntags = [\r\n  \"a\",\r\n  \"b\", # last\r\n]\r\n+++\r\n# Opening\r\n",
			"Gate",
			map[string]any{"date": "2026-01-05T07:00:00+01:00", "weight": int64(10),
				"taxonomies": map[string]any{"tags": []any{"a", "b"}}}, "Opening"},
		{"TOML alone", "+++\ntitle = \"Gate\"\nlang = \"en-GB\"\nopens = 07:30:00\n+++\nAt 7.", "Gate",
			map[string]any{"opens": "07:30:00"}, "At 7."},
		{"YAML that ends the file", "---\ntitle: Gate\nday: 2026-01-05\n...\nAt 7.", "Gate",
			map[string]any{"day": "2026-01-05"}, "At 7."},
		{"blank lines above", "\n\n---\ntitle: Gate\n---\nAt 7.", "Gate", map[string]any{}, "At 7."},
		{"a colon in a title", "---\ntitle: Gate: hours\ntags:\n  - a\nby: Ann\n---\nAt 7.", "Gate: hours",
			map[string]any{"tags": []any{"a"}, "by": "Ann"}, "At 7."},
		{"a key twice", "---\ntitle: Gate\ntitle: Door\n---\nAt 7.", "Gate", map[string]any{}, "At 7."},
		{"reserved characters", "---\ntitle: @gate\nby: {{ author }}\nday: 7\n---\nAt 7.", "@gate",
			map[string]any{"by": "{{ author }}", "day": 7}, "At 7."},
		{"a line that is no entry", "---\nGate: a: b\nOpen it.\n---\nAt 7.", "Gate: a: b Open it.", map[string]any{},
			"Gate: a: b Open it.\n\nAt 7."},
		{"not front matter", "+++\nThree plus signs.\n+++\n\nText.", "", map[string]any{},
			"+++ Three plus signs. +++\n\nText."},
		{"a diff", "+++ b/a.go\n+x\n", "", map[string]any{}, "+++ b/a.go +x"},
	} {
		x := mustExtract(t, "a.md", tt.src)
		if x.Title != tt.title || x.Text != tt.text {
			t.Errorf("%s: title %q and text %q, want %q and %q", tt.name, x.Title, x.Text, tt.title, tt.text)
		}
		if diff := cmp.Diff(tt.meta, x.Meta); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}
