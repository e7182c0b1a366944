package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
)

// chosen is what the question box of a page says: what each choice offers, and what is chosen.
type chosen struct {
	Offered map[string][]string
	Now     map[string]string
	Hidden  []string // what there is no choice of
	Draft   string
	Why     string
}

func chosenOn(t *testing.T, page string) chosen {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	got := chosen{Offered: map[string][]string{}, Now: map[string]string{}}
	take := func(name string, n *html.Node, mark string) {
		value := ""
		on := false
		for _, a := range n.Attr {
			switch a.Key {
			case "value":
				value = a.Val
			case mark:
				on = true
			}
		}
		got.Offered[name] = append(got.Offered[name], value)
		if on {
			got.Now[name] = value
		}
	}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		options := slices.Contains([]string{"model", "toolset", "namespace"}, at["name"])
		switch {
		case options && n.Data == "select":
			for option := range n.Descendants() {
				if option.Data == "option" {
					take(at["name"], option, "selected")
				}
			}
		case options && at["type"] == "radio":
			take(at["name"], n, "checked")
		case options && at["type"] == "hidden":
			got.Hidden = append(got.Hidden, at["name"])
		case n.FirstChild != nil && at["id"] == "q":
			got.Draft = n.FirstChild.Data
		case n.FirstChild != nil && at["id"] == "composer-error":
			got.Why = n.FirstChild.Data
		}
	}
	return got
}

func withChoices(cfg *Config) {
	cfg.Models = func() []string { return []string{"large", "small", "offline"} }
	cfg.Toolsets = []string{"cursor", "react"}
}

// inNamespaces adds a document to each and waits until it is ready.
func (b *bench) inNamespaces(names ...string) {
	b.t.Helper()
	for _, name := range names {
		body, kind := form(b.t, "namespace="+name, "@"+name+".md=# "+name+"\n\nThe roof of "+name+" is sound.")
		got := b.send("POST", "/documents", body, "Content-Type", kind)
		var res api.Uploaded
		got.decode(b.t, &res)
		b.send("GET", "/documents/"+res.Documents[0].ID+"/events", "")
	}
}

