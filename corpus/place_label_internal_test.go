package corpus

import "testing"

func TestPlacesInSheetsAndFilesHaveNames(t *testing.T) {
	text := "Number | Amount\n7 | 20.00\n9 | 30.00\n\nfirst: 1\nsecond: 2\nthird: 3"
	table := Block{
		Kind: BlockTable, Headings: []string{"Book", "Invoices"}, Start: 0, End: 35,
		Cells: [][][2]int{{{0, 6}, {9, 15}}, {{16, 17}, {20, 25}}, {{26, 27}, {30, 35}}},
		Grid:  &Grid{Rows: []int{4, 12, 13}, Columns: []int{2, 28}},
	}
	lines := Block{Kind: BlockCode, Start: 37, End: len(text), Line: 40}
	for _, tt := range []struct {
		words, want string
		start, end  int
	}{
		{"20.00", "Invoices, cell AB12", 20, 25},
		{"7 | 20.00", "Invoices, row 12", 16, 25},
		{"7 | 20.00\n9 | 30.00", "Invoices, rows 12–13", 16, 35},
		{"first: 1", "line 40", 37, 45},
		{"second: 2\nthird: 3", "lines 41–42", 46, len(text)},
		{"first: 1\n", "line 40", 37, 46},
	} {
		if got := text[tt.start:tt.end]; got != tt.words {
			t.Fatalf("[%d, %d) holds %q, want %q", tt.start, tt.end, got, tt.words)
		}
		got := lines.lineLabel(text, tt.start, tt.end)
		if tt.end <= table.End {
			got = table.cellLabel(tt.start, tt.end)
		}
		if got != tt.want {
			t.Errorf("the place of %q = %q, want %q", tt.words, got, tt.want)
		}
	}
}
