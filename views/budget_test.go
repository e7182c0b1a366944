package views

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// costly returns texts of about n bytes whose cost in a parser or browser is much higher than their length.
func costly(n int) map[string]string {
	r := strings.Repeat
	var references, ticks, nested strings.Builder
	for i := 0; references.Len() < n; i++ {
		fmt.Fprintf(&references, "[a%d]: http://e.example/%d\n", i, i)
	}
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(r("`", i) + "a")
	}
	for i := 0; nested.Len() < n; i++ {
		nested.WriteString(r("  ", i) + "- a\n")
	}
	return map[string]string{
		"a table":          table(n/7, n/7),
		"tables in quotes": "> " + strings.ReplaceAll(table(n/14, n/14), "\n", "\n> ") + "\n\n" + table(n/14, n/14),
		"quotations":       r(">", n), "quotations and lines": r(r("> ", 90)+"a\n", n/180) + r("a\n", n/4),
		"nested lists": r("* ", n/4) + "a" + r("\n\n", n/4) + "b", "nested items": nested.String(),
		"nested lists, blank lines": r("* ", 45) + "a" + r("\n", n) + "b",
		"brackets":                  r("[", n), "pairs of brackets": r("[", n/2) + r("]", n/2),
		"open links": r("[a](", n/4),
		"images":     r("![", n/2), "links": r("[a](b)", n/6),
		"stars": r("*", n), "openers": r("*a ", n/3), "two kinds": r("*a_ ", n/4), "closers": r("a* ", n/3),
		"within words": r("a**b", n/4), "strikes": r("~~a ", n/4),
		"code spans": ticks.String(), "one code span": "`" + r("a ", n/2) + "`",
		"comments": r("<!-- ", n/5), "instructions": r("<? ", n/3), "tags": r("<a ", n/3),
		"attributes": "x " + r("<a b='", n/6),
		"references": references.String(), "footnote definitions": r("[^1]: a\n", n/8),
		"one address, many links": "[a]: http://e.example/" + r("x", n/2) + "\n\n" + r("[a] ", n/8),
		"mail addresses":          r("a_b@", n/4), "marks before a long word": r("_a", n/4) + r("a", n/2),
		"addresses": r(" http://a.b/", n/12), "lines with brackets": r("[a]\n", n/4),
		"chips": r("[1]", n/3), "lines": r("a\n", n/2), "rules": r("---\n\n", n/5), "headings": r("# a\n", n/4),
		"underlined headings": r("a\n=\n", n/4), "fences": r("```\n\n", n/5), "items": r("- a\n", n/4),
		"formulas": r(`\(x^2\) `, n/8), "open formulas": r(`\(x \[y $z `, n/10), "dollars": r("$", n),
		"prices":                  r("$5 ", n/3),
		"letters between dollars": r("$a", n/2), "one formula": `\(` + r("x", n) + `\)`,
		"formulas in items": r("- $$\n", n/5),
		"formulas on lines": r("$$\nx\n", n/5), "deep formulas": r(`\(`+r("{", 30)+r("}", 30)+`\) `, n/65),
		"unknown formulas": r(`$\a$ `, n/5), "open lines": r("\\[\n$$\n", n/6), "backslashes": r(`\`, n),
		"escaped bars": "|a|\n|-|\n|" + r("`\\|`", n/4) + "|\n",
	}
}

// table returns a Markdown table with only its head written out.
func table(columns, rows int) string {
	return "|" + strings.Repeat("a|", columns) + "\n|" + strings.Repeat("-|", columns) + "\n" +
		strings.Repeat("|\n", rows)
}

// allocated returns the total bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestCostlyTextsUseBoundedMemory(t *testing.T) {
	m := NewMarkdown()
	for _, n := range []int{14_000, 200_000} {
		for name, src := range costly(n) {
			var blocks []Block
			took := allocated(func() { blocks = m.Whole(src, nil, citeOne) })
			if most := uint64(20<<20+1500*len(src)) * detectorShare; took > most {
				t.Errorf("%s, %d bytes: %d bytes of memory, want at most %d", name, len(src), took, most)
			}
			out := 0
			for _, b := range blocks {
				out += len(b.HTML)
			}
			if most := 2_000_000 + 10*len(src); out > most {
				t.Errorf("%s, %d bytes: %d bytes of HTML, want at most %d", name, len(src), out, most)
			}
		}
	}
}

func TestTextBeyondBudgetIsShownUnformatted(t *testing.T) {
	m := NewMarkdown()
	plain := func(blocks []Block) bool {
		return len(blocks) == 1 && strings.Contains(blocks[0].HTML, txtTooLarge.English())
	}
	for _, tt := range []struct {
		name, src string
		plain     bool
	}{
		{"a table of 50 columns and 100 rows", table(50, 100), false},
		{"a table of 500 columns and 500 rows", table(500, 500), true},
		{"a table of 2,000 columns and 2,000 rows", table(2000, 2000), true},
		{"a long answer", strings.Repeat("The roof is sound and **the wall** is dry [1].\n\n", 2000), false},
		{"a list of 4,000 items", strings.Repeat("- The roof is sound.\n", 4000), false},
		{"a long code block", "```\n" + strings.Repeat("x := a[1] * b[2] // _no_ *marks*\n", 5000) + "```\n", false},
		{"a text of 300 kB", strings.Repeat("The roof is sound.\n\n", 15_000), true},
		{"lists in lists", strings.Repeat("* ", 200) + "a", true},
		{"lists in lists, as people write them", "- a\n  - b\n    - c\n      - d\n\n> > > quoted", false},
	} {
		blocks := m.Whole(tt.src, nil, citeOne)
		if got := plain(blocks); got != tt.plain {
			t.Errorf("%s: shown as it was written = %t, want %t", tt.name, got, tt.plain)
		}
		if tt.plain && !strings.Contains(html.UnescapeString(blocks[0].HTML), `dir="auto">`+tt.src+`</pre>`) {
			t.Errorf("%s: text is incomplete: %.300s", tt.name, blocks[0].HTML)
		}
	}
	cut := m.Whole(strings.Repeat("ü", maxPlain), nil, citeOne)
	if got := cut[0].HTML; len(got) > maxPlain+1000 || !strings.Contains(got, txtTooLargeCut.English()) ||
		strings.Contains(got, "\uFFFD") {
		t.Errorf("a text of twice the bound: %d bytes, %.300s; want at most %d, %q in it, no %q in it",
			len(got), got, maxPlain+1000, txtTooLargeCut.English(), "\uFFFD")
	}
}

