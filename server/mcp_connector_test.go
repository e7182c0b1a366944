package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/mcpserver"
)

// Chat programs that bring their own search know two tools by their names and shapes, and read their text as JSON.
func TestSearchAndFetchHaveTheShapeOfConnectors(t *testing.T) {
	b := newBench(t)
	var long strings.Builder
	for n := range 400 {
		fmt.Fprintf(&long, "## Room %d\n\nThe lamp of room %d was bought in %d.\n\n", n, n, 1600+n)
	}
	doc := b.added("Lamps.md", "# Lamps\n\n"+long.String()).ID
	session := b.connect(nil)
	text, found, _ := use[mcpserver.Found](t, session, &sdk.CallToolParams{
		Name: "search", Arguments: map[string]any{"query": "lamp of room 399"},
	})
	var said struct {
		Results []struct{ ID, Title, URL string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatalf("the text of search is %.80s: %v", text, err)
	}
	first := said.Results[0]
	if first.ID != found.Results[0].ID || first.Title != "Lamps" || !strings.HasPrefix(first.URL, b.url+"/d/"+doc) {
		t.Errorf("the first result is %+v, want the id %s, the title Lamps, an address below %s",
			first, found.Results[0].ID, b.url+"/d/"+doc)
	}
	fetch := func(id string) (mcpserver.Fetched, string, bool) {
		text, got, failed := use[mcpserver.Fetched](t, session, &sdk.CallToolParams{
			Name: "fetch", Arguments: map[string]any{"id": id},
		})
		return got, text, failed
	}
	got, text, _ := fetch(first.ID)
	var same mcpserver.Fetched
	if err := json.Unmarshal([]byte(text), &same); err != nil || same.Text != got.Text {
		t.Errorf("the text of fetch is %.80s (%v), want the same as its data", text, err)
	}
	if got.ID != first.ID || got.Title != "Lamps" || got.URL != first.URL || !strings.Contains(got.Text, "in 1999") ||
		got.Metadata["document_id"] != doc || got.Metadata["part"] != got.Metadata["parts"] {
		t.Errorf("fetch %s = %+v, want the last part with 1999 in it and the address %s", first.ID, got, first.URL)
	}
	whole, id := "", doc
	for n := 0; id != "" && n < 10; n++ {
		part, _, failed := fetch(id)
		if failed || part.ID != id {
			t.Fatalf("fetch %s failed: %+v", id, part)
		}
		whole, id = whole+part.Text, part.Metadata["next"]
	}
	if !strings.Contains(whole, "in 1600") || !strings.Contains(whole, "in 1999") {
		t.Error("the parts together are not the document")
	}
	for _, id := range []string{"", " ", "x", "Lamps.md", doc + ":0", doc + ":x", doc + ":900", strings.Repeat("é",
		300)} {
		if _, text, failed := fetch(id); !failed || strings.Contains(text, "sql") {
			t.Errorf("fetch %.20q = %q, want a refusal", id, text)
		}
	}
}

// The id that clients give a call is often the same for two of them: only the one that cancels has its run ended.
func TestACancelledQuestionEndsItsRun(t *testing.T) {
	b := newBench(t)
	b.stage.play = []chat.Payload{
		chat.RunStarted{Question: "Why?", Model: "scripted"},
		chat.Step{CallID: "c", Step: "s", Message: "Searching for: roof", Status: chat.StatusRunning},
	}
	began := make(chan string, 10)
	ask := func(ctx context.Context, name string) <-chan error {
		session := b.connect(&sdk.ClientOptions{ //nolint:contextcheck // it lasts as long as the test
			ProgressNotificationHandler: func(context.Context,
				*sdk.ProgressNotificationClientRequest) {
				began <- name
			},
		})
		params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "Is the roof " + name + "?"}}
		params.SetProgressToken(name)
		done := make(chan error, 1)
		go func() { // ends with the call, which ends with ctx
			_, err := session.CallTool(ctx, params)
			done <- err
		}()
		if got := <-began; got != name {
			t.Errorf("progress is of %s, want %s", got, name)
		}
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept, stop := context.WithCancel(t.Context())
	defer stop()
	other, cancelled := ask(kept, "sound"), ask(ctx, "new")
	cancel()
	if err := <-cancelled; err == nil {
		t.Error("the cancelled call has an answer")
	}
	states := func() map[string]chat.RunStatus {
		sessions, _, err := b.stage.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]chat.RunStatus{}
		for _, s := range sessions {
			runs, err := b.stage.store.Runs(t.Context(), chat.Local, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range runs {
				out[run.Request.Message] = run.Status
			}
		}
		return out
	}
	for deadline := time.Now().Add(10 * time.Second); states()["Is the roof new?"] != chat.RunCancelled; {
		if time.Now().After(deadline) {
			t.Fatalf("the runs are %v, want the cancelled one to be %s", states(), chat.RunCancelled)
		}
	}
	if got := states()["Is the roof sound?"]; got == chat.RunCancelled {
		t.Error("another client's run was cancelled")
	}
	stop()
	<-other
}
