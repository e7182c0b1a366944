package offline

import (
	"slices"
	"strings"
	"testing"
)

// tableOf is a library of one table.
func tableOf(file, section string, rows ...string) []paper {
	return []paper{{"t1", file, file, []passage{{Section: section, Text: strings.Join(rows, "\n")}}}}
}

// A row is found by its cells and by the heads of its columns, and is quoted below the head, without its neighbours.
func TestTheRowThatMatchesIsTheQuote(t *testing.T) {
	members := tableOf("members.csv", "", "Name | City | Joined | Boat", "Anna Kovács | Budapest | 2014 | Heron",
		"Béla | Győr | 2019 | Otter", "Chloé Dubois | Lyon | 2021 |", "Dónal Ó Briain | Cork | 2008 | Heron")
	invoices := tableOf("rechnungen.csv", "", "Nr | Kunde | Betrag | bezahlt", "1001 | Möbel Krüger | 1.250,00 | ja",
		"1002 | Bäckerei Süß | 4 500,00 | nein", "1003 | Autohaus Wöhr | 980,50 | ja")
	for _, tt := range []struct {
		name, question string
		library        []paper
		quote          string
	}{
		{"a name", "Where does Béla live?", members, "> | Name | City | Joined | Boat |\n> |---|---|---|---|\n" +
			"> | Béla | Győr | 2019 | Otter [1] |"},
		{"a name and a column's head", "When did Chloé join?", members, "> | Name | City | Joined | Boat |\n" +
			"> |---|---|---|---|\n> | Chloé Dubois | Lyon | 2021 | [1] |"},
		{"a field that had a line break", "Welchen Betrag schuldet die Bäckerei Süß?", invoices,
			"> | Nr | Kunde | Betrag | bezahlt |\n> |---|---|---|---|\n> | 1002 | Bäckerei Süß | 4 500,00 | nein " +
				"[1] |"},
		{"the rows of a comparison", "Compare the boats of Anna and Béla.", members, "> | Name | City | Joined | " +
			"Boat " +
			"|\n> |---|---|---|---|\n> | Anna Kovács | Budapest | 2014 | Heron |\n> | Béla | Győr | 2019 | Otter " +
			"[1] |"},
		{"rows that stand apart", "Who rows the Heron?", members, "> | Name | City | Joined | Boat |\n" +
			"> |---|---|---|---|\n> | Anna Kovács | Budapest | 2014 | Heron [1] |\n" +
			"> | Dónal Ó Briain | Cork | 2008 | Heron [1] |"},
		{"a table that goes on from another passage", "Which boat does Zoë row?",
			tableOf("members.csv", "Members › Name | City | Boat", "Yann Roux | Brest | Grebe", "Zoë Blum | Basel "+
				"| Coot"),
			"> | Name | City | Boat |\n> |---|---|---|\n> | Zoë Blum | Basel | Coot [1] |"},
		{"a bar in a cell", "Which command does Zoë run?", tableOf("c.csv", "", "Who | Command", "Yann | ls",
			"Zoë | cat log.txt|wc -l"), "> | Who | Command |\n> |---|---|\n> | Zoë | cat log.txt\\|wc -l [1] |"},
		{"a table of labels, whose first row states something", "How high is the rent?",
			tableOf("flat.csv", "", "Rent | £1,150", "Deposit | £2,300", "Notice | 3 months"), "> Rent | £1,150 [1]"},
		{"the same without numbers", "Who is the landlord?",
			tableOf("flat.csv", "", "Landlord | Harrow Housing Trust", "Tenant | Jonas Weber"),
			"> Landlord | Harrow Housing Trust [1]"},
		{"a row of numbers", "What was the depth in 1931?",
			tableOf("log.csv", "", "Year | Depth", "1930 | 88", "1931 | 3,412", "1932 | 97"),
			"> | Year | Depth |\n> |---|---|\n> | 1931 | 3,412 [1] |"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := askIn(t, tt.library, tt.question)
			if _, quotes, _ := strings.Cut(got, "\n\n"); quotes != tt.quote {
				t.Errorf("%s:\n%s\nwant\n%s", tt.question, quotes, tt.quote)
			}
		})
	}
}

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name, section, in string
		want              []string // the units
	}{
		{"rows are no sentences", "", "Prices of May.\n\nFlat | Rent\n1. OG links. Hinterhaus | 815,50",
			[]string{"Prices of May.", "Flat | Rent", "1. OG links. Hinterhaus | 815,50"}},
		{"empty cells", "", "A | B | C\n | 2 | \n3 |  | 4", []string{"A | B | C", " | 2 |", "3 |  | 4"}},
		{"two tables", "", "A | B\n1 | 2\n\nC | D\n3 | 4", []string{"A | B", "1 | 2", "C | D", "3 | 4"}},
		{"a bar in a sentence", "", "Call 0800 | 555 now. We are open.", []string{"Call 0800 | 555 " +
			"now.", "We are open."}},
		{"the last row of a table", "Fees › A | B", "1 | 2\n\nThat is all.", []string{"1 | 2", "That is all."}},
	} {
		p := pileOf([]source{{passage: passage{N: 1, Text: tt.in, Section: tt.section}}})
		var got []string
		for _, u := range p.units {
			got = append(got, u.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: units %q, want %q", tt.name, got, tt.want)
		}
	}
}