// The bytes streamed for a growing answer are proportional to its length. They once included one render of the open
// block for each delta.
func TestGrowingAnswerStreamsLinearBytes(t *testing.T) {
	m := NewMarkdown()
	for name, src := range map[string]string{
		"one table":      "| a | b |\n|---|---|\n" + strings.Repeat("| The roof is sound | and dry [1] |\n", 2000),
		"one list":       strings.Repeat("- The roof is sound\n", 4000),
		"one code block": "```\n" + strings.Repeat("x := y\n", 15_000),
		"a wide table":   table(600, 600),
		"beyond bytes":   strings.Repeat("The roof is sound. ", 60_000),
	} {
		drawn, deltas := 0, 0
		d := NewDraft(m, citeOne)
		for at := 0; at < len(src); at += 250 {
			changed, _ := d.Add(src[at:min(at+250, len(src))])
			for _, b := range changed {
				drawn += len(b.HTML)
			}
			deltas++
		}
		got := d.Close()
		whole := 0
		for _, b := range got {
			whole += len(b.HTML)
		}
		if most := (2*growth + 4) * (whole + drawnAtOnce); drawn > most {
			t.Errorf("%s: %d bytes drawn in %d deltas, want at most %d for an answer of %d", name, drawn, deltas,
				most, whole)
		}
		if want := m.Whole(src, nil, citeOne); len(got) != len(want) || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s: %d blocks at the end of the draft, want the %d of the whole", name, len(got), len(want))
		}
	}
}

