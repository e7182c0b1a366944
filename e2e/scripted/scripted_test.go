package scripted_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

func post(t *testing.T, s *scripted.Server, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// librarian plays one request of a run and returns the calls or the text of the reply.
func librarian(messages ...llm.Message) (calls []string, text string) {
	req := llm.Request{Messages: messages, Tools: []llm.ToolSpec{{Name: "search_documents"}, {Name: "read_document"}}}
	reply := scripted.Librarian(scripted.Request{Request: req})
	for _, c := range reply.Calls {
		calls = append(calls, c.Name+" "+string(c.Arguments))
	}
	return calls, reply.Text
}

func TestLibrarianSearchesReadsAndAnswers(t *testing.T) {
	question := llm.Message{Role: llm.RoleUser, Text: "What is the condition of the roof?"}
	called := llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "a", Name: "search_documents"}}}
	found := llm.Message{
		Role: llm.RoleTool, CallID: "a",
		Text: "<<1f>>\n" +
			`{"documents":[{"doc_id":"d1","passages":[]},{"doc_id":"d2"},{"doc_id":"d3"}],"total_found":3}` +
			"\n<<1f>>",
	}
	read := llm.Message{
		Role: llm.RoleTool, CallID: "b",
		Text: `{"doc_id":"d1","passages":[{"n":3,"text":"# Roof\nThe roof is in poor condition. It rains in."},` +
			`{"n":4,"text":"The garden is large."}]}`,
	}

	calls, _ := librarian(question)
	if diff := cmp.Diff([]string{`search_documents {"query":"condition roof"}`}, calls); diff != "" {
		t.Error(diff)
	}
	calls, _ = librarian(question, called, found)
	if diff := cmp.Diff(
		[]string{
			`read_document {"doc_id":"d1","focus_query":"condition roof"}`,
			`read_document {"doc_id":"d2","focus_query":"condition roof"}`,
		}, calls,
	); diff != "" {
		t.Error(diff)
	}
	_, text := librarian(question, called, found, called, read)
	if want := "The roof is in poor condition. [3] It rains in. [3] The garden is large. [4]"; text != want {
		t.Errorf("the answer is %q, want %q", text, want)
	}
	hurry := llm.Message{
		Role: llm.RoleTool, CallID: "a",
		Text: `{"documents":[{"doc_id":"d1","passages":[{"n":2,"text":"The roof leaks badly."}]}],"total_found":1}`,
	}
	reply := scripted.Librarian(scripted.Request{
		Request: llm.Request{Messages: []llm.Message{question, called, hurry}, NoTools: true},
	})
	if want := "The roof leaks badly. [2]"; reply.Text != want {
		t.Errorf("before it has read anything the answer is %q, want %q", reply.Text, want)
	}
	none := llm.Message{Role: llm.RoleTool, CallID: "a", Text: `{"documents":[],"total_found":0}`}
	if _, text := librarian(question, called, none); !strings.HasPrefix(text,
		"I couldn't find relevant information about that in your documents.") {
		t.Errorf("reply without results = %q, want %q at its beginning",
			text, "I couldn't find relevant information about that in your documents.")
	}
}

func TestServerStreamsRequestedNumberOfChunks(t *testing.T) {
	s := scripted.NewServer(scripted.Config{Tokens: 200})
	code, body := post(t, s, "/v1/chat/completions",
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`)
	if pieces := strings.Count(body, `"content":`); code != http.StatusOK || pieces != 200 ||
		!strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("status %d, %d pieces, ends with %q; want %d and 200",
			code, pieces, body[len(body)-20:], http.StatusOK)
	}
}

func TestServerRejectsInvalidRequests(t *testing.T) {
	if code, body := post(t, scripted.NewServer(scripted.Config{}), "/chat/completions",
		`{`); code != http.StatusBadRequest || !strings.Contains(body, `"error"`) {
		t.Errorf("status %d, body %s; want %d and %q in it", code, body, http.StatusBadRequest, `"error"`)
	}
}

func TestServerSendsDelay(t *testing.T) {
	web := httptest.NewServer(scripted.NewServer(scripted.Config{
		Delay: 5 * time.Millisecond, Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Chunks: []string{"a", "b", "c", "d"}}
		},
	}))
	t.Cleanup(web.Close)
	start := time.Now()
	res, err := http.Post(web.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 4*5*time.Millisecond {
		t.Errorf("four pieces took %v, want at least %v", took, 4*5*time.Millisecond)
	}
}

func TestTextsWithSharedWordsHaveSimilarVectors(t *testing.T) {
	s := scripted.NewServer(scripted.Config{})
	_, body := post(
		t, s, "/v1/embeddings", `{"model":"e","input":["the roof is damaged","a damaged roof","three green apples"]}`,
	)
	var answer struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Data) != 3 {
		t.Fatalf("%d vectors, %v; want 3", len(answer.Data), err)
	}
	dot := func(i, j int) (sum float64) {
		for k, x := range answer.Data[i].Embedding {
			sum += x * answer.Data[j].Embedding[k]
		}
		return sum
	}
	if near, far := dot(0, 1), dot(0, 2); near < far+0.3 || dot(0, 0) < 0.999 {
		t.Errorf("alike texts have %v, others %v, want at least %v", near, far, far+0.3)
	}
}

func TestModelRepliesInOrder(t *testing.T) {
	boom := &llm.Error{Kind: llm.KindServer, Message: "boom"}
	m := scripted.New(scripted.Reply{Calls: []llm.Call{{Name: "x"}}}, scripted.Reply{Text: "one two", Err: boom})
	var got []any
	for range 3 {
		for part, err := range m.Stream(t.Context(), llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Text: "q"}},
		}) {
			if err != nil {
				got = append(got, llm.KindOf(err))
				continue
			}
			got = append(got, part)
		}
	}
	want := []any{
		llm.Call{ID: "call_0_0", Name: "x", Arguments: []byte("{}")},
		llm.Done{Finish: llm.FinishCalls, Usage: &llm.Usage{In: 100, Out: 20}},
		llm.Text("one"), llm.Text(" two"), llm.KindServer, llm.KindInvalid,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(m.Requests()); n != 3 {
		t.Errorf("%d requests are kept, want 3", n)
	}
}

func TestLibrarianMakesSpecifiedCalls(t *testing.T) {
	question := llm.Message{
		Role: llm.RoleUser, Text: `Please. #call shop__order {"n": 2} #call shop__pay {} #call shop__broken {"n"`,
	}
	asked := scripted.Request{Request: llm.Request{Messages: []llm.Message{question}}}
	got := scripted.Librarian(asked).Calls
	if len(got) != 2 || got[0].Name != "shop__order" || string(got[0].Arguments) != `{"n": 2}` ||
		got[1].Name != "shop__pay" {
		t.Fatalf("calls = %+v; want 2, %q, %q, %q", got, "shop__order", `{"n": 2}`, "shop__pay")
	}
	asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleAssistant, Calls: got},
		llm.Message{Role: llm.RoleTool, Text: "== {\"text\":\"Ordered.\"} =="},
		llm.Message{Role: llm.RoleTool, Text: `{"error":"Denied."}`})
	if reply := scripted.Librarian(asked); reply.Text != "Ordered. Denied." || len(reply.Calls) > 0 {
		t.Errorf("reply = %+v; want Text %q and no calls", reply, "Ordered. Denied.")
	}
}
