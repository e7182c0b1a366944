package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/text"
)

func TestStatementsOfIndentedLines(t *testing.T) {
	records := "{\n  \"3166-1\": [\n    {\n      \"alpha_2\": \"KH\",\n      \"name\": \"Cambodia\"\n    },\n" +
		"    {\n      \"alpha_2\": \"TL\",\n      \"name\": \"Timor-Leste\"\n    }\n  ]\n}\n"
	settings := "compression:\n    type: string\n    description: |\n        Type of compression. Defaults to lz4.\n" +
		"archive:\n    type: string\nrest: 1\nmore: 2\n"
	prose := "The roof is dry. The cellar is not.\n\nA list follows:\n\n- one\n- two\n"
	for _, test := range []struct {
		name, text string
		longest    int
		want       []string
	}{
		{"records", records, 100, []string{
			`{ "3166-1": [ { "alpha_2": "KH", "name": "Cambodia" },`, `{ "alpha_2": "TL", "name": "Timor-Leste" } ] }`,
		}},
		{"settings", settings, 120, []string{
			"compression: type: string description: | Type of compression. Defaults to lz4.", "archive: type: string",
			"rest: 1", "more: 2",
		}},
		{"settings taken apart", settings, 50, []string{
			"compression: type: string", "description: | Type of compression.", "Defaults to lz4.",
			"archive: type: string", "rest: 1", "more: 2",
		}},
		{"prose", prose, 400, []string{"The roof is dry.", "The cellar is not.", "A list follows:", "- one", "- two"}},
		{"rows", "Place | Height\nBen | 3\n | 4\n", 400, []string{"Place | Height", "Ben | 3", "| 4"}},
		{"the end of a tree", "    below: 1\nhead:\n    below: 2\n", 400, []string{"below: 1", "head: below: 2"}},
		{"code between prose", "So:\n\nif dry:\n\tgo()\n\nThe end. Über.", 400, []string{
			"So:", "if dry: go()", "The end.", "Über.",
		}},
		{"nothing", " \n\n", 400, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			runes := []rune(test.text)
			var got []string
			for _, r := range text.Statements(test.text, test.longest) {
				got = append(got, strings.Join(strings.Fields(string(runes[r[0]:r[1]])), " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the text is, its statements hold all of it that is no white space, in order.
func FuzzStatements(f *testing.F) {
	for _, seed := range []string{
		"a:\n  b: 1\n}\n", "\t\tx\n y\nz", "1.\n  Über\n\n|a\n b", "  " + strings.Repeat("\u00a0", 40) + "\n}",
		"  \u00a0\r\na\f",
	} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, s string, longest int) {
		s = strings.ToValidUTF8(s, "")
		runes, end := []rune(s), 0
		for _, r := range text.Statements(s, longest) {
			if r[0] < end || r[1] <= r[0] || r[1] > len(runes) {
				t.Fatalf("%v after %d, of %d runes", r, end, len(runes))
			}
			if strings.TrimSpace(string(runes[r[0]:r[1]])) == "" {
				t.Fatalf("%v has nothing in it", r)
			}
			if left := strings.TrimSpace(string(runes[end:r[0]])); left != "" {
				t.Fatalf("%q is in no statement", left)
			}
			end = r[1]
		}
		if left := strings.TrimSpace(string(runes[end:])); left != "" {
			t.Fatalf("%q is in no statement", left)
		}
	})
}
