package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

const (
	poorRoof = "The roof covering is in poor condition"
	renewed  = "The roof was last renewed in 1987 by Harper & Sons"
)

// roofPassage matches the number of the passage about the roof in a reading of the survey.
var roofPassage = regexp.MustCompile(`\[(\d+)\] \(b3|"n":(\d+),"block_id":"b3"`)

func TestSentenceIsJudgedByItsFootnotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says  string
		unsupported []string
		confidence  float64
	}{
		{"all is borne out", poorRoof + " [1]. " + renewed + ".[1]", nil, 1},
		{"an invention before the full stop", poorRoof + " [1]. The king keeps dragons in the cellar [1].",
			[]string{"The king keeps dragons in the cellar."}, 0.5},
		{"and behind it without a space", poorRoof + ".[1] The chimney was replaced in 1850.[1]",
			[]string{"The chimney was replaced in 1850."}, 0.5},
		{"and without a footnote", "The walls are fine. Pigs fly over the moon. Cows sing. " + poorRoof + " [1].",
			[]string{"The walls are fine.", "Pigs fly over the moon.", "Cows sing."}, 0.25},
		{"a footnote covers what stands before it in its paragraph",
			poorRoof + ". Several slates are missing on the north slope. The lead flashing is cracked [1].", nil, 1},
		{"but not in another", "The roof was last renewed in 1987.\n\n" + poorRoof + " [1].",
			[]string{"The roof was last renewed in 1987."}, 0.5},
		{"a sentence that is said again", poorRoof + " [1]. " + poorRoof + ".", nil, 1},
		{"nor behind it", poorRoof + " [1]. Dragons live in the cellar.", []string{"Dragons live in the cellar."}, 0.5},
		{"the line that leads to a list covers it",
			"The survey found this [1]:\n\n- the roof covering is in poor condition\n- several slates are missing on " +
				"the north slope\n- dragons in the cellar", []string{"dragons in the cellar"}, 0.75},
		{"each part by its own footnote", poorRoof + " [1] and the king keeps dragons in the cellar [1].",
			[]string{poorRoof + " and the king keeps dragons in the cellar."}, 0},
		{"what stands behind the last", poorRoof + " [1], and the king keeps seven dragons.",
			[]string{poorRoof + ", and the king keeps seven dragons."}, 0},
		{"a part that says nothing alone",
			"According to the survey [1], the roof was last renewed in 1987 [1].", nil, 1},
		{"what is missing", poorRoof + " [1]. The survey does not say who paid for it.", nil, 1},
		{"the opposite", poorRoof + " [1]. The roof was not renewed in 1987 by Harper & Sons [1].",
			[]string{"The roof was not renewed in 1987 by Harper & Sons."}, 0.5},
		{"another unit", poorRoof + " [1]. We recommend replacing the flashing within twelve years [1].",
			[]string{"We recommend replacing the flashing within twelve years."}, 0.5},
		{"words about documents alone say nothing", poorRoof + " [1]. The document states this [1].",
			[]string{"The document states this."}, 0.5},
		{"nor do they without a footnote", "The document states this. " + poorRoof + " [1].", nil, 1},
		{"beside others they need no passage",
			"According to the document [1], the roof was last renewed in 1987 [1].", nil, 1},
		{"a word that states nothing", "Yes [1]. " + poorRoof + " [1].", nil, 1},
		{"the title is known",
			"The building survey of 12 Mill Lane says that the roof covering is in poor condition [1].", nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, scripted.NewScript(func(r scripted.Request) scripted.Reply {
				for _, m := range r.Messages {
					if found := roofPassage.FindStringSubmatch(m.Text); found != nil {
						return says(strings.ReplaceAll(tt.says, "[1]", "["+found[1]+found[2]+"]"))
					}
				}
				if r.Turn() > 2 {
					return says("The passage about the roof was not shown.")
				}
				return calls(call("read_document", `{"doc_id":"Building survey of 12 Mill Lane"}`))
			}))
			got := h.answer(asks("What does the survey say about the roof?"))
			if tt.confidence == 0 { // nothing in it is sure, but a part of it is
				if got.done().Error != nil {
					t.Fatalf("it was held back: %+v, want none", got.done())
				}
			}
			if a := got.answer(); !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence {
				t.Errorf("%q: unsupported %q, confidence %v: %s; want %q and %v",
					a.Markdown, a.Unsupported, a.Confidence, a.SelfEvaluation, tt.unsupported, tt.confidence)
			}
		})
	}
}

