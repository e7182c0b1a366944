package offline

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// Frames are not quoted: a salutation, a closing, a title.
func TestFramesAreNotQuoted(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // quotable units
	}{
		{"a letter", "Dear Judith,\n\nYour lease ends in June.\n\nKind regards,\nTom Ashdown\n\nAshdown & Sons, Leeds",
			[]string{"Your lease ends in June."}},
		{"a title", "Fern Hill Allotment Society\nMinutes of the committee\n\nThe shed is sold.",
			[]string{"The shed is sold."}},
		{"in German", "Sehr geehrte Frau Weiß,\n\ndie Miete steigt.\n\nMit freundlichen Grüßen",
			[]string{"die Miete steigt."}},
		{"a line with a figure", "Deposit of £970\n\nIt is due now.", []string{"Deposit of £970", "It is due now."}},
		{"a field", "Chair: Ruth Okafor\n\nAll agreed.", []string{"Chair: Ruth Okafor", "All agreed."}},
		{"a command", "git commit --amend\n\nIt mends the last one.",
			[]string{"git commit --amend", "It mends the last one."}},
		{"a list", "- Bread of yesterday\n\n- Butter and jam\n\nBoth are cheap.",
			[]string{"- Bread of yesterday", "- Butter and jam", "Both are cheap."}},
		{"lines of a long block", "Apples\nPears cost little\nPlums are out\nGrapes are in season",
			[]string{"Apples\nPears cost little", "Plums are out", "Grapes are in season"}},
		{"titles in capitals", "All is well here.\n\n3. HOW IT IS TAKEN\n\nTake it twice a day.",
			[]string{"All is well here.", "Take it twice a day."}},
		{"a notice in capitals", "KEEP OFF THE GRASS\n\nDOGS ARE NOT ALLOWED HERE",
			[]string{"KEEP OFF THE GRASS", "DOGS ARE NOT ALLOWED HERE"}},
		{"a notice without full stops", "Dogs must be kept on a lead\n\nThe library closes at noon",
			[]string{"Dogs must be kept on a lead", "The library closes at noon"}},
		{"a statement in the middle", "All is well here.\n\nThe library closes at noon\n\nGuests sign in.",
			[]string{"All is well here.", "The library closes at noon", "Guests sign in."}},
		{"a mail below another", "All is well here.\n\nDear Tom,\n\nGuests sign in.",
			[]string{"All is well here.", "Guests sign in."}},
		{"another script", "图书馆从明天起关门两个星期。\n\n请大家按时还书", []string{"图书馆从明天起关门两个星期。"}},
	} {
		var got []string
		for _, u := range poolOfText(tt.in).units {
			if u.quotable() {
				got = append(got, u.text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q may be quoted, want %q", tt.name, got, tt.want)
		}
	}
}

// An item of a list is quoted with its number, below the list's lead.
func TestListItemIsQuotedWithLead(t *testing.T) {
	lease := []paper{{"d1", "lease.txt", "Lease", []passage{{Section: "Duties", Text: "The Tenant shall:\n\n" +
		"(a) pay the rent on the first day of each month, without deduction;\n\n" +
		"(b) keep the windows clean at least once a month, inside and outside;\n\n" +
		"(c) keep no animals but a cage bird or an aquarium of moderate size.\n\n" +
		"The Landlord insures the building."}}}}
	answer, _ := askIn(t, lease, "May animals be kept, an aquarium say?")
	first, _, _ := strings.Cut(answer[strings.Index(answer, ">"):], "\n\n")
	want := "> The Tenant shall:\n>\n> (c) keep no animals but a cage bird or an aquarium of moderate size. [1]"
	if first != want {
		t.Errorf("the first quote is %q, want %q", first, want)
	}
	for _, between := range []string{
		"## Forbidden animals\n", "The following is forbidden.\n", "\nMr. Smith decides.\n\n",
	} {
		p := poolOfText("These animals are allowed:\n- dogs of any size\n" + between + "- parrots and snakes")
		if got := p.leadOf(len(p.units) - 1); got != -1 {
			t.Errorf("behind %q the parrots are introduced by %q, want by nothing", between, p.units[got].text)
		}
	}
	p := poolOfText("The Tenant shall:\n\n(a) pay the rent. It is due on the first day;\n\n(c) keep no animals.\n\n" +
		"The Landlord insures the building.")
	for i, u := range p.units {
		want := -1
		if u.text[0] == '(' {
			want = 0
		}
		if got := p.leadOf(i); got != want {
			t.Errorf("lead of %q = %d, want %d", u.text, got, want)
		}
	}
}

// The lead of a list is written once.
func TestListLeadIsWrittenOnce(t *testing.T) {
	p := poolOfText("The Tenant shall:\n\n(a) pay the rent;\n\n(b) air the rooms;\n\n(c) keep no animals.")
	quoteOf := func(i int) quote {
		u := p.units[i]
		return quote{start: u.start, end: u.end, first: i, last: i}
	}
	for name, quotes := range map[string][]quote{
		"two items": {quoteOf(1), quoteOf(3)}, "the lead and an item": {quoteOf(0), quoteOf(3)},
	} {
		if got := strings.Join(p.blocks(quotes, nil), "\n"); strings.Count(got, "> The Tenant shall") != 1 {
			t.Errorf("%s are written %q, want the lead once", name, got)
		}
	}
}

// A refusal names the missing words, the nearest headings, and the option to add a document.
func TestRefusalSuggestsNextSteps(t *testing.T) {
	answer, _ := ask(t, "Which helicopter flies to Madagascar?")
	for _, want := range []string{
		english.Refusal, "I searched for “", " If the document that says it is missing here, add it and ask again.",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("the refusal is %q, want %q in it", answer, want)
		}
	}
	near := turn{question: "Which voucher pays the helicopter?", results: []result{{
		tool: "search_documents", input: map[string]any{"query": "voucher"}, out: output{Documents: []document{{
			DocID: "d", Filename: "staff.md",
			Passages: []passage{{N: 1, Section: "Pay › Lunch", Text: "A voucher is one."}},
		}}},
	}}}
	said := refusalAdvice(near, composed(t, near))
	if want := " Nothing there has “helicopter”. The nearest headings are “Lunch” in staff.md." +
		" If the document that says it is missing here, add it and ask again."; said != want {
		t.Errorf("the way on is %q, want %q", said, want)
	}
}

