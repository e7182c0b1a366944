package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// fields lists an object's field names, nested ones with a dot, those of a list's first element with [].
func fields(t *testing.T, body string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s, want no error", err, body)
	}
	var names []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				path := strings.TrimPrefix(prefix+"."+name, ".")
				names = append(names, path)
				walk(path, inner)
			}
		case []any:
			if len(v) > 0 {
				walk(prefix+"[]", v[0])
			}
		}
	}
	walk("", v)
	slices.Sort(names)
	return names
}

// wantFields fails unless a response has all of the names.
func wantFields(t *testing.T, what string, r reply, names ...string) {
	t.Helper()
	if r.status >= 300 {
		t.Fatalf("%s: %d %s, want less than 300", what, r.status, r.body)
	}
	got := fields(t, r.body)
	for _, name := range names {
		if !slices.Contains(got, name) {
			t.Errorf("%s lacks %s: it has %v, want %v in it", what, name, got, name)
		}
	}
}

func TestAnswersMatchDocumentedShape(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), newModel(t, scripted.Config{}).env()...)
	up := s.upload(file{"survey.md", books[0].body}, file{"bad.pdf", "PK\x03\x04xxxx"})
	if up.status != http.StatusAccepted {
		t.Errorf("upload = %d, want %d", up.status, http.StatusAccepted)
	}
	wantFields(t, "POST /documents", up, "documents[].id", "documents[].filename", "documents[].state",
		"rejected[].filename", "rejected[].code", "rejected[].detail")
	id := decode[uploadAnswer](t, up.body).Documents[0].ID
	s.settled(id)
	wantFields(t, "a duplicate", s.upload(file{"copy.md", books[0].body}), "documents[].duplicate_of")
	document := []string{
		"id", "filename", "title", "mime", "bytes", "pages", "sha256", "namespace", "meta", "state", "progress.stage",
		"progress.done", "progress.total", "created_at",
	}
	wantFields(t, "GET /documents/{id}", s.send("GET", "/documents/"+id, nil), document...)
	var listed []string
	for _, name := range document {
		listed = append(listed, "documents[]."+name)
	}
	wantFields(t, "GET /documents",
		s.send("GET", "/documents?namespace=default&state=ready&q=survey&limit=1", nil), listed...)
	locked := s.upload(file{"locked.pdf", lockedPDF()})
	lockedID := decode[uploadAnswer](t, locked.body).Documents[0].ID
	s.settled(lockedID)
	wantFields(t, "a failed document", s.send("GET", "/documents/"+lockedID, nil), "error.code", "error.detail")
	wantFields(t, "a list's second page", s.send("GET", "/documents?limit=1", nil), "next")

	wantFields(t, "POST /search",
		s.send(
			"POST", "/search",
			`{"query":"roof slates","top_k":3,"mode":"hybrid","namespace":"default","filters":{"title":"Survey"},`+
				`"rerank":false}`,
		),
		"query", "total_results", "results[].text", "results[].score", "results[].rank", "results[].metadata.chunk_id",
		"results[].metadata.document_id",
		"results[].metadata.title", "results[].metadata.filename", "results[].metadata.section",
		"results[].metadata.page", "results[].metadata.start",
		"results[].metadata.end", "results[].metadata.url")

	answer := s.send(
		"POST", "/agent/chat",
		`{"message":"What is the condition of the roof?","session_id":"shapes","context_text":null,`+
			`"namespace":"default","config":{}}`,
	)
	wantFields(t, "POST /agent/chat", answer, "run_id", "session_id", "status", "response", "citations[].number",
		"citations[].document_id", "citations[].chunk_id",
		"citations[].block_id", "citations[].title", "citations[].section", "citations[].quote", "citations[].start",
		"citations[].end", "citations[].boxes", "citations[].url",
		"citations[].check", "citations[].score", "sources[].number", "sources[].document_id", "sources[].title",
		"sources[].cited", "confidence", "retrieval_mode",
		"tokens.in", "tokens.out", "latency_ms")
	got := loose[struct {
		Status, Response, RetrievalMode, RunID, SessionID string
	}](
		t, strings.NewReplacer("retrieval_mode", "RetrievalMode", "run_id", "RunID", "session_id",
			"SessionID").Replace(answer.body),
	)
	if got.Status != "success" || got.RetrievalMode != "full_book" || got.SessionID != "shapes" ||
		!strings.Contains(got.Response, "[Source 1]") || !strings.Contains(got.Response, "Sources:") {
		t.Errorf("POST /agent/chat: %+v; want Status %q, RetrievalMode %q, SessionID %q, %q in it, %q in it",
			got, "success", "full_book", "shapes", "[Source 1]", "Sources:")
	}
	numeric := s.send(
		"POST", "/agent/chat", `{"message":"What is the condition of the roof?","citation_style":"numeric"}`,
	)
	if strings.Contains(numeric.body, "[Source") || !strings.Contains(numeric.body, "[1]") {
		t.Errorf("numeric citations: %s; want no %q in it and %q in it", numeric.body, "[Source", "[1]")
	}
	wantFields(t, "POST /agent/chat/structured",
		s.send("POST", "/agent/chat/structured", `{"message":"What is the condition of the roof?"}`), "status",
		"answer", "sources[].quote", "confidence")
	wantFields(t, "GET /agent/runs/{id}", s.send("GET", "/agent/runs/"+got.RunID, nil), "run_id", "session_id",
		"status", "question", "steps[].call_id", "answer.answer", "citations[].number", "tokens.in", "last_seq")
	wantFields(t, "GET /agent/session/{id}", s.send("GET", "/agent/session/shapes", nil), "session_id",
		"messages[].role", "messages[].content", "messages[].timestamp", "retrieval_history[].tool_name", "started_at",
		"turn_count")
	whole := loose[struct {
		Messages []struct{ Role, Content string }
	}](t, s.send("GET", "/agent/session/shapes?tools=true", nil).body)
	if first := whole.Messages[0]; first.Role != "system" ||
		!strings.Contains(first.Content, "every claim you make carries a footnote") ||
		strings.Contains(first.Content, "{{") {
		t.Errorf("GET /agent/session/{id}?tools=true begins with %+v; want Role %q, %q in it, no %q in it",
			first, "system", "every claim you make carries a footnote", "{{")
	}
	wantFields(t, "POST /agent/retrieve", s.send("POST", "/agent/retrieve", `{"query":"roof"}`), "query",
		"chunks[].text", "chunks[].strategy", "chunks[].agent_trace.iterations",
		"chunks[].agent_trace.tool_calls[].tool", "strategy", "agent_trace.query", "agent_trace.iterations",
		"agent_trace.tool_calls[].tool", "agent_trace.tool_calls[].parameters", "agent_trace.tool_calls[].iteration",
		"agent_trace.tool_results[].tool", "agent_trace.tool_results[].success",
		"agent_trace.tool_results[].execution_time", "agent_trace.tool_results[].num_results",
		"agent_trace.plan.reasoning",
		"agent_trace.steps[].step", "agent_trace.steps[].status")
	wantFields(
		t, "POST /agent/query", s.send("POST", "/agent/query", `{"question":"What is the condition of the roof?"}`),
		"id", "status", "answer", "citations[].content_snippet", "citations[].relevance", "steps[].step",
		"total_latency_ms",
	)
	wantFields(t, "GET /health", s.send("GET", "/health", nil), "status", "checks.database.status",
		"checks.index.status", "checks.model.status")
	wantFields(t, "GET /readyz", s.send("GET", "/readyz", nil), "status")
	if metrics := s.send("GET", "/metrics", nil); !strings.Contains(metrics.body, "\nfootnote_") {
		t.Errorf("metrics lack the prefix footnote_:\n%s", metrics.body)
	}
	if gone := s.send("DELETE", "/agent/session/shapes", nil); gone.status != http.StatusNoContent ||
		s.send("GET", "/agent/session/shapes", nil).status != http.StatusNotFound {
		t.Errorf("DELETE of a session: %d, want %d", gone.status, http.StatusNoContent)
	}
	if gone := s.send("DELETE", "/documents/"+id, nil); gone.status != http.StatusNoContent ||
		s.search("slates").TotalResults != 0 {
		t.Errorf("DELETE of a document: %d, want %d", gone.status, http.StatusNoContent)
	}
	for path, want := range map[string]int{"/": 200, "/documents": 200} {
		if got := s.send("GET", path, nil, header{"Accept", "text/html,*/*"}); got.status != want {
			t.Errorf("GET %s = %d %.200s, want %d", path, got.status, got.body, want)
		}
	}
}