func TestAnswerMentioningOnlyDocumentsIsWithheld(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"The documents say so [1].", "Yes, according to the sources [1].", "Yes [1]."} {
		model := scripted.New(calls(search("paid holiday entitlement")), says(said), says(said))
		h := newHarness(t, model)
		got := h.answer(asks("Are there 99 days of paid holiday?"))
		if done := got.done(); done.Status != chat.RunCitationValidationFailed {
			a := all[chat.Answer](got)
			t.Errorf("%q: status = %s, want %s; answers = %+v", said, done.Status, chat.RunCitationValidationFailed, a)
		}
	}
}

// Every step has a thought, an action and an observation, also without a language model. Concurrent calls share
// their thought.
func TestOfflineCallHasThought(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	for _, asked := range []string{
		"What is the condition of the roof?", "How many days of holiday are there, and when was the roof renewed?",
		"What is 12 * 7?", "Which documents do I have?", "What does the moon cost?",
		"Compare the roof condition and paid holiday",
	} {
		steps := map[string]chat.Step{}
		got := h.answer(asks(asked))
		for _, s := range all[chat.Step](got) {
			steps[s.CallID] = s
		}
		calls := 0
		for _, s := range steps {
			if s.ToolName == "" {
				continue
			}
			calls++
			if s.Thought == "" && steps[s.ParentID].Thought == "" {
				t.Errorf("%s: %q lacks a thought", asked, s.Message)
			}
		}
		if calls == 0 {
			t.Errorf("%s: got no calls, want some", asked)
		}
	}
}

func TestFullSessionOffersNewOne(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil), func(c *Config) { c.MaxQuestions = 2 })
	ask := func(req chat.RunRequest) (chat.Run, error) {
		t.Helper()
		run, _, err := h.runs.Start(t.Context(), chat.LocalUser, req)
		if err == nil {
			h.wait(run.ID).done()
		}
		return run, err
	}
	first, err := ask(chat.RunRequest{SessionID: "talk", Message: "How many days of paid holiday are there?"})
	if err != nil {
		t.Fatal(err)
	}
	again := chat.RunRequest{SessionID: "talk", Message: "And who renewed the roof?", IdempotencyKey: "k"}
	second, err := ask(again)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(chat.RunRequest{SessionID: "talk", Message: "A third question"})
	if err == nil || chat.CodeOf(err) != chat.CodeTurnLimit ||
		!strings.Contains(
			chat.MessageOf(err).String(),
			"limit of 2 questions. Omit session_id to start",
		) {
		t.Errorf("the third question = %v, want %v", err, chat.CodeTurnLimit)
	}
	if _, err := ask(chat.RunRequest{
		SessionID: "talk", Message: "Another third question", IdempotencyKey: "other",
	}); err == nil {
		t.Error("idempotency key reopened the session, want the limit")
	}
	if run, err := ask(again); err != nil || run.ID != second.ID {
		t.Errorf("the last question sent again = %s, %v; want %s", run.ID, err, second.ID)
	}
	if _, err := ask(chat.RunRequest{
		SessionID: "talk", Message: "How many days of leave?", Sibling: first.ID,
	}); err != nil {
		t.Errorf("an edited question = %v, want no error", err)
	}
	if _, err := ask(chat.RunRequest{Message: "How many days of leave?"}); err != nil {
		t.Errorf("a new session = %v, want no error", err)
	}
}