// composed returns the composed answer of a turn.
func composed(t *testing.T, of turn) answer {
	t.Helper()
	a, err := compose(t.Context(), of, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// poolOfText returns the pool of a text as the only passage.
func poolOfText(s string) pool { return newPool([]source{{passage: passage{N: 1, Text: s}}}) }

func TestLabelBelongsToItsValue(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"a day in a diary", "5 nov\nGarlic in, 28 cloves. Water is off now.",
			[]string{"5 nov\nGarlic in, 28 cloves.", "Water is off now."}},
		{"a number in the same line", "Rule 3. The gate must be locked.", []string{"Rule 3. The gate must be locked."}},
		{"a heading above an empty line", "Lost cards\n\nCall us at once.", []string{"Lost cards", "Call us at once."}},
		{"a label of three words", "Everybody pays it.\nWhat it costs\nNine pounds a month.",
			[]string{"Everybody pays it.", "What it costs", "Nine pounds a month."}},
		{"only the nearest", "Nov.\n5 nov\nGarlic in.", []string{"Nov.\n5 nov", "Garlic in."}},
	} {
		var got []string
		for _, u := range poolOfText(tt.in).units {
			got = append(got, u.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: units %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAdjacentSentencesFormOneQuote(t *testing.T) {
	p := poolOfText("Shift to the smallest sprocket.\n\nTurn the bicycle over.\n\nOpen the axle with a key.\n\n" +
		"Lift the wheel out.\n\nTighten the axle again.")
	var units []scored
	for i, score := range []float64{0.5, 0.8, 0.7, 0.6, 0.9} {
		units = append(units, scored{unit: p.units[i], at: i, score: score})
	}
	var got [][2]int
	for _, q := range choose(p, units, nil) {
		got = append(got, [2]int{q.first, q.last})
	}
	if want := [][2]int{{3, 4}, {0, 2}}; !slices.Equal(got, want) {
		t.Errorf("quotes of the units %v, want %v", got, want)
	}
}

// A record is quoted as a whole, line by line, and alone.
func TestRecordIsQuotedAsWhole(t *testing.T) {
	people := passage{N: 1, Text: "- name: Ben\n  height: 3\n- name: Ada\n  height: 4\n  of: 5\n- name: Eve"}
	q := turn{question: "How is the height of Ada?", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{people}}},
	}}}}
	a, err := compose(t.Context(), q, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "> - name: Ada  \n> height: 4  \n> of: 5 "; !strings.Contains(a.text, want) {
		t.Errorf("the answer is %q, want %q in it", a.text, want)
	}
}