// The output of curl -N is readable: a name, a number and one line of JSON for each event.
func TestStreamIsReadableText(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	r := s.send("POST", "/chat", ask("What is the condition of the roof?"), header{"Accept", "text/event-stream"})
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Encoding": "",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if control := r.header.Get("Cache-Control"); !strings.Contains(control, "no-store") {
		t.Errorf("Cache-Control: %q, want %q in it", control, "no-store")
	}
	frames := strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n")
	if !strings.HasPrefix(frames[0], ": ") {
		t.Errorf("it begins with %q, want %q at its beginning", frames[0], ": ")
	}
	var kinds []string
	for i, frame := range frames[1:] {
		lines := strings.Split(frame, "\n")
		var data struct {
			Type  string `json:"type"`
			RunID string `json:"run_id"`
			Seq   int    `json:"seq"`
		}
		raw, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
		if len(lines) != 3 || !ok || json.Unmarshal([]byte(raw), &data) != nil ||
			!strings.HasPrefix(raw, `{"type":"`+data.Type+`","run_id":"`+data.RunID+`","seq":`) ||
			lines[0] != "id: "+strconv.Itoa(i+1) || lines[1] != "event: "+data.Type || data.Seq != i+1 {
			t.Fatalf("frame %d = %q", i+1, frame)
		}
		kinds = append(kinds, data.Type)
	}
	for _, kind := range []string{"run_started", "reasoning_step", "answer_delta", "citation", "answer", "run_done"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there is no %s among %v, want %v in it", kind, kinds, kind)
		}
	}
	if first, last := slices.Index(kinds, "citation"), slices.Index(kinds, "run_done"); first > last ||
		kinds[0] != "run_started" || last != len(kinds)-1 {
		t.Errorf("the order is %v, want %q", kinds, "run_started")
	}
	page := s.send("GET", "/", nil, header{"Accept", "text/html"}, header{"Accept-Encoding", "identity"})
	if page.status != http.StatusOK || !strings.Contains(page.body, "<html") ||
		os.Getenv("HOME") != "" && strings.Contains(page.body, s.dir) {
		t.Errorf("the page: %d, want %d", page.status, http.StatusOK)
	}
}

