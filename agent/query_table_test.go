package agent

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

const invoices = "Number,Customer,Due,Amount,Paid\nINV-1,Harrow,2026-01-31,\"1,200.00\",yes\n" +
	"INV-2,Miller,2026-02-28,950.50,no\nINV-3,Harrow,2026-03-12,\"3,300.00\",no\n" +
	"INV-4,Harrow,2026-04-02,\"1,200.25\",no\n"

const unpaid = `{"document":"Invoices.csv","where":[{"column":"customer","op":"=","value":"harrow"},` +
	`{"column":"Paid","op":"=","value":"no"}],"compute":[{"function":"sum","column":"Amount"}]}`

// asked answers a question with a call of query_table and a text.
func (h *harness) asked(question, args, answer string) transcript {
	h.Helper()
	replies := []scripted.Reply{calls(call("query_table", args)), says(answer), says(answer), says(answer)}
	h.startAgent(scripted.New(replies...), func(c *Config) {
		c.Features = run.Features{Selection: tools.SelectModel, Without: []string{"refine"}}
	})
	return h.answer(asks(question))
}

func TestTableQueryCitesRows(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("Invoices.csv", invoices)
	got := h.asked("Which invoices has Harrow not paid, and what is the total?", unpaid,
		"INV-3 of Harrow has the amount 3,300.00 [1]. INV-4 has 1,200.25 [2]. The total is 4,500.25 [1][2].")
	s := got.step("query_table")
	if s.Status != chat.StatusComplete || s.Summary != "2 rows, sum of Amount = 4,500.25" ||
		s.Message != "Queried the table Invoices.csv" {
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

func TestWrongTableSumIsUnsupported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
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

func TestInvalidTableQueryListsAvailableTables(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
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

// A run that resumes after its server died cites rows by their old numbers.
func TestRowNumbersSurviveRestart(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("Invoices.csv", invoices)
	first := h.asked("What has Harrow not paid?", unpaid, "INV-3 of Harrow has the amount 3,300.00 [1].")
	step := first.step("query_table")
	h.startAgent(scripted.New(says("INV-4 has the amount 1,200.25 [2]. The total is 4,500.25 [1][2].")))
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("What has Harrow not paid in total?"),
		chat.Lease{Owner: "dead", Until: time.Now().Add(time.Hour)})
	if err == nil {
		err = h.feed.Append(t.Context(), "dead", run.ID, chat.RunStarted{Question: run.Request.Message}, step)
	}
	if err != nil {
		t.Fatal(err)
	}
	a := h.takeOverRun(run.ID).answer()
	if len(a.Citations) != 2 || a.Citations[0].Quote != "INV-4 | Harrow | 2026-04-02 | 1,200.25 | no" ||
		a.Citations[0].Section != "Number | Customer | Due | Amount | Paid" || len(a.Unsupported) > 0 {
		t.Errorf("after the restart: citations %+v, unsupported %q", a.Citations, a.Unsupported)
	}
}

const mieten = "Wohnung;Mieter;Miete;Bezahlt\nErdgeschoss;Weber;1.234,50 €;ja\nHof;Öztürk;950,00 €;nein\n" +
	"Dach;Weber;1.000,00 €;nein\n"

// Without a model, a question about many rows queries the table, as far as its words name columns and cells.
func TestOfflineModelQueriesTable(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("Invoices.csv", invoices)
	h.add("Mieten.csv", mieten)
	h.add("Ledger.csv", "Entry,Account,Value\n"+strings.Repeat("Booking,Travel,2.50\nBooking,Rent,100\n", 400))
	h.startAgent(offline.New(nil, nil))
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
			t.Errorf("%s: table query: %v; answer %s", tt.question, asked, a.Markdown)
			continue
		}
		if tt.rows == nil {
			continue
		}
		if !strings.Contains(a.Markdown, tt.total) || len(a.Unsupported) > 0 || len(a.Citations) != len(tt.rows) {
			t.Errorf("%s: got %d footnotes, unsupported %q\n%s",
				tt.question, len(a.Citations), a.Unsupported, a.Markdown)
			continue
		}
		for i, row := range tt.rows {
			if !strings.HasPrefix(a.Citations[i].Quote, row+" |") {
				t.Errorf("%s: footnote %d quotes %q, want %s", tt.question, i+1, a.Citations[i].Quote, row)
			}
		}
	}
}

