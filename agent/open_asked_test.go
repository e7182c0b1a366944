package agent

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// A question that only requests to open a source opens it, with any model, and without a request to the model.
func TestOpenRequestOpensSourceWithoutModel(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	for name, model := range map[string]llm.Model{"offline": offline.New(nil, nil), "scripted": scripted.New()} {
		h.startAgent(scripted.New(calls(search("paid holiday")), says(goodAnswer)))
		first := h.ask(asks("How many days of paid holiday are there?"))
		session, cited := first.SessionID, h.wait(first.ID).answer().Citations[0]
		h.startAgent(model)
		for _, tt := range []struct{ ask, said, url string }{
			{"Open citation 1", "Opened footnote 1: Handbook.md.", cited.URL},
			{"Open [1]", "Opened footnote 1: Handbook.md.", cited.URL},
			{"Please open the source of footnote 1.", "Opened footnote 1: Handbook.md.", cited.URL},
			{"Öffne Fußnote 1", "Opened footnote 1: Handbook.md.", cited.URL},
			{"open the document Survey.md", "Opened Survey.md.", "/d/"},
			{"Open survey.md", "Opened Survey.md.", "/d/"},
			{"Open the Staff handbook", "Opened Handbook.md.", "/d/" + cited.DocumentID},
			{"Open footnote 7", "There is no footnote 7 in the last answer. It has 1 (Handbook.md).", ""},
			{"Open the document Treaty",
				"There is no document called “Treaty”. There are Handbook.md and Survey.md.", ""},
			{"open treaty_of_1815.pdf",
				`There is no document called “treaty_of_1815.pdf”. There are Handbook.md and Survey.md.`, ""},
		} {
			req := asks(tt.ask)
			req.SessionID = session
			got := h.answer(req)
			a := got.answer()
			if a.Markdown != tt.said || a.StopReason != chat.StopAnswered || a.Confidence != 1 ||
				len(a.Unsupported) != 0 {
				t.Errorf("%s: %q is answered %q (%s, %v), want %q", name, tt.ask, a.Markdown, a.StopReason,
					a.Confidence, tt.said)
			}
			opened := ""
			for _, s := range got.ended() {
				var out struct{ URL string }
				if s.ActionType == chat.ActionOpening && json.Unmarshal(s.ToolOutput, &out) == nil {
					opened = out.URL
				}
			}
			if !strings.HasPrefix(opened, tt.url) || (opened == "") != (tt.url == "") {
				t.Errorf("%s: %q opens %q, want %q", name, tt.ask, opened, tt.url)
			}
		}
	}
}

func TestQuestionsContainingOpenAreAnswered(t *testing.T) {
	for _, q := range []string{
		"Open questions of the survey", "What does footnote 1 say?", "Open the document that mentions the roof",
		"Open [1] and compare it with [2]", "Open the document Handbook.md and summarise it",
		"How do I open a bank account?", "Which sources are open?", "Open the window before you light the boiler",
	} {
		_, cited := question.CitationToOpen(q)
		if _, sure := question.DocumentToOpen(q); cited || sure {
			t.Errorf("%q opens a source (%v) or a document (%v), want neither", q, cited, sure)
		}
	}
}

// A question that requests more than opening a source gets an answer.
func TestOpenRequestWithQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	for _, q := range []string{
		"Open the document Handbook.md and tell me how many days of paid holiday there are",
		"Open the document Staff handbook, how many days of paid holiday are there?",
		"Open Handbook.md: how many days of paid holiday are there?",
	} {
		if a := h.answer(asks(q)).answer(); !strings.Contains(a.Markdown, "paid holiday") {
			t.Errorf("%q is answered %q, want something about paid holiday", q, a.Markdown)
		}
	}
	for _, q := range []string{"Open the document Stafff handbok", "Open the document Handbook.md, please"} {
		if a := h.answer(asks(q)).answer(); a.Markdown != "Opened Handbook.md." {
			t.Errorf("%q is answered %q, want the document opened", q, a.Markdown)
		}
	}
}

func TestOpenRequestWithoutSources(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.startAgent(scripted.New())
	if a := h.answer(
		asks("Open citation 1"),
	).answer(); a.Markdown != "There is no footnote to open yet: ask a question about your documents first." {
		t.Errorf("answered %q", a.Markdown)
	}
}

func TestFollowUpRefersToQuestionNotOpenedSource(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	first := h.ask(asks("How many days of paid holiday does an employee get?"))
	h.wait(first.ID)
	for _, between := range []string{"Open citation 1", "Open the document Handbook.md"} {
		h.answer(chat.RunRequest{SessionID: first.SessionID, Message: between})
	}
	next := h.answer(chat.RunRequest{SessionID: first.SessionID, Message: "What about sickness?"})
	for _, s := range next.ended() {
		input := string(s.ToolInput)
		if strings.Contains(input, "Open") || strings.Contains(input, "Handbook.md") {
			t.Errorf("input of %s = %s, want no words of the opened source", s.ToolName, input)
		}
	}
	if !strings.Contains(next.answer().Markdown, "sickness") {
		t.Errorf("answer = %q, want something about sickness", next.answer().Markdown)
	}
}

func TestOpenDocumentLinksToQuotedWords(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	const words = "Tell your line manager before 9:30"
	h.add("rules.md", "Rules for everybody.\n\nThey hold on every day.\n\n"+words+" on the first day.\n")
	steps := h.used(asks("What must I do when I am ill?"), call("read_document", `{"doc_id":"rules.md"}`),
		call("cite_source", `{"cited_text":"`+words+`","block_id":"b1","citation_number":1}`),
		call("open_document", `{"citation_number":1,"reason":"It says so"}`))
	var opened struct {
		URL     string
		DocID   string `json:"doc_id"`
		BlockID string `json:"block_id"`
	}
	last := steps[len(steps)-1]
	if err := json.Unmarshal(last.ToolOutput, &opened); err != nil {
		t.Fatalf("output of open_document = %s: %v, want no error", last.ToolOutput, err)
	}
	address, err := url.Parse(opened.URL)
	if err != nil {
		t.Fatal(err)
	}
	if address.Fragment != opened.BlockID || opened.BlockID != "b3" {
		t.Errorf("url = %s, block_id = %s, want both to name b3", opened.URL, opened.BlockID)
	}
	start, _ := strconv.Atoi(address.Query().Get("start"))
	end, _ := strconv.Atoi(address.Query().Get("end"))
	text, err := h.library.Text(t.Context(), chat.Local, opened.DocID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string([]rune(text)[start:end]); got != words {
		t.Errorf("the words that %s marks = %q, want %q", opened.URL, got, words)
	}
}