func TestSessionQuestionLimitByToolset(t *testing.T) {
	t.Parallel()
	box, err := tools.NewRegistry(tools.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		set           string
		setting, want int
	}{
		{"the default", "cursor", 0, 200},
		{"documentation is for short conversations", "documentation", 0, 20},
		{"a setting", "react", 50, 50},
		{"a setting may raise the limit", "react", 500, 500},
		{"but not that of documentation", "documentation", 500, 20},
		{"which it may lower", "documentation", 5, 5},
	} {
		r := &Runs{engine: &run.Engine{Registry: box}, cfg: Config{MaxQuestions: tt.setting}}
		if got := r.questionLimit(box.Toolsets[tt.set]); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A mail of the library, and a sentence of it as answers repeat it.
const (
	mail    = "# Mail of Tom Reed\n\nDear Ada,\n\n" + sanding + " Please clear the room by then.\n\nKind regards, Tom"
	sanding = "The parquet floor in the living room will be sanded on Monday 3 March."
)

// repeats answers with a text after one search.
func repeats(words, said string) *scripted.Model {
	return scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search(words))
		}
		return says(said)
	})
}

func TestAnswerRepeatingMailGetsFootnote(t *testing.T) {
	t.Parallel()
	marked := strings.TrimSuffix(sanding, ".") + " [1]."
	for _, tt := range []struct {
		name, said, want string
		added            []bool // by citation
	}{
		{"nothing else", sanding, marked, []bool{true}},
		{"beside a cited sentence", sanding + "\n\nPlease clear the room by then [1].",
			marked + "\n\nPlease clear the room by then [2].", []bool{true, false}},
		{"behind one", "Please clear the room by then [1]. " + sanding,
			"Please clear the room by then [1]. " + strings.TrimSuffix(sanding, ".") + " [2].", []bool{false, true}},
	} {
		h := newHarness(t, repeats("parquet floor", tt.said))
		h.add("mail.md", mail)
		got := h.answer(asks("When is the parquet floor sanded?"))
		a := got.answer()
		var added []bool
		for _, c := range a.Citations {
			added = append(added, c.Added)
		}
		if a.Markdown != tt.want || !slices.Equal(added, tt.added) || len(a.Unsupported) > 0 || a.Confidence != 1 {
			t.Errorf("%s: got %q, added %v, unsupported %q, confidence %v (%s); want %q, %v, none, 1", tt.name,
				a.Markdown, added, a.Unsupported, a.Confidence, a.SelfEvaluation, tt.want, tt.added)
		}
		if got.text() != a.Markdown || len(all[chat.AnswerReset](got)) > 0 {
			t.Errorf("%s: got stream text %q:%s; want %q without a reset",
				tt.name, got.text(), dump(got.log), a.Markdown)
		}
		for i, c := range all[chat.Citation](got) {
			if c.Number != i+1 || c.Added != tt.added[i] {
				t.Errorf("%s: citation %d of the stream is %+v, want added %v", tt.name, i+1, c, tt.added[i])
			}
		}
	}
}

func TestAnswerGetsOnlySupportingFootnotes(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"negated":               strings.Replace(sanding, "will be", "will not be", 1),
		"another number":        strings.Replace(sanding, "3 March", "13 March", 1),
		"another word":          strings.Replace(sanding, "living room", "dining room", 1),
		"more than the mail":    strings.Replace(sanding, "Monday 3 March.", "Monday 3 March by two men.", 1),
		"a document not read":   "The roof was last renewed in 1987 by Harper & Sons.",
		"no footnotes in a row": "Kind regards, Tom.",
	} {
		h := newHarness(t, repeats("parquet floor", "Please clear the room by then [1]. "+said))
		h.add("mail.md", mail)
		a := h.answer(chat.RunRequest{Message: "When is the parquet floor sanded?", Config: chat.RunConfig{
			RetrievalTopK: new(1),
		}}).answer()
		if len(a.Citations) != 1 || a.Citations[0].Added {
			t.Errorf("%s: got %q with %+v, want no added footnote", name, a.Markdown, a.Citations)
		}
	}
	h := newHarness(t, repeats("parquet floor", sanding))
	h.add("mail.md", mail)
	a := h.answer(chat.RunRequest{Message: "When is the parquet floor sanded?", Config: chat.RunConfig{
		RequireCitations: new(false),
	}}).answer()
	if a.Markdown != sanding || len(a.Citations) > 0 {
		t.Errorf("without footnotes asked for: got %q with %+v, want none", a.Markdown, a.Citations)
	}
}

