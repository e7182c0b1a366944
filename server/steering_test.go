package server

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
)

// finished stores a finished run with an answer.
func (b *harness) finished(message string) chat.Run {
	b.t.Helper()
	run := b.begin(message)
	b.append(run.ID, chat.RunStarted{SessionID: run.SessionID, Question: message, Model: "m"},
		chat.Step{
			CallID: "c1", Step: "search_documents", ToolName: "search_documents", Message: "Found 1 document",
			ToolInput: json.RawMessage(`{"query":"roof"}`),
			Status:    chat.StatusComplete, ToolStatus: chat.StatusComplete, Timestamp: 1.5, DurationMS: 7,
			Summary: "1 passage",
		},
		chat.Answer{
			Markdown: "Yes [1].", Citations: []chat.Citation{
				{Number: 1, DocumentID: "none", Title: "T", Quote: "Yes", End: 3, SHA256: "ab",
					Check: chat.CheckVerified},
			},
		},
		chat.RunDone{Status: chat.RunCompleted})
	return run
}

func TestFeedbackIsCreatedUpdatedListedAndDeleted(t *testing.T) {
	b := newHarness(t)
	run := b.finished("=1+1, is the roof sound?")
	at := "/agent/runs/" + run.ID + "/feedback"
	if got := b.send("POST", at, `{"rating":"up"}`); got.status != 200 || !strings.Contains(got.body, `"rating":"up"`) {
		t.Fatalf("%d %s; want 200 and %q in it", got.status, got.body, `"rating":"up"`)
	}
	if got := b.send(
		"POST", at, `{"rating":"down","reason":"wrong","comment":"=HYPERLINK(\"x\"),\n\"no\""}`,
	); got.status != 200 {
		t.Fatalf("%d %s, want 200", got.status, got.body)
	}
	var page api.FeedbackList
	b.send("GET", "/feedback?rating=down&limit=1", "").decode(t, &page)
	if len(page.Feedback) != 1 || page.Feedback[0].Reason != "wrong" ||
		page.Feedback[0].Question != "=1+1, is the roof sound?" {
		t.Errorf("list = %+v; want 1, Feedback[0].Reason %q, Feedback[0].Question %q",
			page, "wrong", "=1+1, is the roof sound?")
	}
	// as described: empty equals absent
	if got := b.send("GET", "/feedback?format=&rating=", ""); got.status != 200 {
		t.Errorf("empty choices: %d %s, want 200", got.status, got.body)
	}
	if got := b.send("GET", "/feedback?format=csv&limit=", ""); got.status != 400 ||
		!strings.Contains(got.body, "limit must be a whole number") {
		t.Errorf("an empty number: %d %s; want 400 and %q in it", got.status, got.body, "limit must be a whole number")
	}
	file := b.send("GET", "/feedback?format=csv", "")
	rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != "'=HYPERLINK(\"x\"),\n\"no\"" ||
		!strings.HasPrefix(rows[1][5], "'=") {
		t.Errorf("csv = %q, %v; want 2 rows and %q at its beginning", rows, err, "'=")
	}
	if d := file.header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") {
		t.Errorf("Content-Disposition = %q, want %q at its beginning", d, "attachment")
	}
	var line chat.Feedback
	b.send("GET", "/feedback?format=jsonl", "").decode(t, &line)
	if line.RunID != run.ID {
		t.Errorf("jsonl = %+v, want RunID %v", line, run.ID)
	}
	html := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html")
	if !strings.Contains(html.body, `aria-pressed="true"`) || !strings.Contains(html.body, "&#34;no&#34;") {
		t.Error("page lacks the feedback")
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	if got := b.send("POST", at, "rating=none", form...); got.status != 303 ||
		got.header.Get("Location") != "/c/"+run.SessionID+"#turn-"+run.ID {
		t.Errorf("form: %d %v; want 303 and %v", got.status, got.header, "/c/"+run.SessionID+"#turn-"+run.ID)
	}
	if got := b.send("DELETE", at, ""); got.status != 204 {
		t.Errorf("DELETE: %d, want 204", got.status)
	}
	b.send("GET", "/feedback", "").decode(t, &page)
	if len(page.Feedback) != 0 {
		t.Errorf("withdrawn, but %+v, want none", page)
	}
}

