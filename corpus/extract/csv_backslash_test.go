package extract

import (
	"context"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// Database programs escape quotes with a backslash.
func TestBackslashQuotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"from the first record", "\"No\",\"Title\",\"Time\"\n" +
			`"1","\"Seven\"","3:30"` + "\n" + `"2","\"Out, Here\"","3:18"`,
			"No | Title | Time\n1 | \"Seven\" | 3:30\n2 | \"Out, Here\" | 3:18"},
		{"a path with a backslash", `"Name","Folder"` + "\n" + `"a","C:\"` + "\n" +
			`"b","D:\"`, "Name | Folder\na | C:\\\nb | D:\\"},
		{"doubled quotes", `"Name","Said"` + "\n" + `"a","the ""best"" one"`, "Name | Said\na | the \"best\" one"},
	} {
		x, err := readCSV(context.Background(), tt.in, corpus.File{Filename: "a.csv"})
		if err != nil || strings.TrimSpace(x.Text) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, x.Text, err, tt.want)
		}
	}
}