func TestOversizedDraftReplacesBlocks(t *testing.T) {
	d := NewDraft(NewMarkdown(), func(int) (chat.Citation, bool) { return chat.Citation{}, false })
	if changed, all := d.Add("First.\n\nSecond.\n\n"); all || len(changed) != 2 {
		t.Fatalf("two paragraphs: %d blocks changed, all = %t, want 2", len(changed), all)
	}
	changed, all := d.Add(table(500, 500))
	if !all || len(changed) != 1 || !strings.Contains(changed[0].HTML, "First.\n\nSecond.\n\n|a|a|") {
		t.Errorf("a table too large: %d blocks changed, all = %t, %.200s; want 1", len(changed), all, changed[0].HTML)
	}
	if changed, all = d.Add(strings.Repeat("more ", 2000)); all || len(changed) != 1 || changed[0].N != 1 {
		t.Errorf("more behind it: %d blocks changed, all = %t, want 1", len(changed), all)
	}
}

func BenchmarkWholeAnswer(b *testing.B) {
	m := NewMarkdown()
	src := strings.Repeat(
		"## Roof\n\nThe roof is *sound* and **the wall** is dry [1]. It was [surveyed](https://example.org/a) in "+
			"`2024`.\n\n- one [2]\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 8,
	)
	for b.Loop() {
		m.Whole(src, []string{"The roof is sound and the wall is dry."}, citeOne)
	}
}

func TestTableResultAmountsAreRightAligned(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"12": true, "1.234,50 €": true, "-3": true, "(1,200.50)": true, "CHF 5": true, "25 %": true, "1'234.50": true,
		"INV-4": false, "2026-04-15": false, "12.03.2026": false, "12 Mill Lane": false, "Harrow": false, "": false,
	} {
		if got := isAmount(cell); got != want {
			t.Errorf("%q is an amount: %v, want %v", cell, got, want)
		}
	}
}

func TestTimesAreUTCWithoutScript(t *testing.T) {
	for _, tt := range []struct {
		sentence locale.Message
		want     string
	}{
		{"Nothing to wait for.", "Nothing to wait for."},
		{"Try again at 2026-03-02T01:00:00Z.",
			`Try again <time datetime="2026-03-02T01:00:00Z" data-as="when">on 2 March at 01:00 UTC</time>.`},
		{"It is 2026-03-02T01:00:00Z",
			`It is <time datetime="2026-03-02T01:00:00Z" data-as="when">on 2 March at 01:00 UTC</time>`},
		{"The file <at 2026-99-99T99:99:99Z> is no time.", "The file &lt;at 2026-99-99T99:99:99Z&gt; is no time."},
	} {
		var b strings.Builder
		if err := Said(tt.sentence).Render(t.Context(), &b); err != nil || b.String() != tt.want {
			t.Errorf("%q:\n got %q, %v\nwant %q", tt.sentence, b.String(), err, tt.want)
		}
	}
}

func TestNamesAreTruncatedAndDirectionIsolated(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for name, got := range map[string]string{
		"session":  sessionTitle(t.Context(), chat.Session{Title: long}),
		"document": documentTitle(corpus.Document{Title: long}),
		"file":     documentTitle(corpus.Document{Filename: long}),
	} {
		if n := utf8.RuneCountInString(got); n > maxName {
			t.Errorf("%s: %d characters, want at most %d", name, n, maxName)
		}
	}
	if got, want := documentTitle(corpus.Document{Filename: "a\u202efdp.exe\u2066b"}),
		"a\uFFFDfdp.exe\uFFFDb"; got != want {
		t.Errorf("a name with marks that turn the line = %q, want %q", got, want)
	}
	if n := len(citeLabel(t.Context(), chat.Citation{Number: 1, Title: long})); n > maxName+100 {
		t.Errorf("a chip's label has %d bytes, want at most %d", n, maxName+100)
	}
	failed := &Turn{Error: &chat.StepError{Message: "\u202e" + long}}
	got := failed.reason(t.Context(), locale.Text{})
	if utf8.RuneCountInString(got) > 2000 || strings.Contains(got, "\u202e") {
		t.Errorf("a reason of %d characters, %.20q; want at most 2000 and no %q in it",
			utf8.RuneCountInString(got), got, "\u202e")
	}
	step := &Step{Step: chat.Step{Thought: strings.Repeat(long, 10)}}
	var b strings.Builder
	if err := stepBody(step).Render(t.Context(), &b); err != nil || b.Len() > 2*maxShown {
		t.Errorf("a thought of 100,000 characters: %d bytes, %v; want at most %d", b.Len(), err, 2*maxShown)
	}
}

