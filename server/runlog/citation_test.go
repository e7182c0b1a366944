package runlog

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestCitationStyles(t *testing.T) {
	cites := []chat.Citation{
		{Number: 1, Title: "A", URL: "/d/a"}, {Number: 12, Title: "B\nb", URL: "https://b.example"},
	}
	for _, tt := range []struct{ name, in, want string }{
		{"neighbours", "x [1][12].", "x [Source 1][Source 12]."},
		{"a number that is no citation", "in [2024] he [1]", "in [2024] he [Source 1]"},
		{"a link", "[1](https://x) and [12]", "[1](https://x) and [Source 12]"},
		{"code in a line", "`a[1]` is [1]", "`a[1]` is [Source 1]"},
		{"a block of code", "```go\na[1]\n```\n[1]", "```go\na[1]\n```\n[Source 1]"},
		{"a block of code that is not closed", "[1]\n```\na[1]", "[Source 1]\n```\na[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := StyleSource.Mark(tt.in, cites); got != tt.want {
				t.Errorf("mark(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if got := PlaceName("Survey", "Survey", ", "); got != "Survey" {
		t.Errorf("PlaceName = %q, want the title once", got)
	}
	want := "x [Source 1]\n\nSources:\n[Source 1] A: http://h/d/a\n[Source 12] B b: https://b.example"
	if got := CitationStyle("").Apply("x [1]\n", cites, "http://h"); got != want {
		t.Errorf("apply = %q, want %q", got, want)
	}
	if got := StyleSource.Apply("No idea [1].", nil, "http://h"); got != "No idea [1]." {
		t.Errorf("without citations: %q, want %q", got, "No idea [1].")
	}
}

func TestSourceListLinksToPublishedDocuments(t *testing.T) {
	got := StyleSource.Apply(
		"x [1]", []chat.Citation{{Number: 1, Title: "Book", URL: "/d/a?c=r.1", SourceURL: "https://example.org/book"}},
		"http://h",
	)
	if want := "x [Source 1]\n\nSources:\n[Source 1] Book: https://example.org/book · http://h/d/a?c=r.1"; got != want {
		t.Errorf("apply = %q, want %q", got, want)
	}
}