func TestInvalidRunControlsAreRejected(t *testing.T) {
	b := newHarness(t)
	done, busy := b.finished("Is the roof sound?"), b.begin("Still going")
	long := strings.Repeat("x", chat.MaxComment+1)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"no rating", "POST", "/agent/runs/" + done.ID + "/feedback", `{}`, 400},
		{"a reason of the other rating", "POST", "/agent/runs/" + done.ID + "/feedback",
			`{"rating":"up","reason":"wrong"}`, 400},
		{"a long comment", "POST", "/agent/runs/" + done.ID + "/feedback",
			`{"rating":"up","comment":"` + long + `"}`, 400},
		{"an unknown field", "POST", "/agent/runs/" + done.ID + "/feedback", `{"rating":"up","stars":5}`, 400},
		{"feedback on a run under way", "POST", "/agent/runs/" + busy.ID + "/feedback", `{"rating":"up"}`, 409},
		{"feedback on no run", "POST", "/agent/runs/" + chat.NewID() + "/feedback", `{"rating":"up"}`, 404},
		{"an odd format of a list", "GET", "/feedback?format=xml", "", 400},
		{"an odd rating of a list", "GET", "/feedback?rating=best", "", 400},
		{"an odd format of an export", "GET", "/agent/runs/" + done.ID + "/export?format=pdf", "", 400},
		{"an export of a run under way", "GET", "/agent/runs/" + busy.ID + "/export", "", 409},
		{"an export of no run", "GET", "/agent/runs/" + chat.NewID() + "/export", "", 404},
		{"a file without evidence", "POST", "/evidence/verify", `{"file":"hello"}`, 400},
		{"a rerun without input", "POST", "/agent/runs/" + done.ID + "/steps/c1/rerun", `{}`, 400},
		{"a rerun with a list", "POST", "/agent/runs/" + done.ID + "/steps/c1/rerun", `{"input":[]}`, 400},
		{"a queue of no session", "GET", "/sessions/none/queue", "", 404},
		{"a question in no session's queue", "POST", "/sessions/none/queue", `{"message":"x"}`, 404},
		{"an empty question", "POST", "/sessions/" + busy.SessionID + "/queue", `{"message":" "}`, 400},
		{"another session in the body", "POST", "/sessions/" + busy.SessionID + "/queue",
			`{"message":"x","session_id":"other"}`, 400},
		{"no such waiting question", "DELETE", "/sessions/" + busy.SessionID + "/queue/none", "", 404},
		{"an odd way to end", "POST", "/sessions/" + busy.SessionID + "/queue/none/send", `{"finish":"kill"}`, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := b.send(tt.method, tt.path, tt.body); got.status != tt.want {
				t.Errorf("%d, want %d: %s", got.status, tt.want, got.body)
			}
		})
	}
}

func TestQueuedQuestionsAreEditedAndRemoved(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	at := "/sessions/" + run.SessionID + "/queue"
	var one api.WaitingQuestion
	b.send("POST", at, `{"message":"one <b>"}`).decode(t, &one)
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	if got := b.send("POST", at, "message=two", form...); got.status != 303 {
		t.Fatalf("form: %d %s, want 303", got.status, got.body)
	}
	fragment := b.send("POST", at+"/"+one.ID+"?_method=PATCH", "message=one,+mended",
		append(form, "HX-Request", "true")...)
	if fragment.status != 200 || !strings.Contains(fragment.body, `id="queue"`) ||
		!strings.Contains(fragment.body, "one, mended") {
		t.Errorf("fragment: %d %s; want 200, %q in it, %q in it",
			fragment.status, fragment.body, `id="queue"`, "one, mended")
	}
	var list api.WaitingList
	b.send("GET", at, "").decode(t, &list)
	if len(list.Queue) != 2 || list.Queue[0].Message != "one, mended" || list.Queue[1].Message != "two" {
		t.Errorf("queue = %+v; want 2, Queue[0].Message %q, Queue[1].Message %q", list, "one, mended", "two")
	}
	if got := b.send("POST", at+"/"+list.Queue[1].ID+"/send", `{"finish":"answer_now"}`); got.status != 204 {
		t.Errorf("send: %d %s, want 204", got.status, got.body)
	}
	if page := b.send("GET", "/c/"+run.SessionID, "", "Accept",
		"text/html"); strings.Index(page.body, ">two<") > strings.Index(page.body, ">one, mended<") {
		t.Error("page has another order")
	}
	if got := b.send("DELETE", at+"/"+one.ID, ""); got.status != 204 {
		t.Errorf("DELETE: %d, want 204", got.status)
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	next, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		SessionID: run.SessionID, Message: "two",
	})
	if err != nil {
		t.Fatal(err)
	}
	fragment = b.send("GET", "/c/"+run.SessionID+"/next?after="+run.ID, "", "HX-Request", "true")
	for _, want := range []string{"turn-" + next.ID, `id="composer-bar"`, `id="queue"`} {
		if !strings.Contains(fragment.body, want) {
			t.Errorf("next turns lack %s", want)
		}
	}
	if strings.Contains(fragment.body, "turn-"+run.ID+`"`) {
		t.Error("response repeats the previous turn")
	}
}

func TestStepRepeatIsSiblingRun(t *testing.T) {
	b := newHarness(t)
	run := b.finished("Is the roof sound?")
	at := "/agent/runs/" + run.ID + "/steps/c1/rerun"
	var got api.Accepted
	reply := b.send("POST", at, `{"input":{"query":"walls"}}`)
	reply.decode(t, &got)
	if reply.status != 202 || got.SessionID != run.SessionID || got.RunID == run.ID {
		t.Fatalf("%d %s, want 202", reply.status, reply.body)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	if bad := b.send("POST", at, "input=%7Bquery", form...); bad.status != 400 ||
		!strings.Contains(bad.body, "must be a JSON object") {
		t.Errorf("bad JSON: %d, want 400", bad.status)
	}
	if again := b.send("POST", at, "input=%7B%22query%22%3A%22x%22%7D", form...); again.status != 303 {
		t.Errorf("form: %d %s, want 303", again.status, again.body)
	}
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html")
	if !strings.Contains(page.body, "3/3") {
		t.Error("page lacks the three versions")
	}
}
