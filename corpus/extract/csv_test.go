package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
)

// The situations are those of the sniffers of Python (csv.Sniffer), DuckDB (data/csv) and CleverCSV.
func TestCSVDialect(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"commas", "a,b\n1,2\n3,4\n", []string{"table: a | b\n1 | 2\n3 | 4 [a;b] [1;2] [3;4]"}},
		{"pipes", "id|city|pop\n1|Lowtown|4100\n2|Hightown|920\n", []string{
			"table: id | city | pop\n1 | Lowtown | 4100\n2 | Hightown | 920 [id;city;pop] [1;Lowtown;4100]" +
				" [2;Hightown;920]"}},
		{"tabs", "name\tnote\nAnn\tsees, hears; and tells\nBob\t-\n", []string{
			"table: name | note\nAnn | sees, hears; and tells\nBob | - [name;note] [Ann;sees, hears; and tells]" +
				" [Bob;-]"}},
		{"decimal commas", "Artikel;Preis\nHammer;12,50\nZange;9,90\n", []string{
			"table: Artikel | Preis\nHammer | 12,50\nZange | 9,90 [Artikel;Preis] [Hammer;12,50] [Zange;9,90]"}},
		{"numbers with decimal commas alone", "1,5;2,5\n3,5;4,5\n", []string{
			"table: 1,5 | 2,5\n3,5 | 4,5 [1,5;2,5] [3,5;4,5]"}},
		{"a list within a field", "id,name,tags\n1,Ann,a|b|c\n2,Bob,d|e|f\n", []string{
			"table: id | name | tags\n1 | Ann | a|b|c\n2 | Bob | d|e|f [id;name;tags] [1;Ann;a|b|c] [2;Bob;d|e|f]"}},
		{"a declared delimiter", "sep=;\r\nArtikel;Preis\r\nHammer;12,50\r\n", []string{
			"table: Artikel | Preis\nHammer | 12,50 [Artikel;Preis] [Hammer;12,50]"}},
		{"a declared delimiter in quotes", "\"sep=|\"\nx,y|z\n1,2|3\n", []string{
			"table: x,y | z\n1,2 | 3 [x,y;z] [1,2;3]"}},
		{"lines above the header", "Statement\nAccount:,DE02\nPeriod:,January\n\nDate,Payee,Amount\n" +
			"03.01.2026,Cafe,-12.40\n" +
			"09.01.2026,Works,-61.00\n", []string{
			"paragraph: Statement", "paragraph: Account: DE02", "paragraph: Period: January",
			"table: Date | Payee | Amount\n03.01.2026 | Cafe | -12.40\n09.01.2026 | Works | -61.00" +
				" [Date;Payee;Amount] [03.01.2026;Cafe;-12.40] [09.01.2026;Works;-61.00]"}},
		{"lines above the header without a blank one", "Statement\nAccount:;DE02\nDate;Payee;Amount\n1.1.;Cafe;2\n" +
			"2.1.;Bar;3\n", []string{
			"paragraph: Statement", "paragraph: Account: DE02",
			"table: Date | Payee | Amount\n1.1. | Cafe | 2\n2.1. | Bar | 3 [Date;Payee;Amount] [1.1.;Cafe;2]" +
				" [2.1.;Bar;3]"}},
		{"lines above padded by a spreadsheet", "Statement,,\n,,\nDate,Payee,Amount\n1.1.,Cafe,2\n2.1.,Bar,3\n" +
			"", []string{
			"paragraph: Statement",
			"table: Date | Payee | Amount\n1.1. | Cafe | 2\n2.1. | Bar | 3 [Date;Payee;Amount] [1.1.;Cafe;2]" +
				" [2.1.;Bar;3]"}},
		{"comments above", "# made by sensor 7\n# units: mm\nday,rain\n1,4\n2,5\n", []string{
			"paragraph: # made by sensor 7", "paragraph: # units: mm", "table: day | rain\n1 | 4\n" +
				"2 | 5 [day;rain] [1;4] [2;5]"}},
		{"delimiters at the end of some records", "a,b,c\n1,2,3,\n4,5,6\n7,8,9,,\n", []string{
			"table: a | b | c\n1 | 2 | 3\n4 | 5 | 6\n7 | 8 | 9 [a;b;c] [1;2;3] [4;5;6] [7;8;9]"}},
		{"delimiters at the end of all records", "a;b;\n1;2;\n3;4;\n", []string{
			"table: a | b\n1 | 2\n3 | 4 [a;b] [1;2] [3;4]"}},
		{"empty fields at the end are missing", "a,b,c\n1,2\n3,4\n", []string{
			"table: a | b | c\n1 | 2\n3 | 4 [a;b;c] [1;2] [3;4]"}},
		{"a column that is mostly empty", "a,b,c\n1,2,\n3,4,\n", []string{
			"table: a | b | c\n1 | 2 | \n3 | 4 |  [a;b;c] [1;2;] [3;4;]"}},
		{"row names without a header", "mpg,cyl\nMazda,21.0,6\nDatsun,22.8,4\n", []string{
			"table:  | mpg | cyl\nMazda | 21.0 | 6\nDatsun | 22.8 | 4 [;mpg;cyl] [Mazda;21.0;6] [Datsun;22.8;4]"}},
		{"quotes", "name,said\nAnn,\"Yes, \"\"now\"\".\nReally\"\nBob, \"no, \\\"never\\\"\" \nEve,\"C:\\\"\n" +
			"Joe,\"ends \\\"\"\n", []string{
			"table: name | said\nAnn | Yes, \"now\". Really\nBob | no, \"never\"\nEve | C:\\\nJoe | ends \"" +
				" [name;said] [Ann;Yes, \"now\". Really] [Bob;no, \"never\"] [Eve;C:\\] [Joe;ends \"]"}},
		{"single quotes inside", "size,price\n\"5\" pipe,3\n6\" pipe,4\n\"Say \"no\" now, twice\",5\n", []string{
			"table: size | price\n\"5\" pipe | 3\n6\" pipe | 4\nSay \"no\" now, twice | 5" +
				" [size;price] [\"5\" pipe;3] [6\" pipe;4] [Say \"no\" now, twice;5]"}},
		{"a quote without an end", "a,b\n\"1,2\n3,4\n", []string{
			"table: a | b\n\"1 | 2\n3 | 4 [a;b] [\"1;2] [3;4]"}},
		{"several tables", "name,age\nAnn,30\nBob,40\n\ncity,area\nBath,29\nYork,34\n", []string{
			"table: name | age\nAnn | 30\nBob | 40 [name;age] [Ann;30] [Bob;40]",
			"table: city | area\nBath | 29\nYork | 34 [city;area] [Bath;29] [York;34]"}},
		{"several tables with titles", "Staff\nname,age\nAnn,30\nBob,40\n\nTowns\ncity,area,river\nBath,29,Avon\n" +
			"York,34,Ouse\n", []string{
			"paragraph: Staff", "table: name | age\nAnn | 30\nBob | 40 [name;age] [Ann;30] [Bob;40]",
			"paragraph: Towns",
			"table: city | area | river\nBath | 29 | Avon\nYork | 34 | Ouse [city;area;river] [Bath;29;Avon]" +
				" [York;34;Ouse]"}},
		{"blank lines between records", "a,b\n\n1,2\n\n3,4\n", []string{"table: a | b\n1 | 2\n" +
			"3 | 4 [a;b] [1;2] [3;4]"}},
		{"a total below a blank line", "a,b\nx,2\ny,3\n\nTotal,5\n", []string{
			"table: a | b\nx | 2\ny | 3\nTotal | 5 [a;b] [x;2] [y;3] [Total;5]"}},
		{"a source below", "a,b,c\nx,2,1\ny,3,1\n\nSource: the town\n", []string{
			"table: a | b | c\nx | 2 | 1\ny | 3 | 1 [a;b;c] [x;2;1] [y;3;1]", "paragraph: Source: the town"}},
		{"one record", "a;b;c", []string{"table: a | b | c [a;b;c]"}},
		{"no table", "Ann\nBob\n", []string{"paragraph: Ann\nBob"}},
	} {
		got := describe(mustExtract(t, "a.csv", tt.src))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// Users of other programs reported texts like these, because the program chose another dialect.
func TestDialectIsChosen(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      string // the delimiter and the quote
		columns   int
	}{
		{"lists between semicolons", "id;data;cost;group;sub\n1;False;62.25;['345'];['10']\n" +
			"4;False;46.50;['112', '112'];['765', '766']\n5;False;237.00;['468'];['ALL']\n", `;"`, 5},
		{"a space after commas", "Harry's, Hill, IL, 2/1/03\nShark City, Glen, IL, 12/28/02\n", `,"`, 4},
		{"numbers with exponents", "2147483648;43.0e12;17;abc\n147483648;43.0e2;17;abc\n", `;"`, 4},
		{"a last column that is empty", "aaa\tbbb\r\nAAA\t\r\nBBB\t\r\n", "\t\"", 2},
		{"single quotes around some cells", "'a'|'b'|'c'\r\n'd'|e|f\r\n", "|'", 3},
		{"a tab in single quotes", "1\tA\tb\n2\tA\t'b\tc'\n3\tA\tb\n", "\t'", 3},
		{"a doubled single quote", "id;note\n1;'it''s late; go'\n2;'closed'\n", ";'", 2},
		{"an escaped single quote", "1|A|b\n2|A|'b\\'2\\'b'\n3|A|b\n", "|'", 3},
		{"apostrophes", "town,rain\n's-Hertogenbosch,4\nrock 'n' roll,5\n't Zand,6\n", `,"`, 2},
		{"lines in a cell", "id;note\n1;\"a, b,\nc, d\ne\"\n2;\"f, g,\nh, i\nj\"\n", `;"`, 2},
		{"shapes between semicolons", "id;name;shape\n1;a;LINE(1 2, 3 4, 5 6)\n2;b;LINE(1 2, 3 4, 5 6)\n", `;"`, 3},
		{"commas in names of columns", "SKU (new, empty);Name (100, or less);Brand (old, known)\n" +
			"15;Santa 3;Burgues\n16;Santa 4;Burgues\n", `;"`, 3},
		{"a comma in most records", "08/01;A;-21.419,06\n12/01;A;37.996,97\n15/01;A;-116\n04/01;A;-249\n", `;"`, 3},
		{"more commas than semicolons", "Ann ; reads,writes,sings,\n\nBob ; reads,writes,sings,\n\nEve ; reads\n",
			`;"`, 2},
		{"decimal commas between tabs", "X\tY\tZ\n120,5\t50,3\t2,35\n", "\t\"", 3},
		{"grouped digits between tabs", "a\tb\tc\td\n1\tx\t1,234,567\ty\n", "\t\"", 4},
		{"padded cells", "id   ;name      ;town\n1    ;Ann       ;Bath\n", `;"`, 3},
		{"times", "bytearray(b'x'),20:53:06,2019-09-01T19:28:21\nbytearray(b'y'),19:33:15,2005-02-15T19:10:31\n",
			`,"`, 3},
		{"a list in a cell", "id,text\n1,\"* one, two\n* three\n\n* four\"\n2,\"* five\n* six\"\n", `,"`, 2},
		{"a total of another width", "a, b, c, d\n1, 2, 3, 4\nmore\n1, 2, 3, 4\n", `,"`, 4},
		{"carets", "id^name^town\n1^Ann^Bath\n2^Bob^York\n", `^"`, 3},
		{"tildes", "id~name, all~town\n1~Moss, Ann~Bath\n2~Bob~York\n", `~"`, 3},
		{"numbers with a sign", "+49 30 1234\n+44 20 5678\n", "\x00\x00", 0},
		{"a term in each line", "5+3\n2+4\n", "\x00\x00", 0},
	} {
		d, _ := sniffDialect(tt.src)
		columns := mainWidth(sampleSections(csvParser{src: tt.src, csvDialect: d}))
		if got := string([]byte{d.delimiter, d.quote}); got != tt.want || d.delimiter != 0 && columns != tt.columns {
			t.Errorf("%s: %q and %d columns, want %q and %d", tt.name, got, columns, tt.want, tt.columns)
		}
	}
}

// No text is lost, whatever the quotes and delimiters.
func TestCSVKeepsWords(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("\"a\" b,", 5000), strings.Repeat("\"x,1\n", 5000), "a,b\n" + strings.Repeat("word,\n\n", 3000),
		strings.Repeat("a,", csvColumns+5) + "\nend", "p,q\n" + strings.Repeat("r,s\n", csvRows*3) + "\nt,u\n",
	} {
		x := mustExtract(t, "a.csv", src)
		for _, word := range strings.FieldsFunc(src, func(r rune) bool { return strings.ContainsRune("\n,\" ", r) }) {
			if !strings.Contains(x.Text, word) {
				t.Errorf("%.40q lost %q", src, word)
				break
			}
		}
	}
}

func BenchmarkCSV(b *testing.B) {
	var src strings.Builder
	src.WriteString("number,customer,note,amount\n")
	for i := range 40_000 {
		fmt.Fprintf(&src, "%d,Customer %d,\"paid, in part\",%d.50\n", i, i%97, i*7)
	}
	b.SetBytes(int64(src.Len()))
	for b.Loop() {
		if _, err := readCSV(b.Context(), src.String(), corpus.File{}); err != nil {
			b.Fatal(err)
		}
	}
}

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