func TestRunSearchesReadsAndAnswersWithFootnotes(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		calls(call("read_document", `{"document_id":"Survey.md"}`)),
		says("The roof covering is in poor condition [1]. It was last renewed in 1987 by Harper & Sons [99]."),
	)
	h := newHarness(t, model)
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

func TestCitationPrecedesDeltaWithMarker(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("read_document", `{"doc_id":"Survey.md"}`)),
		scripted.Reply{
			Chunks: []string{"The slates are missing ", "[", "1", ", ", "2]", " and the wall is damp", "【", "3】", "."},
		},
	)
	h := newHarness(t, model)
	got := h.answer(asks("What is wrong with the roof and the walls?"))
	known := map[string]bool{}
	for _, p := range got.log {
		switch p := p.(type) {
		case chat.Citation:
			known["["+string(rune('0'+p.Number))+"]"] = true
		case chat.AnswerDelta:
			for _, m := range cite.Footnote().FindAllString(p.Text, -1) {
				if !known[m] {
					t.Errorf("delta %q precedes its citation", p.Text)
				}
			}
		}
	}
	if len(known) == 0 {
		t.Fatalf("got no citations:%s", dump(got.log))
	}
	if strings.ContainsAny(got.text(), "【】,") {
		t.Errorf("text = %q", got.text())
	}
}

func TestParallelCallsShareStep(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"holiday"}`), call("search_documents", `{"query":"roof"}`)),
		says("Employees have 28 days of paid holiday a year [1]. The roof is in poor condition [2]."),
	)
	h := newHarness(t, model)
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

func TestTextBeforeCallIsThought(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		scripted.Reply{
			Text: "Let me look that up first.", Calls: []llm.Call{call("search_documents", `{"query":"holiday"}`)},
		},
		says("There are 28 days of paid holiday a year [1]."),
	)
	h := newHarness(t, model)
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

func TestOfflineModelUsesSameTools(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
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
		!strings.HasPrefix(refusal.Markdown, english.Refusal) {
		t.Errorf("refusal = %+v; want StopReason %v, no citations, %q at its beginning",
			refusal, chat.StopRefused, english.Refusal)
	}
}

func TestFollowUpIncludesConversation(t *testing.T) {
	t.Parallel()
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(call("search_documents", `{"query":"roof renewed"}`))
		}
		return says("The roof was last renewed in 1987 by Harper & Sons [1].")
	})
	h := newHarness(t, model)
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

func TestClientHistoryPrecedesQuestion(t *testing.T) {
	t.Parallel()
	model := scripted.New(says("The roof was last renewed in 1987."))
	h := newHarness(t, model)
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
		t.Errorf("messages = %q, want %q", said, want)
	}
}

func TestDocumentCannotGiveInstructions(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("read_document", `{"doc_id":"Handbook.md","focus_query":"sickness"}`)),
		says("A doctor's certificate is needed from the fourth day [2]."),
	)
	h := newHarness(t, model)
	got := h.answer(asks("When do I need a certificate?"))
	got.answer()
	for _, s := range got.ended() {
		if s.ToolName != "" && s.ToolName != "read_document" {
			t.Errorf("got call %s, want read_document only", s.ToolName)
		}
	}
	msgs := model.Requests()[1].Messages
	result := msgs[len(msgs)-1].Text
	lines := strings.Split(result, "\n")
	mark := strings.Fields(lines[0])[2]
	if len(mark) != 16 || !strings.Contains(lines[len(lines)-1], mark) || !strings.Contains(msgs[0].Text, mark) ||
		strings.Count(result, mark) != 2 {
		t.Errorf("result lacks its fence:\n%s", result)
	}
}