// Fields that the API description declares equal have equal values in real responses to the same question.
func TestEqualFieldsHaveEqualValues(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"handbook.md", holidays})
	const question = "How many days of paid holiday is an employee entitled to?"
	answers := map[string]map[string]any{}
	for component, ask := range map[string]struct{ path, body string }{
		"AgentAnswer":      {"/agent/chat", `{"message":"` + question + `","citation_style":"numeric"}`},
		"GroundedResponse": {"/agent/chat/structured", `{"message":"` + question + `","citation_style":"numeric"}`},
		"AgentResponse":    {"/agent/query", `{"question":"` + question + `"}`},
	} {
		r := s.send("POST", ask.path, ask.body)
		if r.status != 200 {
			t.Fatalf("%s: %d %s, want 200", ask.path, r.status, r.body)
		}
		answers[component] = loose[map[string]any](t, r.body)
	}
	described := loose[struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Description string
					Same        []string `json:"x-same-as"`
				}
			}
		}
	}](t, s.send("GET", "/openapi.json", nil).body).Components.Schemas
	compared := 0
	for component, schema := range described {
		for name, field := range schema.Properties {
			for _, same := range field.Same {
				other, otherName, _ := strings.Cut(same, ".")
				if back := described[other].Properties[otherName].Same; !strings.Contains(strings.Join(back, " "),
					component+"."+name) {
					t.Errorf("%s.%s equals %s, which lacks the reference: %q", component, name, same, back)
				}
				if !strings.Contains(field.Description, same) {
					t.Errorf("%s.%s is described as %q, want it to name %s", component, name, field.Description, same)
				}
				mine, theirs := answers[component], answers[other]
				if mine == nil || theirs == nil {
					continue
				}
				compared++
				if got, want := content(t, mine[name]), content(t, theirs[otherName]); got != want {
					t.Errorf("%s.%s = %s, want %s = %s", component, name, got, same, want)
				}
			}
		}
	}
	if compared < 10 {
		t.Errorf("%d fields were compared, want 10 or more", compared)
	}
}