func TestConversationsWithSameNameAreDistinguished(t *testing.T) {
	now := time.Date(2024, 3, 12, 18, 0, 0, 0, time.UTC)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2024, 3, day, hour, minute, second, 0, time.UTC)
	}
	sessions := []chat.Session{
		{ID: "alone", Title: "What did the new roof cost?", UpdatedAt: at(12, 17, 0, 0)},
		{ID: "first", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 9)},
		{ID: "same minute", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 40)},
		{ID: "same second", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 9)},
		{ID: "earlier", Title: "Summarise this", UpdatedAt: at(3, 9, 30, 1)},
		{ID: "long", Title: "Which worktop did Leila take, and who connects it?", UpdatedAt: at(12, 8, 0, 0)},
		{ID: "as long", Title: "Which worktop did Leila take, or was it Samir?", UpdatedAt: at(11, 8, 0, 0)},
		{ID: "unnamed", UpdatedAt: at(1, 0, 0, 0)},
	}
	got := map[string]string{}
	for id, n := range namesakes(sessions) {
		got[id] = strings.TrimSpace(n.form() + " " + n.words(t.Context(), now) + " " + n.number())
	}
	want := map[string]string{
		"first": "second 14:05:09 (2)", "same second": "second 14:05:09",
		"same minute": "second 14:05:40", "earlier": "minute 3 Mar 09:30",
		"long": "minute 08:00", "as long": "minute 11 Mar 08:00",
	}
	if !maps.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
}

func TestStepShowsResult(t *testing.T) {
	half, near := 0.5, 0.25
	for _, tt := range []struct {
		name   string
		result *chat.StepResult
		want   []string
	}{
		{"a search", &chat.StepResult{Hits: []chat.Hit{
			{DocumentID: "d1", ChunkID: "p1", Title: "Survey", Filename: "survey.pdf", Page: 2,
				Section: "Survey › Roof", Score: &half, Similarity: &near,
				Snippet: "The roof is old", Matches: [][2]int{{4, 8}, {90, 99}}},
			{DocumentID: "d1", ChunkID: "p2", Section: "Survey › Damp", Snippet: "It is wet", Sub: true},
		}}, []string{`href="/d/d1?p=p1"`, "0.50", "<b>Survey</b>", "PDF", "p. 2 · Roof", "The <mark>roof</mark> is old",
			`class="sub"`, `href="/d/d1?p=p2"`, ">Damp<"}},
		{"a page of the web that was read",
			&chat.StepResult{
				Hits: []chat.Hit{
					{DocumentID: "w", ChunkID: "p", Title: "Slate", SourceURL: "https://example.org/slate"},
				},
			},
			[]string{`href="/d/w?p=p"`, "<b>Slate</b>", ">example.org<"}},
		{"a page of the web that was not",
			&chat.StepResult{
				Hits: []chat.Hit{
					{Title: "Gone", SourceURL: "https://example.org/x", Note: "It answered 404.", Snippet: "s"},
				},
			},
			[]string{`<div class="hit bare">`, "example.org · It answered 404."}},
		{"a calculation",
			&chat.StepResult{Formula: "2 * 3", Value: "6", Facts: []chat.Fact{{Name: "exact", Value: "true"}}},
			[]string{"<code>2 * 3</code>", "= 6", "<dt>exact</dt><dd>true</dd>"}},
		{"a summary", &chat.StepResult{Outline: []string{"Roof", "  Damp"}, Text: "It is old."},
			[]string{"<li>Roof</li>", `<div class="read" tabindex="0">It is old.</div>`}},
		{"a failure", &chat.StepResult{Failure: "There is no <document>.", Notes: []string{"A note."}},
			[]string{"There is no &lt;document&gt;.", "A note."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := drawn(&Step{Step: chat.Step{Result: tt.result}}).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("drawn = %s, want %s in it", b.String(), want)
				}
			}
		})
	}
}