const figures = "Figure,Value\nEmployees,47\nTrucks,12\nFloor area,3400 m2\nFounded,1987\n"

// A question for a number that a cell states is answered by that cell, not by a count of rows.
func TestOfflineModelLooksUpStatedNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, content, question, quote string }{
		{"Company.csv", figures, "How many employees are there?", "Employees | 47"},
		{"Company.csv", figures, "How many trucks?", "Trucks | 12"},
		{"Company.csv", figures, "What is the number of employees?", "Employees | 47"},
		{"Firma.csv", "Kennzahl;Wert\nMitarbeiter;47\nFahrzeuge;12\nUmsatz;3.400 €\n", "Wie viele Mitarbeiter gibt es?",
			"Mitarbeiter | 47"},
		{"Sites.csv", "Site,Beds,Rooms\nHarbour,40,21\nMill,12,8\nHill,30,16\n", "How many at Mill?", "Mill | 12 | 8"},
		{"Plant.csv", "Figure,Value\nNumber of pumps in use,9\nNumber of valves,31\nTanks,4\n",
			"How many pumps are there?", "Number of pumps in use | 9"},
	} {
		h := newHarness(t, scripted.New())
		h.add(tt.file, tt.content)
		h.startAgent(offline.New(nil, nil))
		got := h.answer(asks(tt.question))
		a := got.answer()
		counts := func(s chat.Step) bool {
			return s.Step == "query_table" && strings.Contains(string(s.ToolInput), "compute")
		}
		if slices.ContainsFunc(got.ended(), counts) || len(a.Citations) == 0 || a.Citations[0].Quote != tt.quote {
			t.Errorf("%s: %+v\n%s; want the quote %q without a count", tt.question, a.Citations, a.Markdown, tt.quote)
		}
	}
}

// watchedStore reports events before they are appended, and may refuse them.
type watchedStore struct {
	chat.Store
	feed   *chat.Feed
	mu     sync.Mutex
	before func(ps []chat.Payload) error
}

func (s *watchedStore) Append(ctx context.Context, owner, runID string, ps ...chat.Payload) ([]chat.Event, error) {
	s.mu.Lock()
	err := s.before(ps)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, owner, runID, ps...)
}

func (s *watchedStore) with(c *Config) {
	s.Store, s.feed = c.Store, chat.NewFeed(s)
	c.Store, c.Feed = s, s.feed
}

func hasStep(ps []chat.Payload, name string, status chat.Status) bool {
	return slices.ContainsFunc(ps, func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == name && s.Status == status
	})
}

// The start of a call with side effects is in the log before the call, or the next server would repeat it.
func TestCallWithSideEffectsIsLoggedBeforeStart(t *testing.T) {
	t.Parallel()
	s := newOrderServer(t, true)
	store := &watchedStore{}
	store.before = func(ps []chat.Payload) error {
		if hasStep(ps, "shop__order", chat.StatusRunning) &&
			(hasStep(ps, "shop__order", chat.StatusComplete) || s.orders.Load() > 0) {
			t.Errorf("start is stored after %d orders, want before", s.orders.Load())
		}
		for _, p := range ps {
			if step, ok := p.(chat.Step); ok && step.ToolName == "shop__order" && step.Status == chat.StatusRunning &&
				!step.Begins() {
				t.Error("start of the call is not durable")
			}
		}
		return nil
	}
	h := newHarness(t, scripted.New(orders("slates"), says("The slates are ordered.")), s.with, store.with)
	h.feed = store.feed
	if got := h.wait(
		h.ask(chat.RunRequest{Message: "Please order slates"}).ID,
	); got.step("shop__order").Status != chat.StatusComplete || s.orders.Load() != 1 {
		t.Errorf("it ended as %+v after %d orders, want 1", got.done(), s.orders.Load())
	}
}

