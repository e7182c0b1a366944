package offline

import (
	"encoding/json"
	"testing"

	"github.com/footnote/footnote/text"
)

// A question says what is asked of a table only as far as each of its words names a column, a cell or the table.
func TestQuestionsToTables(t *testing.T) {
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
		{bills, "Which bills of Harrow are there?", ""},    // the row says it
		{bills, "Which bills are not paid by cheque?", ""}, // nothing says how
		{two, "What is the total profit in the North?",
			`{"compute":[{"column":"Profit","function":"sum"}],"where":[{"column":"Region","op":"=",` +
				`"value":"North"}]}`},
		{two, "What is the total of the North?", ""},   // of the cost or of the profit
		{two, "How many cost of the North?", ""},       // a number stands there
		{two, "What is the profit of the North?", ""},  // nothing is computed
		{two, "What is the total profit in June?", ""}, // nothing says June
		{"Month | Cost\nApril | 12\nMay | 14", "What is the total cost in May?", ""},
		{bills, "What is the total?", ""},               // of nothing that is named
		{bills, "What is the total of all lemons?", ""}, // of something else
	} {
		p := pileOf([]source{{passage: passage{N: 1, Text: tt.rows}, document: document{Title: "Bills"}}})
		words := topic{question: tt.question, own: text.QueryWords(tt.question, languages(tt.question))}.weigh(p)
		got := ""
		if a, ok := readAsking(tt.question, words, p.units[0].row.table, p.units[1:], p.around[0]); ok {
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

// plainJSON is an object in the form that Marshal gives it.
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