// content normalises a field of a response, without the values that differ between runs and APIs. Footnotes keep
// their numbers, documents and quotes; ids and other numbers become placeholders.
func content(t *testing.T, v any) string {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		if text, ok := v.(string); ok && len(text) == 36 && strings.Count(text, "-") == 4 {
			return "an id"
		}
		if _, ok := v.(float64); ok {
			return "a number"
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var b strings.Builder
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			t.Fatalf("entry = %v", item)
		}
		quote := fields["quote"]
		if snippet, ok := fields["content_snippet"]; ok {
			quote = snippet
		}
		raw, err := json.Marshal([]any{fields["number"], fields["document_id"], fields["chunk_id"], quote})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	return b.String()
}

// questions have an answer in one document of eval/testdata/library, with the words that the answer must contain.
var questions = []struct{ ask, file, says string }{
	{"What is the condition of the roof at Mill Lane?", "survey-mill-lane.md", "poor condition"},
	{"How much will it cost to replace the lead flashing?", "survey-mill-lane.md", "£3,400"},
	{"Who made the building survey?", "survey-mill-lane.md", "Ada Brown"},
	{"When was the roof last renewed?", "survey-mill-lane.md", "1987"},
	{"What causes the damp in the kitchen wall?", "survey-mill-lane.md", "blocked gutter"},
	{"When was the gas boiler last serviced?", "survey-mill-lane.md", "October 2022"},
	{"Which safety device is missing from the fuse board?", "survey-mill-lane.md", "residual current device"},
	{"How high is the monthly rent?", "lease.md", "£1,150"},
	{"Is the tenant allowed to keep dogs?", "lease.md", "Dogs are not allowed"},
	{"How much notice is needed to end the lease?", "lease.md", "three months"},
	{"How many days of paid holiday do employees get?", "staff-handbook.html", "28 days"},
	{"From which day is a doctor's certificate needed?", "staff-handbook.html", "fourth day"},
	{"On how many days a week may employees work from home?", "staff-handbook.html", "two days"},
	{"What is the limit for a hotel night?", "staff-handbook.html", "£120"},
	{"When did the Fulmar leave Tromsø?", "expedition.md", "9 June 1931"},
	{"Who was the doctor of the ship Fulmar?", "expedition.md", "Peder Aas"},
	{"How long did the Fulmar drift in the ice?", "expedition.md", "nineteen days"},
	{"What depth did the expedition measure in the Nansen Basin?", "expedition.md", "3,412"},
	{"Was bedeutet der Fehlercode E17?", "heizung.md", "Durchfluss"},
	{"Wie oft wird der Filter der Wärmepumpe gereinigt?", "heizung.md", "sechs Monate"},
	{"Combien de temps cuit la tarte aux mirabelles ?", "recettes.txt", "quarante minutes"},
	{"Combien d'œufs faut-il pour le gâteau au yaourt ?", "recettes.txt", "trois œufs"},
	{"¿Cuánto cuesta el ascensor nuevo?", "acta.md", "48.000"},
	{"¿Quién fue elegida presidenta?", "acta.md", "Carmen Ibáñez"},
	{"水車小屋の設計者は誰ですか", "水車小屋.txt", "佐藤一郎"},
	{"水車の直径は何メートルですか", "水車小屋.txt", "四メートル"},
	{"春茶什么时候开始采摘？", "茶园.md", "三月二十日"},
	{"干茶应该怎样储存？", "茶园.md", "零下五度"},
	{"Сколько книг может взять читатель?", "учебник.txt", "семи книг"},
	{"Когда библиотека закрыта?", "учебник.txt", "понедельникам"},
	{"How is the drawbridge of the plan painted?", "plan.pdf", "dark green"},
}