// A step whose end could not be stored ends with its run.
func TestStepWithoutStoredEndEndsWithRun(t *testing.T) {
	t.Parallel()
	s := newOrderServer(t, true)
	store := &watchedStore{}
	refused := false
	store.before = func(ps []chat.Payload) error {
		if !refused && hasStep(ps, "shop__order", chat.StatusComplete) {
			refused = true
			return &chat.Error{Code: chat.CodeUnavailable, Message: "The database isn't responding."}
		}
		return nil
	}
	h := newHarness(t, scripted.New(orders("slates"), says("The slates are ordered.")), s.with, store.with)
	h.feed = store.feed
	got := h.wait(h.ask(chat.RunRequest{Message: "Please order slates"}).ID)
	if got.done().Status != chat.RunFailed || got.step("shop__order").Status != chat.StatusCancelled {
		t.Errorf("it ended as %+v, its step as %+v; want Status %v and %v",
			got.done(), got.step("shop__order"), chat.RunFailed, chat.StatusCancelled)
	}
}

// The writer once parsed text after a lone backtick as code, the check of the answer did not, and the run never
// ended.
func TestLoneBacktickKeepsAnswer(t *testing.T) {
	t.Parallel()
	for _, says2 := range []string{
		"There are 28` days of paid holiday a year [1]. Unused days may be carried over until 31 March of the " +
			"following year [1].",
		"``There are 28 days of paid holiday a year [1]. Unused days may be carried over until 31 March of the " +
			"following year [1].",
	} {
		model := scripted.New(calls(search("holiday")), says(says2))
		h := newHarness(t, model)
		got := h.answer(asks("How many days of holiday are there?"))
		a := got.answer()
		if len(a.Citations) != 2 || a.Confidence != 1 || len(a.Unsupported) != 0 || got.text() != a.Markdown ||
			!strings.Contains(a.Markdown, "`") {
			t.Errorf("answer = %+v, shown %q; want 2 citations, Confidence 1, none, %q, %q in it",
				a, got.text(), a.Markdown, "`")
		}
		if n := len(model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times, want 2", n)
		}
	}
}

