package agent

import (
	"encoding/json"
	"net/url"
	"strconv"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestOpenDocumentLeadsToTheQuotedWords(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
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
