package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestARunSearchesReadsAndAnswersWithFootnotes(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		calls(call("read_document", `{"document_id":"Survey.md"}`)),
		says("The roof covering is in poor condition [1]. It was last renewed in 1987 by Harper & Sons [99]."),
	)
	h := newHouse(t, model)
	got := h.answer(asks("What is the condition of the roof?"))
	a := got.answer()
	if a.StopReason != chat.StopAnswered || len(a.Citations) != 1 {
		t.Fatalf("answer = %+v; want StopReason %v and 1 citation", a, chat.StopAnswered)
	}
	c := a.Citations[0]
	if c.Quote != "The roof covering is in poor condition." || c.Check != chat.CheckVerified ||
		c.Title != "Building survey of 12 Mill Lane" {
		t.Errorf("citation = %+v; want Quote %q, Check %v, Title %q",
			c, "The roof covering is in poor condition.", chat.CheckVerified, "Building survey of 12 Mill Lane")
	}
	if want := "/d/" + c.DocumentID + "?c=" + got.runID + ".1"; c.URL != want {
		t.Errorf("url = %s, want %s", c.URL, want)
	}
	whole, err := h.library.Text(t.Context(), chat.Local, c.DocumentID)
	if err != nil {
		t.Fatal(err)
	}
	if stored := string([]rune(whole)[c.Start:c.End]); stored != c.Quote {
		t.Errorf("stored text[start:end] = %q, quote = %q, want %q", stored, c.Quote, c.Quote)
	}
	blocks, err := h.library.Blocks(t.Context(), chat.Local, c.DocumentID)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.Start <= c.Start && c.End <= b.End && b.ID != c.BlockID {
			t.Errorf("block = %s, want %s", c.BlockID, b.ID)
		}
	}
	if want := "The roof covering is in poor condition [1]. It was last renewed in 1987 by Harper " +
		"& Sons."; a.Markdown != want || got.text() != want {
		t.Errorf("answer = %q, deltas = %q, want %q", a.Markdown, got.text(), want)
	}
	search, read := got.step("search_documents"), got.step("read_document")
	if search.Message != "Found 1 document" || search.Status != chat.StatusComplete ||
		search.ToolStatus != search.Status {
		t.Errorf("search step = %+v; want Message %q, Status %v, ToolStatus %v",
			search, "Found 1 document", chat.StatusComplete, search.Status)
	}
	if read.Message != "Read Survey.md" || read.ActionType != chat.ActionReading {
		t.Errorf("read step = %+v; want Message %q and ActionType %v", read, "Read Survey.md", chat.ActionReading)
	}
	begun := all[chat.Step](got)
	if begun[1].Message != "Searching for: roof condition" || begun[1].Status != chat.StatusRunning ||
		begun[0].Step != "analyse" {
		t.Errorf("first steps = %+v", begun[:2])
	}
	if len(a.Sources) != 1 || !a.Sources[0].Cited || a.Coverage.Searched != 2 || a.Coverage.Opened != 1 {
		t.Errorf("sources = %+v, coverage = %+v; want 1 source, Searched 2, Opened 1", a.Sources, a.Coverage)
	}
}

func TestACitationPrecedesTheDeltaThatHoldsItsBracket(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("read_document", `{"doc_id":"Survey.md"}`)),
		scripted.Reply{
			Chunks: []string{"The slates are missing ", "[", "1", ", ", "2]", " and the wall is damp", "【", "3】", "."},
		},
	)
	h := newHouse(t, model)
	got := h.answer(asks("What is wrong with the roof and the walls?"))
	known := map[string]bool{}
	for _, p := range got.log {
		switch p := p.(type) {
		case chat.Citation:
			known["["+string(rune('0'+p.Number))+"]"] = true
		case chat.AnswerDelta:
			for _, m := range ground.Footnote.FindAllString(p.Text, -1) {
				if !known[m] {
					t.Errorf("delta %q came before its citation", p.Text)
				}
			}
		}
	}
	if len(known) == 0 {
		t.Fatalf("no citations:%s", dump(got.log))
	}
	if strings.ContainsAny(got.text(), "【】,") {
		t.Errorf("text = %q", got.text())
	}
}