func TestPageWithoutScriptsReloads(t *testing.T) {
	// Without a session: the documents, while they are parsed and indexed.
	for session, want := range map[string]string{"s1": `content="2; url=/c/s1"`, "": `content="2"`} {
		var b strings.Builder
		page := Page{
			Running: true, Session: session, Assets: Assets{Path: func(name string) string { return "/" + name }},
		}
		if err := Layout(page, templ.NopComponent, nil).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `http-equiv="refresh" `+want) {
			t.Errorf("page of session %q lacks the refresh by %s", session, want)
		}
	}
}

func TestRelativeTimes(t *testing.T) {
	for _, tt := range []struct {
		took        time.Duration
		row, header string
	}{
		{0, "<1s", "<1 s"},
		{999 * time.Millisecond, "<1s", "<1 s"},
		{2390 * time.Millisecond, "2.3s", "2.3 s"},
		{9999 * time.Millisecond, "9.9s", "9.9 s"},
		{14*time.Second + 700*time.Millisecond, "14s", "14 s"},
		{64 * time.Second, "1m 4s", "1 min 4 s"},
	} {
		if got := duration(t.Context(), tt.took.Milliseconds()); got != tt.row {
			t.Errorf("duration(t.Context(), %s) = %q, want %q", tt.took, got, tt.row)
		}
		if got := seconds(t.Context(), tt.took); got != tt.header {
			t.Errorf("seconds(t.Context(), %s) = %q, want %q", tt.took, got, tt.header)
		}
	}
}

func TestGroupShowsCommonFields(t *testing.T) {
	call := func(label chat.Label, action chat.Action, status chat.Status, title string) *Step {
		s := &Step{}
		s.Step = chat.Step{
			ToolName: label.Doing, Label: &label, ActionType: action, Status: status,
			Result: &chat.StepResult{Title: title},
		}
		return s
	}
	reading := chat.Label{Doing: "Reading", Done: "Read", Argument: "doc_id", Form: chat.LabelTitle}
	searching := chat.Label{
		Doing: "Searching for", Done: "Searched for", Noun: "search", Argument: "query", Form: chat.LabelQuote,
	}
	read := func(title string) *Step { return call(reading, chat.ActionReading, chat.StatusComplete, title) }
	search := call(searching, chat.ActionSearching, chat.StatusError, "")
	for _, tt := range []struct {
		name   string
		repeat bool
		status chat.Status
		calls  []*Step
		want   string
		result string
	}{
		{"documents read one after the other", true, chat.StatusComplete, []*Step{read("A"), read("B"), read("C")},
			"Read 3 documents", ""},
		{"documents being read together", false, chat.StatusRunning, []*Step{read("A"), read("B")},
			"Reading 2 documents in parallel", ""},
		{"a document read twice", true, chat.StatusComplete, []*Step{read("A"), read("A"), read("B")},
			"Read 2 documents, 3 times", ""},
		{"searches, one of them failed", false, chat.StatusComplete,
			[]*Step{search, call(searching, chat.ActionSearching, chat.StatusComplete, "")}, "2 searches in parallel",
			"1 failed"},
		{"calls of different tools", false, chat.StatusComplete, []*Step{read("A"), search}, "2 steps in parallel",
			"1 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			group := &Step{Grouping: true, Repeat: tt.repeat, Children: tt.calls}
			group.Status = tt.status
			a := group.activity(t.Context())
			got := a.Verb
			if a.Object != "" {
				got += " " + a.Object
			}
			if got != tt.want || tt.status == chat.StatusComplete && group.result(t.Context()) != tt.result {
				t.Errorf("got %q, %q, want %q, %q", got, group.result(t.Context()), tt.want, tt.result)
			}
		})
	}
}