func TestUnstorableRunEndIsReportedImmediately(t *testing.T) {
	t.Parallel()
	model := scripted.New(says("Hello."))
	h := newHarness(t, model, func(c *Config) {
		c.Prices = map[string]run.Price{c.Model.Name(): {In: math.NaN(), Out: math.NaN()}}
	})
	d := h.answer(asks("Hello!")).done()
	const want = "part of the answer could not be saved"
	if d.Status != chat.RunFailed || d.Error == nil || !strings.Contains(d.Error.Message, want) {
		t.Errorf("done = %+v, error = %+v; want Status %v and %q in it", d, d.Error, chat.RunFailed, want)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

func TestRunWithoutStoredEndFailsWithReason(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHarness(t, offline.New(nil, nil))
	run, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("How many days?"),
		chat.Lease{Owner: "dead", Until: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.feed.Append(ctx, "dead", run.ID, chat.RunStarted{}); err != nil {
		t.Fatal(err)
	}
	h.runs.unstored[run.ID] = &chat.Error{
		Code: chat.CodeDiskFull, Message: "The disk is full. Free some space and try again.",
	}
	d := h.takeOverRun(run.ID).done()
	const want = "The answer was written but could not be saved. The disk is full. Free some space and try again."
	if d.Status != chat.RunFailed || d.Error == nil || d.Error.Code != chat.CodeDiskFull || d.Error.Message != want ||
		d.StepsUsed != 0 {
		t.Errorf("done = %+v, error = %+v; want failed after 0 steps, %q", d, d.Error, want)
	}
	if err := h.runs.Stop(ctx); err != nil { // the run's goroutine has ended
		t.Fatal(err)
	}
	if len(h.runs.unstored) != 0 {
		t.Errorf("remembered still: %v, want none", h.runs.unstored)
	}
}

const results = "Year,Boat,Helm,Points\n2019,Heron,Ann Lee,12\n2020,Otter,Bo Dahl,30\n2021,Grebe,Cy Roux,22\n" +
	"2022,Coot,Ann Lee,41\n"

// A question about the table that the user chose is a query of it, or gets its closest rows.
func TestChosenTableIsAsked(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("Results.csv", results)
	h.startAgent(offline.New(nil, nil))
	docs, _, err := h.library.List(t.Context(), chat.Scope{User: chat.LocalUser}, corpus.Filter{Text: "Results"})
	if err != nil || len(docs) != 1 {
		t.Fatal(err, len(docs))
	}
	for _, tt := range []struct{ question, said, quote string }{
		{"Which boat came after the Otter?", "Found in your documents:", "2021 | Grebe"},
		{"What is the last boat on the list?", "Found in your documents:", "2022 | Coot"},
		{"Which boat has the most points?", "Found in your documents:", "2022 | Coot"},
		{"What is the difference in points between Otter and Heron?", "**18**", "2019 | Heron"},
		{"How many boats have at least 20 points?", "**3**", "2020 | Otter"},
		{"Which sailmaker was hired by whom?", "Closest passages, which may not answer this:", "2019 | Heron"},
	} {
		req := asks(tt.question)
		req.DocumentIDs = []string{docs[0].ID}
		a := h.answer(req).answer()
		if !strings.Contains(a.Markdown, tt.said) || len(a.Citations) == 0 || len(a.Unsupported) > 0 ||
			!slices.ContainsFunc(a.Citations, func(c chat.Citation) bool {
				return strings.HasPrefix(c.Quote, tt.quote)
			}) {
			t.Errorf("%s: %s\nunsupported %q, want %s and a quote of %q", tt.question, a.Markdown,
				a.Unsupported, tt.said, tt.quote)
		}
	}
}

// Metadata of a document answers who wrote it, without a passage.
func TestMetadataAnswers(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("ferry.md", "---\nauthor: Ada Moss\nlicense: CC BY-SA 4.0\n---\n# Ferry report 2023\n\nThe ferry sank.\n")
	h.startAgent(offline.New(nil, nil))
	for question, want := range map[string]string{
		"Who wrote the ferry report 2023?":         "author Ada Moss",
		"Which licence has the ferry report 2023?": "license CC BY-SA 4.0",
	} {
		if a := h.answer(asks(question)).answer(); !strings.Contains(a.Markdown, want) || len(a.Unsupported) > 0 {
			t.Errorf("%s: %s, unsupported %q, want %s", question, a.Markdown, a.Unsupported, want)
		}
	}
}

// A typing error is read as in search. A year or a name that no passage has is never found.
func TestTypingErrorsAreRead(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("lease.md", "# Lease\n\nThe landlord repairs the roof. The deposit is three months' rent.\n")
	h.startAgent(offline.New(nil, nil))
	a := h.answer(asks("How much is the depoist?")).answer()
	if want := "Found in your documents; “depoist” is read as “deposit”:"; !strings.HasPrefix(a.Markdown, want) {
		t.Errorf("%s, want %s", a.Markdown, want)
	}
}

func TestMissingNamesAreNotFound(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.add("2023.md", "# Ferry report 2023\n\nThe ferry carried 120,000 passengers in 2023. "+
		"Bo Dahl steered the ferry.\n")
	h.startAgent(offline.New(nil, nil))
	for question, found := range map[string]bool{
		"How many passengers did the ferry carry in 2023?": true,
		"How many passengers did the ferry carry in 2025?": false,
		"Who steered the ferry, Bo Dahl?":                  true,
		"How many passengers did Ann Lee carry by ferry?":  false,
	} {
		if a := h.answer(asks(question)).answer(); strings.HasPrefix(a.Markdown, "Found") != found {
			t.Errorf("%s: %s, want found: %v", question, a.Markdown, found)
		}
	}
}
