package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/e2e/scripted"
)

const mieten = "Wohnung;Mieter;Miete;Bezahlt\nErdgeschoss;Weber;1.234,50 €;ja\nHof;Öztürk;950,00 €;nein\n" +
	"Dach;Weber;1.000,00 €;nein\n"

// Without a model, a question for something of many rows asks the table, as far as its words name columns and cells.
func TestOfflineATableIsAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add("Invoices.csv", invoices)
	h.add("Mieten.csv", mieten)
	h.add("Ledger.csv", "Entry,Account,Value\n"+strings.Repeat("Booking,Travel,2.50\nBooking,Rent,100\n", 400))
	h.hire(offline.New(nil))
	for _, tt := range []struct {
		question, total string   // empty: nothing is computed
		rows            []string // none: the table is not asked
	}{
		{"Which invoices has Harrow not paid, and what is the total?", "4,500.25", []string{"INV-3", "INV-4"}},
		{"What is the total amount of the invoices of Harrow?", "5,700.25", []string{"INV-1", "INV-3", "INV-4"}},
		{"How many invoices has Harrow paid?", "Count: **1**", []string{"INV-1"}},
		{"What is the average amount of the invoices of Harrow?", "1,900.083333", []string{"INV-1", "INV-3", "INV-4"}},
		{"Which invoice of Harrow has the highest amount?", "3,300.00", []string{"INV-3"}},
		{"Wie hoch ist die Summe der Mieten von Weber?", "2.234,50 €", []string{"Erdgeschoss", "Dach"}},
		{"Welche Mieten hat Weber nicht bezahlt, und was ist die Summe?", "1.000,00 €", []string{"Dach"}},
		{"What is the total value of the entries for travel?", "1000.00", slices.Repeat([]string{"Booking"}, 10)},
		{"What is the total of the green invoices of Harrow?", "", nil},
		{"Which invoices has Harrow not paid?", "", []string{"INV-3", "INV-4"}},
		{"Welche Mieten sind nicht bezahlt?", "", []string{"Hof", "Dach"}},
		{"Which invoices of Harrow are there?", "", nil},
		{"What is the total weight of the roof?", "", nil},
	} {
		got := h.answer(asks(tt.question))
		a := got.answer()
		asked := false
		for _, s := range got.ended() {
			asked = asked || s.Step == "query_table"
		}
		if asked != (tt.rows != nil) {
			t.Errorf("%s: asked the table: %v; %s", tt.question, asked, a.Markdown)
			continue
		}
		if tt.rows == nil {
			continue
		}
		if !strings.Contains(a.Markdown, tt.total) || len(a.Unsupported) > 0 || len(a.Citations) != len(tt.rows) {
			t.Errorf("%s: %d footnotes, unsupported %q\n%s", tt.question, len(a.Citations), a.Unsupported, a.Markdown)
			continue
		}
		for i, row := range tt.rows {
			if !strings.HasPrefix(a.Citations[i].Quote, row+" |") {
				t.Errorf("%s: footnote %d quotes %q, want %s", tt.question, i+1, a.Citations[i].Quote, row)
			}
		}
	}
}