func TestParallelCallsStandUnderOneStep(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"holiday"}`), call("search_documents", `{"query":"roof"}`)),
		says("Employees have 28 days of paid holiday a year [1]. The roof is in poor condition [2]."),
	)
	h := newHouse(t, model)
	got := h.answer(asks("Compare holidays and roofs"))
	parent := got.step("parallel")
	if parent.Message != "2 searches in parallel" || parent.Status != chat.StatusComplete {
		t.Errorf("parent = %+v; want Message %q and Status %v", parent, "2 searches in parallel", chat.StatusComplete)
	}
	children := 0
	for _, s := range got.ended() {
		if s.ParentID == parent.CallID && s.ToolName == "search_documents" && s.Status == chat.StatusComplete {
			children++
		}
	}
	if children != 2 {
		t.Errorf("%d children:%s, want 2", children, dump(got.log))
	}
	if got.answer().Citations[0].Number != 1 {
		t.Errorf("citations = %+v, want 1", got.answer().Citations)
	}
}

func TestTextBeforeACallIsAThought(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		scripted.Reply{
			Text: "Let me look that up first.", Calls: []llm.Call{call("search_documents", `{"query":"holiday"}`)},
		},
		says("There are 28 days of paid holiday a year [1]."),
	)
	h := newHouse(t, model)
	got := h.answer(asks("How many days of holiday are there?"))
	resets := all[chat.AnswerReset](got)
	if len(resets) != 1 || resets[0].CallID != got.step("search_documents").CallID {
		t.Fatalf("resets = %+v:%s, want 1 reset", resets, dump(got.log))
	}
	if got.step("search_documents").Thought != "Let me look that up first." || strings.Contains(got.text(), "Let me") {
		t.Errorf("thought = %q, text = %q; want %q and no %q in it",
			got.step("search_documents").Thought, got.text(), "Let me look that up first.", "Let me")
	}
}

func TestTheOfflineModelAnswersFromTheSameTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	got := h.answer(asks("How many days of paid holiday does an employee get?"))
	a := got.answer()
	if len(a.Citations) == 0 || !strings.Contains(a.Markdown, "28 days") || len(a.Unsupported) > 0 {
		t.Errorf("answer = %+v; want some citations, %q in it, none", a, "28 days")
	}
	if a.Confidence <= 0.5 || a.SelfEvaluation == "" {
		t.Errorf("confidence = %v, %q; want more than 0.5 and something", a.Confidence, a.SelfEvaluation)
	}
	closest := h.answer(asks("Who pays for holiday employees get when they are ill abroad?")).answer()
	if closest.Finding != chat.FindingClosest || len(closest.Unsupported) > 0 || closest.Confidence > 0.6 {
		t.Errorf("quotes that may not answer: %+v; want %s, nothing unsupported and at most 0.6", closest,
			chat.FindingClosest)
	}
	refusal := h.answer(asks("Who won the football world cup in Argentina?")).answer()
	if refusal.StopReason != chat.StopRefused || len(refusal.Citations) != 0 ||
		!strings.HasPrefix(refusal.Markdown, ground.RefusalSentence) {
		t.Errorf("refusal = %+v; want StopReason %v, no citations, %q at its beginning",
			refusal, chat.StopRefused, ground.RefusalSentence)
	}
}

func TestAFollowUpQuestionKnowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(call("search_documents", `{"query":"roof renewed"}`))
		}
		return says("The roof was last renewed in 1987 by Harper & Sons [1].")
	})
	h := newHouse(t, model)
	first := h.ask(asks("When was the roof renewed?"))
	h.wait(first.ID).answer()
	h.answer(chat.RunRequest{SessionID: first.SessionID, Message: "And who did it?"}).answer()
	requests := model.Requests()
	msgs := requests[2].Messages
	if len(msgs) != 4 || msgs[1].Text != "When was the roof renewed?" ||
		msgs[2].Text != "The roof was last renewed in 1987 by Harper & Sons." {
		t.Fatalf("history = %+v", msgs[1:])
	}
	if !strings.Contains(msgs[0].Text, "1. Building survey of 12 Mill Lane") {
		t.Errorf("the system prompt does not name the last sources: %s, want %q in it",
			msgs[0].Text, "1. Building survey of 12 Mill Lane")
	}
}

func TestTurnsFromOutsideComeBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	model := scripted.New(says("The roof was last renewed in 1987."))
	h := newHouse(t, model)
	req := asks("And when was that?")
	req.History = [][2]string{{"Who renewed the roof?", "Harper & Sons did."}}
	h.answer(req)
	var said []string
	for _, m := range model.Requests()[0].Messages {
		if m.Role != llm.RoleSystem {
			said = append(said, string(m.Role)+": "+m.Text)
		}
	}
	want := []string{"user: Who renewed the roof?", "assistant: Harper & Sons did.", "user: And when was that?"}
	if !slices.Equal(said, want) {
		t.Errorf("the model was told %q, want %q", said, want)
	}
}

func TestADocumentCanNotGiveOrders(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("read_document", `{"doc_id":"Handbook.md","focus_query":"sickness"}`)),
		says("A doctor's certificate is needed from the fourth day [2]."),
	)
	h := newHouse(t, model)
	got := h.answer(asks("When do I need a certificate?"))
	got.answer()
	for _, s := range got.ended() {
		if s.ToolName != "" && s.ToolName != "read_document" {
			t.Errorf("unexpected tool call %s", s.ToolName)
		}
	}
	msgs := model.Requests()[1].Messages
	result := msgs[len(msgs)-1].Text
	lines := strings.Split(result, "\n")
	mark := strings.Fields(lines[0])[2]
	if len(mark) != 16 || !strings.Contains(lines[len(lines)-1], mark) || !strings.Contains(msgs[0].Text, mark) ||
		strings.Count(result, mark) != 2 {
		t.Errorf("the result is not fenced:\n%s", result)
	}
}
