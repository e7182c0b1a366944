package agent

import (
	"encoding/json"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestAPersonsInputThatDoesNotFitNamesTheFieldAndItsRange(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(webCall(), says(slateAnswer)), in.withWeb(true))
	run, id := h.waits()
	for input, want := range map[string]string{
		`{"query":"slate roof","max_results":99}`: "web_search does not take this input: “max_results” must be a " +
			"whole number from 1 to 10.",
		`{"max_results":3}`: "web_search does not take this input: “query” is missing; it must " +
			"be a text of 1 to 400 characters.",
	} {
		err := h.runs.Approve(t.Context(), chat.Local, run.ID, id, json.RawMessage(input))
		if err == nil || chat.MessageOf(err) != want {
			t.Errorf("%s is told\n %v, want\n %s", input, err, want)
		}
	}
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id, nil); err != nil {
		t.Fatal(err)
	}
	h.wait(run.ID)
	_, _, err := h.runs.Rerun(t.Context(), chat.Local, run.ID, id, json.RawMessage(`{"query":"x","max_results":0}`), "")
	if want := "web_search does not take this input: “max_results” must be a whole number from 1 to 10."; err == nil ||
		chat.MessageOf(err) != want {
		t.Errorf("another input for a call that was made = %v, want %v", err, want)
	}
}
