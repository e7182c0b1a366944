package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const invoices = "Number,Customer,Due,Amount,Paid\nINV-1,Harrow,2026-01-31,\"1,200.00\",yes\n" +
	"INV-2,Miller,2026-02-28,950.50,no\nINV-3,Harrow,2026-03-12,\"3,300.00\",no\n" +
	"INV-4,Harrow,2026-04-02,\"1,200.25\",no\n"

const unpaid = `{"document":"Invoices.csv","where":[{"column":"customer","op":"=","value":"harrow"},` +
	`{"column":"Paid","op":"=","value":"no"}],"compute":[{"function":"sum","column":"Amount"}]}`

// asked answers a question with a call of query_table and a text.
func (h *house) asked(question, args, answer string) transcript {
	h.Helper()
	replies := []scripted.Reply{calls(call("query_table", args)), says(answer), says(answer), says(answer)}
	h.hire(scripted.New(replies...), func(c *Config) {
		c.Features = run.Features{Selection: tools.SelectModel, Without: []string{"refine"}}
	})
	return h.answer(asks(question))
}

func TestATableIsAskedAndItsRowsAreCited(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add("Invoices.csv", invoices)
	got := h.asked("Which invoices has Harrow not paid, and what is the total?", unpaid,
		"INV-3 of Harrow has the amount 3,300.00 [1]. INV-4 has 1,200.25 [2]. The total is 4,500.25 [1][2].")
	s := got.step("query_table")
	if s.Status != chat.StatusComplete || s.Summary != "2 rows, sum of Amount = 4,500.25" ||
		s.Message != "Asked the table Invoices.csv" {
		t.Fatalf("step: %s %q %q %s", s.Status, s.Message, s.Summary, s.ToolOutput)
	}
	var out struct {
		Rows []struct {
			N, Row int
			Cells  []string
		}
	}
	if err := json.Unmarshal(s.ToolOutput, &out); err != nil || len(out.Rows) != 2 || out.Rows[0].Row != 4 ||
		out.Rows[1].N != 2 {
		t.Errorf("rows: %v %+v, want the 4th and the 5th", err, out.Rows)
	}
	if tab := s.Result.Table; tab == nil || len(tab.Rows) != 2 || tab.Used != 2 || tab.Totals[0].Value != "4,500.25" ||
		!strings.Contains(tab.Links[0], "start=") {
		t.Errorf("drawn: %+v", tab)
	}
	a := got.answer()
	if len(a.Citations) != 2 || a.Citations[0].Quote != "INV-3 | Harrow | 2026-03-12 | 3,300.00 | no" ||
		a.Citations[0].Section != "Number | Customer | Due | Amount | Paid" || a.Citations[1].Place != "row 5" {
		t.Errorf("citations: %+v", a.Citations)
	}
	if len(a.Unsupported) > 0 || a.Confidence < 0.9 {
		t.Errorf("confidence %v, unsupported %q; want all borne out", a.Confidence, a.Unsupported)
	}
}

func TestAWrongSumOfATableIsNotSupported(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add("Invoices.csv", invoices)
	for said, want := range map[string]string{
		"The total is 4,500.25 [1][2].":    "",
		"The total comes to 4500.25 [1].":  "",
		"In total it is 4.500,25 [1].":     "",
		"2 invoices come to 4,500.25 [1].": "",
		"The total is 4,600.25 [1][2].":    "The total is 4,600.25.",
		"The total is 5,450.75 [1][2].":    "The total is 5,450.75.",
		"The total is 4,500.52 [1].":       "The total is 4,500.52.",
		"The total is 450025 [1].":         "The total is 450025.",
	} {
		said = "INV-3 of Harrow has the amount 3,300.00 [1]. " + said
		a := h.asked("Which invoices has Harrow not paid, and what is the total?", unpaid, said).answer()
		if got := strings.Join(a.Unsupported, "; "); got != want {
			t.Errorf("%s: unsupported %q, want %q (%s)", said, got, want, a.Markdown)
		}
	}
}

func TestATableThatCannotBeAskedSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add("Invoices.csv", invoices)
	var cs []llm.Call
	wants := []string{"A Number, B Customer, C Due, D Amount, E Paid", "no number", "“Nonsuch”. There are: 1 “table”",
		"has no table", "neither"}
	for _, args := range []string{
		`{"document":"Invoices.csv","where":[{"column":"Client","op":"=","value":"x"}]}`,
		`{"document":"Invoices.csv","compute":[{"function":"sum","column":"Customer"}]}`,
		`{"document":"Invoices.csv","sheet":"Nonsuch"}`, `{"document":"Survey.md"}`,
		`{"document":"Invoices.csv","where":[{"column":"Amount","op":"<","value":"much"}]}`,
	} {
		cs = append(cs, call("query_table", args))
	}
	for i, s := range h.used(asks("What about the table?"), cs...) {
		if s.Status != chat.StatusError || !strings.Contains(string(s.ToolOutput), wants[i]) {
			t.Errorf("%s: %s %s, want %q", s.ToolInput, s.Status, s.ToolOutput, wants[i])
		}
	}
}

// A run that goes on after its server died cites the rows that it was shown before, by their old numbers.
func TestRowsKeepTheirNumbersOverARestart(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.add("Invoices.csv", invoices)
	first := h.asked("What has Harrow not paid?", unpaid, "INV-3 of Harrow has the amount 3,300.00 [1].")
	step := first.step("query_table")
	h.hire(scripted.New(says("INV-4 has the amount 1,200.25 [2]. The total is 4,500.25 [1][2].")))
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("What has Harrow not paid in total?"),
		chat.Lease{Owner: "dead", Until: time.Now().Add(time.Hour)})
	if err == nil {
		err = h.feed.Append(t.Context(), "dead", run.ID, chat.RunStarted{Question: run.Request.Message}, step)
	}
	if err != nil {
		t.Fatal(err)
	}
	a := h.carriedOn(run.ID).answer()
	if len(a.Citations) != 2 || a.Citations[0].Quote != "INV-4 | Harrow | 2026-04-02 | 1,200.25 | no" ||
		a.Citations[0].Section != "Number | Customer | Due | Amount | Paid" || len(a.Unsupported) > 0 {
		t.Errorf("after the restart: %+v, unsupported %q", a.Citations, a.Unsupported)
	}
}