// unanswerable questions have no answer in any of the documents. The last ones are near misses.
var unanswerable = []string{
	"What is the capital of Mongolia?",
	"How do I bake sourdough bread?",
	"Who won the football world cup in 1998?",
	"What is the boiling point of mercury?",
	"How many moons does Jupiter have?",
	"Wie hoch ist der Eiffelturm?",
	"What is the phone number of the dentist?",
	"富士山の高さは何メートルですか",
	"北京有多少人口？",
	"What is the name of the tenant's cat?",
	"Who was the captain of the Titanic?",
	"Was kostet die Wärmepumpe?",
	"What does the survey say about the swimming pool?",
	"¿Cuántas plazas tiene el garaje?",
	"When was the Fulmar built?",
	"How much does the lift in Mill Lane cost?",
}

// The offline model quotes the answer from the right document, word for word, and does not mark irrelevant quotes
// as found.
func TestOfflineAnswersQuoteDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	var files []file
	paths, err := filepath.Glob(filepath.Join("eval", "testdata", "library", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{filepath.Base(path), string(raw)})
	}
	files = append(files, file{
		"plan.pdf", pdfOf("The first sheet shows the river and the weir.",
			"The drawbridge is painted dark green and has two oak beams."),
	})
	// As of the time when the questions were written.
	chapters, err := filepath.Glob(filepath.Join("eval", "testdata", "handbook", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range chapters {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{filepath.Base(path), string(raw)})
	}
	names := map[string]string{} // by document id
	for i, id := range s.add(files...) {
		names[id] = files[i].name
	}

	sets := map[string][]asked{
		"tuned": readAsked(t, "tuned.tsv"), "held": readAsked(t, "held.tsv"), "facts": readAsked(t, "facts.tsv"),
		"facts held": readAsked(t, "facts-held.tsv"),
	}
	for _, q := range questions {
		sets["known"] = append(sets["known"], asked{"answer", q.file, q.says, q.ask})
	}
	for _, question := range unanswerable {
		sets["known"] = append(sets["known"], asked{"near-miss", "", "", question})
	}
	for set, questions := range sets {
		good, all := map[string]int{}, map[string]int{}
		for _, q := range questions {
			all[q.class]++
			if answeredWell(t, s, names, q) {
				good[q.class]++
			}
		}
		for class, n := range all {
			t.Logf("%s: %d of %d with class %s", set, good[class], n, class)
			if least := leastGood[set][class]; good[class] < least {
				t.Errorf("the score of class %s of the %s questions fell: %d of %d, want at least %d", class, set,
					good[class], n, least)
			}
		}
	}
}

// asked is a question of testdata/questions. The classes answer and paraphrase have the expected document and
// words; the classes off-topic and near-miss have no answer.
type asked struct{ class, file, says, question string }

// leastGood is the minimum number of correct questions in each class: the expected words are in the quotes, or no
// quote is marked as found. There is no embedder here: only the text index is used.
var leastGood = map[string]map[string]int{
	"known":      {"answer": len(questions), "near-miss": 15},
	"tuned":      {"answer": 26, "paraphrase": 10, "off-topic": 13, "near-miss": 27},
	"held":       {"answer": 26, "paraphrase": 12, "off-topic": 13, "near-miss": 26},
	"facts":      {"answer": 16, "near-miss": 14},
	"facts held": {"answer": 16, "near-miss": 11},
}