// If the comparison of embeddings or the reader fails, for example by a timeout, the lexical scores decide.
func TestFailedComparisonFallsBackToLexicalScores(t *testing.T) {
	q := turn{question: "When was the boiler installed?", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{
			{N: 1, Text: "The boiler was installed in 2016. It was serviced in May."},
			{N: 2, Text: "The garden has a pond."},
		}}},
	}}}}
	want, err := compose(t.Context(), q, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fails := func(context.Context, string, []string) ([]float64, error) { return nil, errors.New("it took too long") }
	for name, compare := range map[string][2]func(context.Context, string, []string) ([]float64, error){
		"the comparison": {fails, nil}, "the reader": {nil, fails},
	} {
		got, err := compose(t.Context(), q, compare[0], compare[1])
		if err != nil || got.text != want.text || got.sure != want.sure || want.finding != answers {
			t.Errorf("without %s: got %q, %v and %v, want %q, %v and no error",
				name, got.text, got.sure, err, want.text, want.sure)
		}
	}
}

// tableOf returns a library of one table.
func tableOf(file, section string, rows ...string) []paper {
	return []paper{{"t1", file, file, []passage{{Section: section, Text: strings.Join(rows, "\n")}}}}
}

// A row is found by its cells and column heads, and is quoted below the head, without its neighbours.
func TestMatchingRowIsQuoted(t *testing.T) {
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

func TestTablesAreQuoted(t *testing.T) {
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
		p := newPool([]source{{passage: passage{N: 1, Text: tt.in, Section: tt.section}}})
		var got []string
		for _, u := range p.units {
			got = append(got, u.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: units %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A question without spaces is segmented by the documents' words; the rest of it is a missing word.
func TestQuestionWithoutSpacesIsSegmented(t *testing.T) {
	for _, tt := range []struct {
		name, found, question string
		has, lacks            []string
	}{
		{"Japanese", "商品名 | 単価\n万年筆 | 12,000円", "万年筆の単価はいくらですか。", []string{"万年筆", "単価"}, nil},
		{"a Japanese word that nothing has", "商品名 | 単価\n万年筆 | 12,000円", "万年筆の製造元はどこですか。",
			[]string{"万年筆"}, []string{"製造元"}},
		{"hiragana inside a word", "商品名 | 単価\n消しゴム | 60円", "消しゴムの単価は？", []string{"消しゴム", "単価"}, nil},
		{"a name in hiragana", "商品名 | 単価\nりんご | 100円", "みかんの単価は？", []string{"単価"}, []string{"みかん"}},
		{"one sign with its particle", "水車は欅の木の車輪を持つ。", "水車は何の木ですか", []string{"水車", "の木"}, nil},
		{"one sign that nothing has", "水車は欅の木で作られている。", "水車は何色ですか", []string{"水車"}, []string{"色"}},
		{"Chinese", "姓名 | 部门\n张伟 | 研发部", "张伟在哪个部门工作？", []string{"张伟", "部门"}, []string{"工作"}},
		{"Korean endings", "이름 | 내선번호\n박지훈 | 412", "박지훈의 내선번호는 몇 번입니까?",
			[]string{"박지훈", "내선번호"}, nil},
		{"Thai", "สินค้า | ราคา\nกะปิ | 60 บาท", "กะปิราคาเท่าไร", []string{"กะปิ", "ราคา"}, nil},
		{"a Thai word that nothing has", "สินค้า | ราคา\nกะปิ | 60 บาท", "นมสดราคาเท่าไร", []string{"ราคา"},
			[]string{"นมสด"}},
		{"a longer word than the documents have", "電話番号：八〇二一", "電話番号一覧", []string{"電話番号"},
			[]string{"一覧"}},
	} {
		var has, lacks []string
		for _, w := range poolOfText(tt.found).stretches(tt.question) {
			if len(w.terms) > 0 {
				has = append(has, w.typed)
			} else {
				lacks = append(lacks, w.typed)
			}
		}
		if !slices.Equal(has, tt.has) || !slices.Equal(lacks, tt.lacks) {
			t.Errorf(
				"%s: of %q found %q and not %q, want %q and %q",
				tt.name,
				tt.question,
				has,
				lacks,
				tt.has,
				tt.lacks,
			)
		}
	}
}

func TestRowsAreFoundInScriptsWithoutSpaces(t *testing.T) {
	stock := tableOf("在庫.csv", "", "商品名 | 在庫数 | 単価 | 保管場所", "赤鉛筆 | 120 | 80円 | 第一倉庫", "消しゴム | 45 | 60円 | 第二倉庫",
		"万年筆 | 8 | 12,000円 | 本店金庫")
	staff := tableOf("员工.csv", "", "姓名 | 部门 | 职位 | 电话", "王小明 | 财务部 | 会计 | 8021", "李娜 | 人事部 | 经理 | 8033")
	prices := tableOf("ราคา.csv", "", "สินค้า | ราคา | ชั้นวาง", "น้ำปลา | 28 บาท | ก2", "ไข่ไก่ | 5 บาท | ข3")
	people := tableOf("직원.csv", "", "이름 | 부서 | 내선번호", "김민수 | 영업부 | 201", "박지훈 | 개발부 | 412")
	for _, tt := range []struct {
		question string
		library  []paper
		said     finding
		row      string
	}{
		{"万年筆の単価はいくらですか。", stock, answers, "| 万年筆 | 8 | 12,000円 | 本店金庫 [1] |"},
		{"消しゴムはどこに保管されていますか。", stock, answers, "| 消しゴム | 45 | 60円 | 第二倉庫 [1] |"},
		{"李娜的电话是多少？", staff, answers, "| 李娜 | 人事部 | 经理 | 8033 [1] |"},
		{"ไข่ไก่อยู่ชั้นวางไหน", prices, answers, "| ไข่ไก่ | 5 บาท | ข3 [1] |"},
		{"박지훈의 내선번호는 몇 번입니까?", people, answers, "| 박지훈 | 개발부 | 412 [1] |"},
		{"万年筆の製造元はどこですか。", stock, closest, "| 万年筆 | 8 | 12,000円 | 本店金庫 [1] |"},
		{"李娜的工资是多少？", staff, closest, "| 李娜 | 人事部 | 经理 | 8033 [1] |"},
	} {
		got, _ := askIn(t, tt.library, tt.question)
		if said, quotes, _ := strings.Cut(got, "\n\n"); said != string(tt.said) || !strings.HasSuffix(quotes, tt.row) {
			t.Errorf("%s: %q\n%s\nwant %q and the row\n%s", tt.question, said, quotes, tt.said, tt.row)
		}
	}
}

// A question is parsed to a table query only if each of its words matches a column, a cell or the table.
func TestTableQuestionsAreParsed(t *testing.T) {
	const bills = "Number | Customer | Town | Amount | Paid\nI-1 | Harrow | York | 12.50 | yes\n" +
		"I-2 | Öztürk Sons | Leeds | 7 | no\nI-3 | Miller | York | 9 | no"
	const two = "Region | Cost | Profit\nNorth | 12 | 3\nSouth | 14 | 5\nNorth | 7 | 2"
	for _, tt := range []struct{ rows, question, want string }{
		{bills, "What is the total of the bills of Harrow?",
			`{"compute":[{"column":"Amount","function":"sum"}],"where":[{"column":"Customer","op":"=",` +
				`"value":"Harrow"}]}`},
		{bills, "How many bills are not paid?",
			`{"compute":[{"function":"count"}],"where":[{"column":"Paid","op":"≠","value":"yes"}]}`},
		{bills, "How many bills are paid in York?", `{"compute":[{"function":"count"}],"where":[` +
			`{"column":"Paid","op":"=","value":"yes"},{"column":"Town","op":"=","value":"York"}]}`},
		{bills, "What is the total of the bills of Harrow and Miller?", `{"compute":[{"column":"Amount","function":` +
			`"sum"}],"where":[{"column":"Customer","op":"in","value":["Harrow","Miller"]}]}`},
		{bills, "What is the lowest amount in York?", `{"compute":[{"column":"Amount","function":"min"}],"limit":1,` +
			`"order_by":[{"column":"Amount","descending":false}],"where":[{"column":"Town","op":"=","value":"York"}]}`},
		{bills, "What is the average of the bills of Öztürk?", `{"compute":[{"column":"Amount","function":"mean"}],` +
			`"where":[{"column":"Customer","op":"contains","value":"Öztürk"}]}`},
		{bills, "Which bills are not paid?",
			`{"limit":10,"where":[{"column":"Paid","op":"≠","value":"yes"}]}`},
		{bills, "Which bills of Harrow are paid?", `{"limit":10,"where":[{"column":"Customer","op":"=",` +
			`"value":"Harrow"},{"column":"Paid","op":"=","value":"yes"}]}`},
		{bills, "Which bills are not of Harrow?",
			`{"limit":10,"where":[{"column":"Customer","op":"≠","value":"Harrow"}]}`},
		{"Nr | Kunde | Stand\n1 | Süß | offen\n2 | Wöhr | bezahlt", "Welche Kunden haben nicht bezahlt?",
			`{"limit":10,"where":[{"column":"Stand","op":"≠","value":"bezahlt"}]}`},
		{bills, "Which bills of Harrow are there?", ""},    // the row answers it
		{bills, "Which bills are not paid by cheque?", ""}, // cheque matches nothing
		{two, "What is the total profit in the North?",
			`{"compute":[{"column":"Profit","function":"sum"}],"where":[{"column":"Region","op":"=",` +
				`"value":"North"}]}`},
		{two, "What is the total of the North?", ""},   // ambiguous: cost or profit
		{two, "How many cost of the North?", ""},       // a number can't be counted
		{two, "What is the profit of the North?", ""},  // nothing to compute
		{two, "What is the total profit in June?", ""}, // June matches nothing
		{"Month | Cost\nApril | 12\nMay | 14", "What is the total cost in May?", ""},
		{bills, "What is the total?", ""},               // no column is named
		{bills, "What is the total of all lemons?", ""}, // lemons match nothing
	} {
		p := newPool([]source{{passage: passage{N: 1, Text: tt.rows}, document: document{Title: "Bills"}}})
		words := topic{question: tt.question, own: text.QueryWords(tt.question, languages(tt.question))}.weigh(p)
		got := ""
		if a, ok := readTableQuestion(tt.question, words, p.units[0].row.table, p.units[1:], p.around[0]); ok {
			input := a.call(p.sources[0], p.units[0].row.table.head).input
			delete(input, "document")
			raw, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if want := plainJSON(t, tt.want); got != want {
			t.Errorf("%s: %s, want %s", tt.question, got, want)
		}
	}
}

// plainJSON normalises an object to Marshal's format.
func plainJSON(t *testing.T, s string) string {
	t.Helper()
	if s == "" {
		return ""
	}
	var v any
	err := json.Unmarshal([]byte(s), &v)
	raw, err2 := json.Marshal(v)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return string(raw)
}

// A model that does not know a language finds all its texts similar, so a missing word lowers the probability.
func TestMissingKeywordLowersProbability(t *testing.T) {
	q := turn{question: "駐車場は月いくらですか", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{
			{N: 1, Text: "ごみは収集日の朝8時までに、駐車場横の集積所に出してください。前の晩に出すとカラスや猫に荒らされます。"},
			{N: 2, Text: "自転車は駐輪場に置き、登録シールを貼ってください。シールは1台目は無料、2台目からは月200円です。"},
			{N: 3, Text: "燃えないごみは第4月曜日に出してください。廊下に傘立てを置かないでください。"},
		}}},
	}}}}
	got, err := compose(t.Context(), q, func(_ context.Context, _ string, texts []string) ([]float64, error) {
		alike := make([]float64, len(texts))
		for i := range alike {
			alike[i] = 0.8
		}
		return alike, nil
	}, func(_ context.Context, _ string, texts []string) ([]float64, error) {
		t.Error("the reader was asked in Japanese")
		return make([]float64, len(texts)), nil
	})
	if err != nil || got.finding != closest {
		t.Errorf("got %q, %.2f and %v, want quotes that are called closest", got.finding, got.sure, err)
	}
}