func (b *bench) post(path string, fields url.Values) reply {
	b.t.Helper()
	return b.send("POST", path, fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html")
}

func (b *bench) page(path string) string {
	b.t.Helper()
	return b.send("GET", path, "", "Accept", "text/html").body
}

func (b *bench) lastRun(session string) chat.Run {
	b.t.Helper()
	runs, err := b.store.Runs(b.t.Context(), chat.Local, session)
	if err != nil || len(runs) == 0 {
		b.t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[len(runs)-1]
}

func TestTheQuestionBoxOffersWhatThereIsToChoose(t *testing.T) {
	b := newBench(t, withChoices)
	b.inNamespaces("leases", "default")
	want := chosen{
		Offered: map[string][]string{
			"model": {"", "small", "offline"}, "toolset": {"", "react"}, "namespace": {"", "default", "leases"},
		},
		Now: map[string]string{"toolset": ""},
	}
	if diff := cmp.Diff(want, chosenOn(t, b.page("/"))); diff != "" {
		t.Errorf("the first page (-want +got):\n%s", diff)
	}

	b = newBench(t)
	b.inNamespaces("default")
	page := b.page("/")
	if got := chosenOn(t, page); len(got.Offered) > 0 ||
		!slices.Equal(got.Hidden, []string{"model", "toolset", "namespace"}) || strings.Contains(page, `id="options"`) {
		t.Errorf("without a choice: %+v, want none", got)
	}
}

func TestAConversationKeepsWhatWasChosen(t *testing.T) {
	b := newBench(t, withChoices)
	b.inNamespaces("leases", "default")
	ask := func(fields url.Values) chat.RunRequest {
		t.Helper()
		fields.Set("session_id", "s1")
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther {
			t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
		}
		return b.lastRun("s1").Request
	}
	options := func(r chat.RunRequest) [3]string { return [3]string{r.Config.Model, r.Toolset, r.Namespace} }
	all := [3]string{"small", "react", "leases"}
	if got := options(
		ask(url.Values{"message": {"Is it sound?"}, "model": {"small"}, "toolset": {"react"}, "namespace": {"leases"}}),
	); got != all {
		t.Errorf("asked with %v, want %v", got, all)
	}
	want := map[string]string{"model": "small", "toolset": "react", "namespace": "leases"}
	if diff := cmp.Diff(want, chosenOn(t, b.page("/c/s1")).Now); diff != "" {
		t.Errorf("the conversation (-want +got):\n%s", diff)
	}
	// as a link of the page asks without a script
	if got := options(ask(url.Values{"message": {"And the gutter?"}})); got != all {
		t.Errorf("a follow-up is asked with %v, want %v", got, all)
	}
	if got := options(
		ask(url.Values{"message": {"And the door?"}, "model": {""}, "toolset": {""}, "namespace": {""}}),
	); got != [3]string{} {
		t.Errorf("with the usual again: %v", got)
	}
	if diff := cmp.Diff(map[string]string{"toolset": ""}, chosenOn(t, b.page("/c/s1")).Now); diff != "" {
		t.Errorf("the conversation with the usual again (-want +got):\n%s", diff)
	}
}

func TestAConversationKeepsItsDocuments(t *testing.T) {
	b := newBench(t, withChoices)
	one, two := b.added("One.md", survey).ID, b.added("Two.md", survey+"More.").ID
	ask := func(fields url.Values) []string {
		t.Helper()
		fields.Set("session_id", "s1")
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther {
			t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
		}
		return b.lastRun("s1").Request.DocumentIDs
	}
	for _, step := range []struct {
		name   string
		fields url.Values
		want   []string
	}{
		{"one ticked", url.Values{"message": {"Is it sound?"}, "document_ids": {"", one}}, []string{one}},
		{"a link of the page", url.Values{"message": {"And the gutter?"}}, []string{one}},
		{"the other ticked", url.Values{"message": {"And the door?"}, "document_ids": {"", two}}, []string{two}},
		{"a link with the options of the box",
			url.Values{"message": {"And the wall?"}, "model": {""}, "toolset": {""}, "namespace": {""}}, []string{two}},
		{"none ticked", url.Values{"message": {"And the floor?"}, "document_ids": {""}}, nil},
		{"a link after that", url.Values{"message": {"And the wall?"}}, nil},
	} {
		if got := ask(step.fields); !slices.Equal(got, step.want) {
			t.Errorf("%s: asked within %q, want %q", step.name, got, step.want)
		}
	}
	if page := b.page("/c/s1"); !strings.Contains(page, `<input type="hidden" name="document_ids" value="">`) {
		t.Error("the box of a conversation does not say when no document is ticked")
	}
}

func TestAModelThatIsNoLongerOfferedIsReplacedByTheUsualOne(t *testing.T) {
	b := newBench(t, withChoices)
	b.inNamespaces("default")
	run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		SessionID: "s1", Message: "Is it sound?", Config: chat.RunConfig{Model: "gone"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.append(run.ID, chat.RunStarted{SessionID: "s1", Question: "Is it sound?", Model: "gone", Toolset: "cursor"},
		chat.Answer{Markdown: "It is.", StopReason: chat.StopAnswered, FollowUps: []string{"And the door?"}},
		chat.RunDone{Status: chat.RunCompleted})
	const says, with = "gone is no longer offered. Asking again uses large.",
		`<input type="hidden" name="model" value="">`
	for where, body := range map[string]string{
		"page": b.page("/c/s1"), "stream": b.send("GET", "/runs/"+run.ID+"/stream", "", "Accept",
			"text/event-stream").body,
	} {
		if !strings.Contains(body, says) || strings.Count(body, with) != 2 { // Regenerate and Edit question
			t.Errorf("the %s does not offer the usual model: %s, want %q in it", where, body, says)
		}
	}
	for _, fields := range []url.Values{ // a link of the page first: it follows the run whose model is gone
		{"message": {"And the door?"}, "session_id": {"s1"}}, {"message": {"Is it sound?"}, "session_id": {"s1"},
			"sibling": {run.ID}, "model": {""}},
	} {
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther ||
			b.lastRun("s1").Request.Config.Model != "" {
			t.Errorf("%v: %d, asked with the model %q; want %d and nothing",
				fields, got.status, b.lastRun("s1").Request.Config.Model, http.StatusSeeOther)
		}
	}
	if page := b.page("/c/" + b.begin("Is it dry?").SessionID); strings.Contains(page, "no longer offered") {
		t.Error("a turn of a model that is offered says that it is not")
	}
}

func TestAskingAgainIsAskingInTheSameWay(t *testing.T) {
	b := newBench(t, withChoices)
	temperature := 0.5
	run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		SessionID: "s1", Message: "Is it sound?", ContextText: "The roof is sound.", AddedContext: "It was renewed.",
		Namespace: "leases", Toolset: "react", Instructions: "Be brief.", History: [][2]string{{"Hello", "Hi"}},
		Config: chat.RunConfig{Model: "small", EnabledTools: []string{"retrieve"}, Temperature: &temperature},
		From:   &chat.From{RunID: "r", CallID: "c", Tool: "retrieve", Input: []byte(`{}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := run.Request
	want.Message, want.Sibling, want.From = "Is it dry?", run.ID, nil
	if got := b.post("/chat", url.Values{
		"message": {"Is it dry?"}, "session_id": {"s1"}, "sibling": {run.ID},
	}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
	}
	if diff := cmp.Diff(want, b.lastRun("s1").Request); diff != "" {
		t.Errorf("the new version (-want +got):\n%s", diff)
	}
	b.post("/chat", url.Values{
		"message": {"Is it dry?"}, "session_id": {"s1"}, "sibling": {run.ID}, "toolset": {"cursor"},
	})
	if got := b.lastRun("s1").Request; got.Toolset != "cursor" || got.Config.Model != "small" {
		t.Errorf("with other tools: %+v; want Toolset %q and Config.Model %q", got, "cursor", "small")
	}
}

func TestARefusedFormKeepsItsWords(t *testing.T) {
	b := newBench(t, withChoices)
	long := strings.Repeat("long ", 7000)
	fields := url.Values{"message": {long}, "model": {"small"}, "toolset": {"react"}}
	if got := b.post("/chat", fields); got.status != 400 || !strings.Contains(got.body, "Shorten it") ||
		!strings.Contains(got.body, ">"+long+"</textarea>") {
		t.Errorf("without documents: %d, %d characters of page, want 400 with the reason and the words still in "+
			"the box", got.status, len(got.body))
	}
	b.inNamespaces("default")
	run := b.begin("Is it sound?")
	for _, tt := range []struct{ name, session, turns string }{
		{"the first page", "", ""}, {"a conversation", run.SessionID, run.ID},
		{"a conversation that is not there", "gone", ""}, {"a conversation that can't be", "no/such", ""},
	} {
		fields.Set("session_id", tt.session)
		got := b.post("/chat", fields)
		box := chosenOn(t, got.body)
		if got.status != 400 || box.Draft != long || box.Now["model"] != "small" || box.Now["toolset"] != "react" {
			t.Errorf("%s: %d, %d characters, %v; want 400, %v, %q, %q",
				tt.name, got.status, len(box.Draft), box.Now, long, "small", "react")
		}
		if tt.session != "no/such" &&
			!strings.HasSuffix(box.Why, "Shorten it, or upload the long part as a document.") {
			t.Errorf("%s: the reason is %q", tt.name, box.Why)
		}
		if tt.turns != "" &&
			(!strings.Contains(got.body, "turn-"+tt.turns) || strings.Contains(got.body, `http-equiv="refresh"`)) {
			t.Errorf("%s: it is not the page of the conversation, or it goes away by itself", tt.name)
		}
	}
	if got := b.send("POST", "/chat", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html", "HX-Request", "true"); got.status != 400 || strings.Contains(got.body, "<html") {
		t.Errorf("a script gets the sentence alone: %d %s; want 400 and no %q in it", got.status, got.body, "<html")
	}
}

func TestAnAnswerNamesTheModelThatIsNotTheUsual(t *testing.T) {
	for _, tt := range []struct {
		model, want string
	}{{"large", ""}, {"small", "Answered by small"}, {"offline", "Answered by Offline mode"}} {
		b := newBench(t, withChoices)
		b.inNamespaces("default")
		run := b.begin("Is it sound?")
		b.append(run.ID,
			chat.RunStarted{SessionID: run.SessionID, Question: "Is it sound?", Model: tt.model, Toolset: "cursor"},
			chat.Answer{Markdown: "It is.", StopReason: chat.StopAnswered}, chat.RunDone{Status: chat.RunCompleted})
		for where, body := range map[string]string{
			"page": b.page("/c/" + run.SessionID), "stream": b.send("GET", "/runs/"+run.ID+"/stream", "", "Accept",
				"text/event-stream").body,
		} {
			if strings.Contains(body, "Answered by") != (tt.want != "") || !strings.Contains(body, tt.want) {
				t.Errorf("%s of an answer by %s does not say %q", where, tt.model, tt.want)
			}
		}
	}
}