func TestStepUsesToolLabel(t *testing.T) {
	quoted := chat.Label{Doing: "Seeking", Done: "Sought", Argument: "what", Form: chat.LabelQuote}
	titled := chat.Label{Doing: "Leafing through", Done: "Leafed through", Argument: "id", Form: chat.LabelTitle}
	bare := chat.Label{Doing: "Tidying up", Done: "Tidied up"}
	for _, tt := range []struct {
		name   string
		step   chat.Step
		want   activity
		result string
	}{
		{"words, under way", chat.Step{Label: &quoted, Status: chat.StatusRunning, Message: "Seeking roof"},
			activity{"Seeking", "roof", "quote"}, ""},
		{"words, over", chat.Step{Label: &quoted, Status: chat.StatusComplete, Message: "Found 3 documents"},
			activity{"Sought", "roof", "quote"}, "Found 3 documents"},
		{"words, failed", chat.Step{Label: &quoted, Status: chat.StatusError},
			activity{"Failed: seeking", "roof", "quote"}, ""},
		{"words of an argument that has gone", chat.Step{
			Label:  &chat.Label{Doing: "Seeking", Done: "Sought", Argument: "gone", Form: chat.LabelCode},
			Status: chat.StatusComplete, Result: &chat.StepResult{Query: "slate"},
		}, activity{"Sought", "slate", "code"}, ""},
		{"a document by its result", chat.Step{
			Label: &titled, Status: chat.StatusComplete, Message: "Done", Result: &chat.StepResult{Title: "Survey"},
		}, activity{"Leafed through", "Survey", ""}, ""},
		{"a document by the message", chat.Step{Label: &titled, Message: "Leafing through Survey.pdf"},
			activity{"Leafing through", "Survey.pdf", ""}, ""},
		{"a document by the argument", chat.Step{Label: &titled, Message: "A moment"},
			activity{"Leafing through", "d1", ""}, ""},
		{"nothing", chat.Step{Label: &bare, Status: chat.StatusComplete, Message: "Tidied up the shelf"},
			activity{"Tidied up", "", ""}, ""},
		{"a tool without words", chat.Step{Status: chat.StatusComplete, Message: "Called weather: today"},
			activity{"Called", "weather: today", ""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.step.ToolName, tt.step.ToolInput = "of_tomorrow", []byte(`{"what":"roof","id":"d1"}`)
			s := &Step{Step: tt.step}
			if got := s.activity(t.Context()); got != tt.want {
				t.Errorf("activity = %+v, want %+v", got, tt.want)
			}
			if got := s.result(t.Context()); got != tt.result {
				t.Errorf("result = %q, want %q", got, tt.result)
			}
		})
	}
}

func TestOnlyOpenedPassageHasLink(t *testing.T) {
	s := &Step{}
	opened := func(hits ...chat.Hit) *chat.StepResult { return &chat.StepResult{Hits: hits} }
	s.Step = chat.Step{
		ToolName: "open_document", Capability: chat.CapabilityOpen, Status: chat.StatusComplete,
		Result: opened(chat.Hit{DocumentID: "d1", ChunkID: "p1", URL: "/d/d1?p=p1#b2"}),
	}
	if got, want := s.opens(), "/d/d1?p=p1#b2"; got != want {
		t.Errorf("opens = %q, want %q", got, want)
	}
	for _, result := range []*chat.StepResult{
		{Failure: "There is no passage."}, opened(chat.Hit{URL: "https://elsewhere.example/"}), nil,
	} {
		other := &Step{Step: s.Step}
		other.Result = result
		if got := other.opens(); got != "" {
			t.Errorf("%+v opens %q, want nothing", result, got)
		}
	}
}

func TestSourceCountsIncludeOnlyReadSources(t *testing.T) {
	for opened, want := range map[int]string{0: "1 cited", 1: "1 cited · 1 read", 3: "1 cited · 3 read"} {
		turn := Turn{Final: &chat.Answer{
			Sources: []chat.Source{{Number: 1, Cited: true}}, Coverage: chat.Coverage{Searched: 4, Opened: opened},
		}}
		if got := turn.sourceCounts(t.Context()); got != want {
			t.Errorf("%d documents opened: %q, want %q", opened, got, want)
		}
	}
}

func TestCoverageWithoutSearch(t *testing.T) {
	for _, tt := range []struct {
		coverage chat.Coverage
		want     string
	}{
		{chat.Coverage{}, "Nothing was searched."},
		{chat.Coverage{Searched: 2}, "Searched 2 documents."},
		{chat.Coverage{Searched: 2, Opened: 1}, "Searched 2 documents, opened 1."},
	} {
		if got := coverageText(t.Context(), tt.coverage); got != tt.want {
			t.Errorf("coverageText(t.Context(), %+v) = %q, want %q", tt.coverage, got, tt.want)
		}
	}
}