const (
	inGerman = "Die monatliche Miete beträgt 980 Euro. " +
		"Sie ist bis zum dritten Werktag eines jeden Monats zu zahlen, und " +
		"der Mieter kann den Vertrag mit einer Frist von drei Monaten kündigen."
	inEnglish = "The staff canteen is open on every day of the week. " +
		"Please tell the manager before the first day when " +
		"you are going to be late for the meal."
	askedInEnglish = "How much is the rent for the flat, and when is it due each month?"
)

func sourceOf(id, said string) source {
	return source{passage: passage{N: 1, Text: said}, document: document{DocID: id, Filename: id + ".txt"}}
}

func TestDocumentLanguageIsNamedIfDifferent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, question string
		sources        []source
		want           string
	}{
		{"in another language", askedInEnglish, []source{sourceOf("a", inGerman)}, "German"},
		{"in the question's", "Wie hoch ist die Miete und bis wann ist sie zu zahlen?",
			[]source{sourceOf("a", inGerman)}, ""},
		{"in both", askedInEnglish, []source{sourceOf("a", inGerman), sourceOf("b", inEnglish)}, ""},
		{"a question too short to tell", "Miete?", []source{sourceOf("a", inGerman)}, ""},
		{"a document too short to tell", askedInEnglish, []source{sourceOf("a", "980")}, ""},
		{"short passages of one document", askedInEnglish,
			[]source{sourceOf("a", "980"), sourceOf("a", inGerman)}, "German"},
		{"nothing", askedInEnglish, nil, ""},
	} {
		p := newPool(tt.sources)
		p.compareLanguages(tt.question)
		var all []int
		for i := range tt.sources {
			all = append(all, i)
		}
		if got := p.otherLanguages(all); got != tt.want {
			t.Errorf("%s: the documents are said to be in %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestHeadlineLeadsToQuotes(t *testing.T) {
	t.Parallel()
	p := newPool([]source{sourceOf("a", inGerman)})
	p.compareLanguages(askedInEnglish)
	want := "Found in your documents; these documents are in German:"
	if got := p.headline(string(answers), []quote{{source: 0}}, nil); got != want {
		t.Errorf("headline = %q, want %q", got, want)
	}
}

func TestRefusalNamesLanguageOfResults(t *testing.T) {
	t.Parallel()
	p := newPool([]source{sourceOf("a", inGerman)})
	p.compareLanguages(askedInEnglish)
	searched := turn{results: []result{{tool: "search_documents", input: map[string]any{"query": "rent"}}}}
	got := refusalAdvice(searched, answer{pile: p})
	if !strings.Contains(got, " The documents that were found are in German. ") {
		t.Errorf("refusal = %q, want the language in it", got)
	}
}

// The reader sees a short quote with its neighbours below the title and the headings.
func TestReaderOrdersQuotes(t *testing.T) {
	t.Parallel()
	q := turn{question: "When was the boiler repaired?", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Title: "Diary", Passages: []passage{
			{N: 1, Section: "House", Text: "Who repaired the boiler? Nobody knows when the boiler was repaired."},
			{N: 2, Section: "Diary › May", Text: "Cold again.\n\nThe boiler was mended on 4 May."},
		}}},
	}}}}
	var seen []string
	read := func(_ context.Context, question string, texts []string) ([]float64, error) {
		out := make([]float64, len(texts))
		for i, s := range texts {
			if out[i] = 0.01; strings.Contains(s, "4 May") {
				out[i] = 0.99
			}
		}
		seen = append([]string{question}, texts...)
		return out, nil
	}
	got, err := compose(t.Context(), q, nil, read)
	if err != nil || len(got.quotes) < 2 || got.pile.words(got.quotes[0]) != "The boiler was mended on 4 May." {
		t.Errorf("quotes %v, %v; want that of 4 May first", got.text, err)
	}
	const want = "Diary › May\nCold again.\n\nThe boiler was mended on 4 May."
	if len(seen) < 3 || seen[0] != q.question || !slices.Contains(seen, want) {
		t.Errorf("the reader saw %q, want %q among them", seen, want)
	}
	rejected, err := compose(t.Context(), q, nil, func(_ context.Context, _ string, texts []string) ([]float64, error) {
		return slices.Repeat([]float64{0.001}, len(texts)), nil
	})
	if err != nil || rejected.finding != closest || rejected.sure >= got.sure {
		t.Errorf("rejected quotes are called %q with %v, %v; want them closest", rejected.finding, rejected.sure, err)
	}
}

func TestReaderReadsOnlyEnglish(t *testing.T) {
	t.Parallel()
	const question = "How much is the rent for the flat, and is it 980 Euro each month?"
	q := turn{question: question, results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{{N: 1, Text: inGerman}}}},
	}}}}
	got, err := compose(t.Context(), q, nil, func(_ context.Context, _ string, texts []string) ([]float64, error) {
		t.Errorf("the reader was asked to read %q", texts)
		return make([]float64, len(texts)), nil
	})
	if err != nil || len(got.quotes) == 0 {
		t.Errorf("quotes %v, %v; want some", got.text, err)
	}
}
