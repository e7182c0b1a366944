package text_test

import (
	"testing"

	"github.com/footnote/footnote/text"
)

func TestAQuotationReadsAsItsLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a sentence", []string{"The roof  is\nsound."}, "> The roof is sound."},
		{"an item with its number", []string{"3. The Landlord repairs the roof."},
			"> 3. The Landlord repairs the roof."},
		{"items in their order", []string{"3. One", "4. Two"}, "> 3. One  \n> 4. Two"},
		{"items out of order", []string{"3. One", "1. Two"}, "> 3. One  \n> 1\\. Two"},
		{"a number that begins no list within a paragraph", []string{"Steps:", "3. One"}, "> Steps:  \n> 3. One"},
		{"a number that would be drawn as another", []string{"03. May"}, "> 03\\. May"},
		{"bullets", []string{"Take:", "- a key", "* a saw"}, "> Take:  \n> - a key  \n> * a saw"},
		{"an item within an item", []string{"1. 2. x"}, "> 1. 2\\. x"},
		{"a number alone", []string{"2.", "x"}, "> 2\\.  \n> x"},
		{"a heading", []string{"# A line #1"}, "> \\# A line #1"},
		{"a line that would underline another", []string{"a", "---"}, "> a  \n> \\---"},
		{"signs that belong to nothing", []string{"a * b, *c, snake_case_, 5 $, a|b, x[i], [1a], C:\\temp, ~x, `y"},
			"> a * b, *c, snake_case_, 5 $, a|b, x[i], [1a], C:\\temp, ~x, `y"},
		{"signs that belong together", []string{"*a* _b_ ~c~ `d` x*"}, "> \\*a\\* \\_b\\_ \\~c\\~ \\`d\\` x\\*"},
		{"what looks like a footnote", []string{"See [1], [^2] and [Source 3]."},
			"> See \\[1], \\[^2] and \\[Source 3]."},
		{"links, tags and entities", []string{"[a](b) <b>c</b> &amp; a < b & c"},
			"> \\[a](b) \\<b>c\\</b> \\&amp; a < b & c"},
		{"formulas and money",
			[]string{`\( *a* \) and $x_1$ or $5 and $6, $HOME`},
			`> \( *a* \) and $x_1$ or $5 and $6, $HOME`},
		{"dollars of two lines", []string{"a $x", "b$ c"}, "> a \\$x  \n> b\\$ c"},
		{"a mail that is quoted", []string{"> Hello", ">> 1. there"}, "> > Hello  \n> >> 1. there"},
		{"a mail that is quoted in part", []string{"> Hello", "there"}, "> \\> Hello  \n> there"},
	} {
		if got := text.QuoteMarkdown(tt.lines); got != tt.want {
			t.Errorf("%s: QuoteMarkdown(%q) = %q, want %q", tt.name, tt.lines, got, tt.want)
		}
	}
}