func readAsked(t *testing.T, name string) []asked {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "questions", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []asked
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 4 {
			continue
		}
		out = append(out, asked{fields[0], fields[1], fields[2], fields[3]})
	}
	if len(out) == 0 {
		t.Fatalf("%s lacks questions", name)
	}
	return out
}

// answeredWell reports whether a question was answered from its document with the expected words, or refused if it
// has no answer.
func answeredWell(t *testing.T, s *server, names map[string]string, q asked) bool {
	t.Helper()
	log := s.run(q.question)
	if log.answer == nil {
		t.Errorf("%q: %+v", q.question, log.done)
		return false
	}
	refused, closest := log.answer.StopReason == chat.StopRefused, log.answer.Finding == chat.FindingClosest
	if refused {
		checkRefusal(t, q.question, log)
	} else {
		checkCitations(t, s, log)
	}
	good := refused || closest
	if q.says != "" && q.class != "off-topic" && q.class != "near-miss" {
		cited := slices.ContainsFunc(log.answer.Citations, func(c chat.Citation) bool {
			return names[c.DocumentID] == q.file
		})
		good = !refused && cited && (strings.Contains(log.answer.Markdown, q.says) ||
			slices.ContainsFunc(log.answer.Citations, func(c chat.Citation) bool {
				return strings.Contains(c.Quote, q.says)
			}))
	}
	if !good {
		t.Logf("%s: %q\n\t%s", q.class, q.question, log.answer.Markdown)
	}
	return good
}

// checkCitations fails unless each footnote's quote is at its offset, and each number in the text has a footnote.
func checkCitations(t *testing.T, s *server, log transcript) {
	t.Helper()
	if log.answer == nil {
		return
	}
	for i, c := range log.answer.Citations {
		text := s.send("GET", "/documents/"+c.DocumentID+"/text", nil)
		runes := []rune(text.body)
		if c.Check == chat.CheckNotFound {
			t.Errorf("%q: footnote %d has no quote", log.start.Question, c.Number)
			continue
		}
		if text.status != http.StatusOK || c.Start < 0 || c.End > len(runes) || c.Start >= c.End ||
			string(runes[c.Start:c.End]) != c.Quote {
			t.Errorf("%q: footnote %d is not at %d–%d: %q; want at least 0, at most %d, less than %d",
				log.start.Question, c.Number, c.Start, c.End, c.Quote, len(runes), c.End)
		}
		if c.Number != i+1 || !strings.Contains(log.answer.Markdown, "["+string(rune('0'+c.Number))+"]") {
			t.Errorf("%q: footnote %d of %q, want %d", log.start.Question, c.Number, log.answer.Markdown, i+1)
		}
		if page := s.send("GET", c.URL, nil, header{"Accept", "text/html"}); page.status != http.StatusOK {
			t.Errorf("%q: the link %s = %d, want %d", log.start.Question, c.URL, page.status, http.StatusOK)
		}
	}
}

func checkRefusal(t *testing.T, question string, log transcript) {
	t.Helper()
	const sentence = "I couldn't find relevant information about that in your documents."
	if !strings.HasPrefix(log.answer.Markdown, sentence) || len(log.answer.Citations) > 0 || len(log.citations) > 0 ||
		strings.Contains(log.answer.Markdown, "[1]") {
		t.Errorf("%q: the refusal is %+v; want %q at its beginning, no citations, no %q in it",
			question, log.answer, sentence, "[1]")
	}
	if log.done.Status != chat.RunCompleted || log.answer.Coverage.Searched == 0 {
		t.Errorf("%q: done %+v, coverage %+v; want Status %v and other than 0",
			question, log.done, log.answer.Coverage, chat.RunCompleted)
	}
	searched := slices.ContainsFunc(log.steps, func(s chat.Step) bool {
		return s.ActionType == chat.ActionSearching && s.ToolName != ""
	})
	if !searched || !strings.Contains(log.answer.Markdown, "searched for") {
		t.Errorf("%q: answer = %q, want %q in it", question, log.answer.Markdown, "searched for")
	}
}
