package main_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text"
)

// healthOf is the response of GET /health.
type healthOf struct {
	Status string
	Checks map[string]struct{ Status, Detail string }
}

func (s *server) health() (int, healthOf) {
	s.t.Helper()
	r := s.send("GET", "/health", nil)
	return r.status, loose[healthOf](s.t, r.body)
}

// S4.4 · each dependency has its check. A non-critical one never makes the server down.
func TestHealthChecksEachDependency(t *testing.T) {
	t.Parallel()
	tools := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "count"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{}, nil, nil
		})
	stock := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, nil))
	t.Cleanup(stock.Close)
	t.Cleanup(stock.CloseClientConnections)
	ranks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusMethodNotAllowed) // like a route that only supports POST
	}))
	t.Cleanup(ranks.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	model := newModel(t, scripted.Config{})
	always := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_BLOBS=file://"+t.TempDir())
	with := func(search []string, tools, ranks string) *server {
		return serve(t, newDir(t), slices.Concat(always, search, []string{
			`FOOTNOTE_MCP_SERVERS={"stock":{"url":"` + tools + `"}}`, "FOOTNOTE_RERANK_URL=" + ranks + "/v1/rerank",
		})...)
	}
	needed := []string{"database", "database file", "index"}
	helping := []string{"embeddings", "mcp stock", "model", "originals", "reranker", "web search"}

	status, all := with(website(t, "Rock."), stock.URL, ranks.URL).health()
	if names := slices.Sorted(maps.Keys(all.Checks)); status != http.StatusOK || all.Status != "ok" ||
		!slices.Equal(names, slices.Sorted(slices.Values(slices.Concat(needed, helping)))) {
		t.Errorf("with all dependencies: got %d %+v, want ok", status, all)
	}
	status, none := with([]string{"FOOTNOTE_WEB_PROVIDER=searxng", "FOOTNOTE_WEB_URL=" + gone.URL}, gone.URL,
		gone.URL).health()
	if status != http.StatusOK || none.Status != "degraded" {
		t.Errorf("without optional dependencies: got %d %+v, want degraded", status, none)
	}
	for name, check := range none.Checks {
		away := name == "mcp stock" || name == "reranker" || name == "web search"
		if (check.Status == "ok") == away || away && !plainSentence(check.Detail) {
			t.Errorf("without optional dependencies: check of %s = %+v", name, check)
		}
	}
}

// spoilPage overwrites a leaf page of a table or index in the database of a data directory, while no server has it
// open. The first leaf has the oldest rows, and the last one, -1, gets new ones. A full last leaf is rebalanced
// with the two before it, so the first must not be one of the last three.
func spoilPage(t *testing.T, dir, table string, leaf int) {
	t.Helper()
	name := filepath.Join(dir, "footnote.db")
	db, err := sql.Open("sqlite", "file:"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(),
		`SELECT pageno, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var places []int64
	var size int64
	for rows.Next() {
		var page int64
		if err := rows.Scan(&page, &size); err != nil {
			t.Fatal(err)
		}
		places = append(places, (page-1)*size)
	}
	if rows.Err() != nil || len(places) == 0 || leaf == 0 && len(places) < 4 {
		t.Fatalf("%s has %d leaf pages: %v", table, len(places), rows.Err())
	}
	if leaf < 0 {
		leaf += len(places)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt([]byte(strings.Repeat("damaged!", int(size/8))), places[leaf])
	if closed := file.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// S4.15 · pages of a damaged database file: intact rows are still read, an answer reports missing data, and once no
// answer can be stored, /health reports it.
func TestDamagedSessionStore(t *testing.T) {
	t.Parallel()
	prepared := newDir(t)
	s := serve(t, prepared)
	s.add(books...)
	ask := func(s *server, session, question string) reply {
		raw, err := json.Marshal(jsonFields{"message": question, "session_id": session})
		if err != nil {
			t.Fatal(err)
		}
		return s.send("POST", "/agent/chat", string(raw))
	}
	for _, question := range []string{"What is the rent of the mill?", "Who repairs the roof?"} {
		ask(s, "old", question)
	}
	for i := range 140 { // several pages
		ask(s, fmt.Sprintf("other-%d", i), "What is the rent of the mill?")
	}
	s.end(os.Interrupt)
	copied := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(prepared)); err != nil {
			t.Fatal(err)
		}
		return dir
	}

	for _, row := range []struct {
		table        string
		note, listed string // of the next answer, and of the session; empty: unreadable
	}{
		{"events", "turn of this conversation can't be read: answering without it.",
			"question of this conversation is damaged and can't be shown."},
		{"run_texts", "The conversation so far can't be read: answering without it.", ""},
	} {
		t.Run("old pages of "+row.table, func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			spoilPage(t, dir, row.table, 0)
			s := serve(t, dir)
			r := ask(s, "old", "What is the condition of the roof?")
			got := loose[askedAnswer](t, r.body)
			if r.status != http.StatusOK || len(got.Citations) == 0 || len(got.Notes) != 1 ||
				!strings.Contains(got.Notes[0], row.note) {
				t.Errorf("the next answer: %d %s, want the note %q", r.status, r.body, row.note)
			}
			if r := ask(s, "new", "What is the condition of the roof?"); r.status != http.StatusOK ||
				len(loose[askedAnswer](t, r.body).Notes) != 0 {
				t.Errorf("other conversation: got %d %s, want 200", r.status, r.body)
			}
			history := s.send("GET", "/agent/session/old", nil)
			page := s.send("GET", "/c/old", nil, header{"Accept", "text/html"})
			if row.listed == "" {
				if detail := loose[problem](t, history.body).Detail; history.status != http.StatusServiceUnavailable ||
					!plainSentence(detail) {
					t.Errorf("history of the damaged conversation: got %d %s, want 503", history.status, history.body)
				}
			} else if history.status != http.StatusOK || page.status != http.StatusOK ||
				!strings.Contains(history.body, row.listed) ||
				!strings.Contains(page.body, `data-testid="turns-lost"`) {
				t.Errorf("history: got %d %s, page %d", history.status, history.body, page.status)
			}
			if status, health := s.health(); status != http.StatusOK || health.Status != "ok" {
				t.Errorf("/health: %d %+v", status, health)
			}
		})
	}

	t.Run("old pages of runs", func(t *testing.T) {
		t.Parallel()
		dir := copied(t)
		spoilPage(t, dir, "runs", 0)
		s := serve(t, dir)
		if r := ask(s, "new", "What is the condition of the roof?"); r.status != http.StatusOK {
			t.Errorf("other conversation: got %d %s\n%s", r.status, r.body, s.log)
		}
		if r := ask(s, "old", "What is the condition of the roof?"); r.status != http.StatusServiceUnavailable ||
			!plainSentence(loose[problem](t, r.body).Detail) {
			t.Errorf("damaged conversation: got %d %s, want 503", r.status, r.body)
		}
	})

	for _, table := range []string{"events", "run_texts", "runs_by_session"} {
		t.Run("the page of "+table+" that takes new rows", func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			spoilPage(t, dir, table, -1)
			s := serve(t, dir)
			status, health := s.health()
			if check := health.Checks["database"]; status != http.StatusServiceUnavailable || health.Status != "down" ||
				check.Status != "failed" || !strings.Contains(check.Detail, "damaged") || !plainSentence(check.Detail) {
				t.Errorf("/health: %d %+v, want 503 by the database", status, health)
			}
			if found := s.search("slates"); found.TotalResults == 0 {
				t.Error("search finds nothing, want the intact rows")
			}
		})
	}
}

// S3.12, S3.13 · short paths: the model is only asked for the answer, and the tools are still used. For small talk
// it may call tools.
func TestShortPathsSkipSelectionNotTools(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t)
	const good = "The roof of Highlands is in good condition"
	before := func(session string) {
		th.chatted(searchingFor("search_documents", "roof of Highlands", good), "How good is the roof of Highlands?",
			jsonFields{"session_id": session}, nil)
	}
	for i, row := range []struct {
		path, question string
		later          bool // after an answer about the roof
		says, answer   string
		tools          string // with their arguments
	}{
		{"citation", "What exactly does [1] say?", true, good + " {roof}.", good + " [1].",
			"read_document " + good + "."},
		{"citation", "Can you show me more of footnote 1?", true, good + " {roof}.", good + " [1].",
			"read_document " + good + "."},
		{"document", "What does survey.md say about the roof?", false, good + " {roof}.", good + " [1].",
			"search_documents What does survey.md say about the roof?|" +
				"read_document What does survey.md say about the roof?"},
		{"document", "What does the building survey say about the roof?", false, good + " {roof}.", good + " [1].",
			"search_documents What does the building survey say about the roof?|" +
				"read_document What does the building survey say about the roof?"},
		{"talk", "Hello there!", false, "Hello! What shall I look for?", "Hello! What shall I look for?", ""},
		{"talk", "What can you do?", true, "I answer from documents.", "I answer from documents.", ""},
		{"transform", "Translate the following text into French:\nThe mill is in good condition.", false,
			"Le moulin est en bon état.", "Le moulin est en bon état.", ""},
		{"transform", "Shorten your last answer", true, "The roof is in good condition.",
			"The roof is in good condition [1].", ""},
		{"transform", "Explain that in simple terms", true, "The roof of Highlands is good.",
			"The roof of Highlands is good [1].", ""},
	} {
		t.Run("S3.12 "+row.path+": "+row.question, func(t *testing.T) {
			th := th.forSubtest(t)
			session := "short-" + strconv.Itoa(i)
			if row.later {
				before(session)
			}
			asked := 0
			got := th.chatted(func(r scripted.Request) scripted.Reply {
				// The model may still search if the rules classify a question as small talk.
				free := row.path == "talk" || row.path == "transform"
				if asked++; (!r.NoTools && len(r.Tools) > 0) != free {
					t.Errorf("the model was to choose: %v, want %v", !free, free)
				}
				return saying(strings.ReplaceAll(row.says, "{roof}", found(r, good)))
			}, row.question, jsonFields{"session_id": session}, nil)
			var calls []string
			path := ""
			for _, s := range got.Steps {
				if p, ok := s.Details["path"].(string); ok {
					path = p
				}
				input := loose[struct {
					Query string
					Focus string `json:"focus_query"`
				}](t, orNothing(s.ToolInput))
				if s.ToolName != "" {
					calls = append(calls, s.ToolName+" "+input.Query+input.Focus)
				}
				if s.ToolName == "search_documents" && strings.Contains(string(s.ToolOutput), "value-2024.md") {
					t.Errorf("search outside the document: %s", s.ToolOutput)
				}
			}
			if path != row.path || strings.Join(calls, "|") != row.tools || got.Response != row.answer || asked != 1 {
				t.Errorf("path %q with %q: %q after %d requests; want %q with %q: %q after one", path, calls,
					got.Response, asked, row.path, row.tools, row.answer)
			}
		})
	}

	t.Run("S3.13 open requests work without a model", func(t *testing.T) {
		th := th.forSubtest(t)
		before("open")
		for _, row := range []struct{ question, answer, url string }{
			{"Open citation 1", "Opened footnote 1: survey.md.", "?c="},
			{"Open the document robots.md", "Opened robots.md.", "/d/"},
		} {
			for _, model := range []string{"scripted", "offline"} {
				got := th.chatted(scripted.Librarian, row.question, jsonFields{"session_id": "open"},
					jsonFields{"model": model})
				var opened struct{ URL string }
				for _, s := range got.Steps {
					if s.ActionType == chat.ActionOpening {
						_ = json.Unmarshal(s.ToolOutput, &opened) // checked below
					}
				}
				if got.Response != row.answer || !strings.Contains(opened.URL, row.url) ||
					th.send("GET", opened.URL, nil, header{"Accept", "text/html"}).status != http.StatusOK {
					t.Errorf("%s with the model %s: got %q, link to %q", row.question, model, got.Response, opened.URL)
				}
			}
		}
	})
}

// S0.10 · each setting of a request has an observable effect. Each row describes it in a few words, with and
// without the setting.
func TestEveryRequestSettingIsApplied(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, "FOOTNOTE_AGENT_MODELS_ALLOWED=other")
	const good, question = "The roof of Highlands is in good condition", "Why is the roof of Highlands good?"
	told := func(see func(scripted.Request) any) func(askedAnswer, []scripted.Request) any {
		return func(_ askedAnswer, asked []scripted.Request) any { return see(asked[0]) }
	}
	answered := func(see func(askedAnswer) any) func(askedAnswer, []scripted.Request) any {
		return func(got askedAnswer, _ []scripted.Request) any { return see(got) }
	}
	has := func(name string) func(askedAnswer, []scripted.Request) any {
		return answered(func(got askedAnswer) any { return len(got.stepsNamed(name)) > 0 })
	}
	restless := func(r scripted.Request) scripted.Reply {
		if r.NoTools {
			return saying(good + " " + found(r, good) + ".")
		}
		return calling("retrieve", fmt.Sprintf(`{"query":"roof Highlands %d"}`, r.Turn()))
	}
	once := searchingFor("retrieve", "roof Highlands value", good)
	judging := sidelong("", []string{`{"evaluation":"Good.","confidence":0.9}`}, once)
	rows := map[string]struct {
		value any
		part  scripted.Script
		see   func(askedAnswer, []scripted.Request) any
		want  [2]any // without the setting, and with it
	}{
		"model": {
			"other", once, told(func(r scripted.Request) any { return r.Model }), [2]any{"scripted", "other"},
		},
		"temperature": {0.7, once, told(func(r scripted.Request) any { return *r.Temperature }), [2]any{0.1, 0.7}},
		"max_steps":   {2, restless, answered(func(a askedAnswer) any { return a.StepsUsed }), [2]any{6, 2}},
		"max_retrieval_calls": {
			2, restless, answered(func(a askedAnswer) any { return a.TotalRetrievalCalls }), [2]any{5, 2},
		},
		"retrieval_top_k": {1, once, answered(func(a askedAnswer) any {
			return strings.Count(string(a.stepsNamed("retrieve")[0].ToolOutput), `"n":`)
		}), [2]any{3, 1}},
		"enabled_tools": {[]string{"retrieve", "finish"}, once, told(func(r scripted.Request) any {
			return len(r.Tools)
		}), [2]any{7, 2}},
		"use_agent_mode":             {false, once, has("choose"), [2]any{false, true}},
		"selection":                  {"rules", once, has("choose"), [2]any{false, true}},
		"enable_self_evaluation":     {true, judging, has("reflect"), [2]any{false, true}},
		"enable_query_decomposition": {true, judging, has("plan"), [2]any{false, true}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			th := th.forSubtest(t)
			for i, config := range []jsonFields{nil, {name: row.value}} {
				got, seed := th.query(row.part, question, nil, config)
				if saw := row.see(got, th.requestsFor(seed)); saw != row.want[i] {
					t.Errorf("with %v: %v, want %v; the steps are %q", config, saw, row.want[i], got.names())
				}
			}
		})
	}
	t.Run("seed", func(t *testing.T) {
		th := th.forSubtest(t)
		th.answers(question, once)
		before := len(th.model.inner.Requests())
		th.post("/agent/query", 200, jsonFields{"question": question, "config": plain})
		for _, r := range th.model.inner.Requests()[before:] {
			if r.Seed != nil {
				t.Errorf("request without a seed has the seed %d", *r.Seed)
			}
		}
		if _, seed := th.query(once, question, nil, nil); len(th.requestsFor(seed)) == 0 {
			t.Error("no request has the seed")
		}
	})
	elsewhere := map[string]bool{ // TestEachRequestSettingHasEffect
		"require_citations": true, "rerank_results": true, "verbose_logging": true,
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[chat.RunConfig]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, here := rows[name]; !here && !elsewhere[name] && name != "seed" {
			t.Errorf("config.%s has no test", name)
		}
	}
}

func TestContainerHealthCheck(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for _, addr := range []string{"127.0.0.1:" + port, "0.0.0.0:" + port, ":" + port} {
		if got := command(t, "", []string{"FOOTNOTE_ADDR=" + addr}, "doctor", "--health"); got.code != 0 ||
			got.stdout+got.stderr != "" {
			t.Errorf("%s: %d %s%s, want 0", addr, got.code, got.stdout, got.stderr)
		}
	}
	s.end(os.Interrupt)
	if got := command(t, "", []string{"FOOTNOTE_ADDR=127.0.0.1:" + port}, "doctor", "--health"); got.code != 1 ||
		!strings.Contains(got.stderr, "unhealthy") {
		t.Errorf("without a server: %d %s%s; want 1 and %q in it", got.code, got.stdout, got.stderr, "unhealthy")
	}
}

// realFiles returns the manuals, everyday files in four languages, the handbook, and two tables.
func realFiles(t testing.TB) []file {
	t.Helper()
	files := manuals(t)
	for _, pattern := range []string{"../../e2e/eval/everyday/open/*", "../../docs/handbook/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file{filepath.Base(name), string(body)})
		}
	}
	return append(files,
		file{"Order.eml", "From: Anna Weir <anna@mill.example>\r\nTo: Tom <tom@mill.example>\r\n" +
			"Subject: New mill stones\r\nDate: Mon, 4 Mar 2024 09:00:00 +0000\r\nContent-Type: text/plain\r\n\r\n" +
			"Dear Tom,\r\n\r\nthe new mill stones arrive on 12 April from the quarry in Bath. The crane driver " +
			"charges 340 pounds for the morning.\r\n\r\nAnna\r\n"},
		file{"Invoices.csv", "Number,Customer,Amount,Paid on\nINV-101,Harrow Ltd,\"1,200.00\",2024-03-01\n" +
			"INV-102,Béla Kft,880.50,\nINV-103,Okafor & Sons,\"4,500.00\",\nINV-104,Marsh Dental,310.00,2024-05-12\n"},
		file{"Rechnungen.csv", "Rechnung;Kunde;Betrag;Bezahlt am\nR-1;Meier GmbH;\"1.200,00\";01.03.2024\n" +
			"R-2;Schulze AG;880,50;\nR-3;Köhler & Söhne;4.500,00;\n"})
}

// starters returns the suggested questions of the start page, each with the title of its document.
func (s *server) starters() (questions, titles []string) {
	s.t.Helper()
	root, err := html.Parse(strings.NewReader(s.send("GET", "/", nil, header{"Accept", "text/html"}).body))
	if err != nil {
		s.t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "button" || !hasClassOf(n, "starter") {
			continue
		}
		var words []string
		for d := range n.Descendants() {
			if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
				words = append(words, strings.TrimSpace(d.Data))
			}
		}
		questions, titles = append(questions, words[0]), append(titles, words[len(words)-1])
	}
	return questions, titles
}

func hasClassOf(n *html.Node, class string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && slices.Contains(strings.Fields(a.Val), class)
	})
}

// Each suggested question of the start page and under its answers is asked over manuals, everyday files, a mail and
// tables. No question is refused, and nearly all are answered from the section that they name, in their own
// document.
func TestSuggestedQuestionIsAnsweredByItsSection(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	asked := map[string]bool{}
	starters, further := tally{}, tally{}
	for _, f := range realFiles(t) {
		s.add(f)
		questions, titles := s.starters()
		if len(questions) == 0 {
			t.Errorf("got no suggestions for %s", f.name)
		}
		for i, q := range questions {
			if asked[q] {
				continue
			}
			asked[q] = true
			log := s.runIn("", q)
			starters.count(t, log.answer, q, titles[i])
			if log.answer == nil {
				continue
			}
			for _, next := range log.answer.FollowUps {
				if !asked[next] {
					asked[next] = true
					further.count(t, s.runIn(log.start.SessionID, next).answer, next, "")
				}
			}
		}
	}
	t.Logf("%d of %d starters, %d of %d further questions", starters.right, starters.asked, further.right,
		further.asked)
	if 10*starters.right < 9*starters.asked || 10*further.right < 8*further.asked || starters.asked < 25 {
		t.Errorf("want 9 in 10 of 25 starters or more, and 8 in 10 of the others")
	}
}

// tally counts questions, and those answered from the section that they name.
type tally struct{ asked, right int }

func (n *tally) count(t *testing.T, a *chat.Answer, question, title string) {
	n.asked++
	problem := notAnswered(a, question, title)
	switch {
	case a == nil || len(a.Citations) == 0:
		t.Errorf("%s (%s): %s", question, title, problem)
	case problem != "":
		t.Logf("%s (%s): %s", question, title, problem)
	default:
		n.right++
	}
}

// notAnswered returns the reason why an answer does not quote the question's subject, or "".
func notAnswered(a *chat.Answer, question, title string) string {
	if a == nil {
		return "no answer"
	}
	if len(a.Citations) == 0 {
		return "refused"
	}
	c := a.Citations[0]
	if title != "" && c.Title != title {
		return "another document: " + c.Title
	}
	first, _, _ := strings.Cut(a.Markdown, "[1]")
	for _, words := range text.Phrases(question) {
		if !strings.Contains(text.Fold(c.Section+" "+c.Quote+" "+first), text.Fold(words)) {
			return "section " + c.Section + ", quote " + c.Quote
		}
	}
	return ""
}

// The settings file configures a tool server; its key is read from the environment and appears in no output.
func TestSettingsFileConfiguresToolServer(t *testing.T) {
	t.Parallel()
	const key = "tool-canary-8861"
	tools := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "count"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{
				Content: []sdk.Content{&sdk.TextContent{Text: "There are 17 slates, says " + key}},
			}, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != key {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	model := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return scripted.Reply{Calls: []llm.Call{{ID: "x", Name: "stock__count", Arguments: []byte(`{}`)}}}
		}
		return scripted.Reply{Text: "There are 17 slates."}
	}})
	data := newDir(t)
	file := filepath.Join(filepath.Dir(data), "footnote.yaml")
	if err := os.WriteFile(
		file, []byte(
			"mcp:\n  servers:\n    stock:\n      url: "+web.URL+
				"\n      headers: {X-Key: \"${STOCK_KEY}\"}\n      approve: never\n",
		), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	s := serve(t, data, "OPENAI_BASE_URL="+model.url, "OPENAI_API_KEY=x", "OPENAI_MODEL=scripted", "STOCK_KEY="+key,
		"FOOTNOTE_LOG_LEVEL=debug")
	var seen strings.Builder
	for _, ev := range s.run("How many slates are in stock?").raw {
		seen.WriteString(ev.data)
	}
	if !strings.Contains(seen.String(), "17 slates, says [set]") {
		t.Errorf("tool was not called:\n%s\n%s", seen.String(), s.log)
	}
	s.end(os.Interrupt)
	if strings.Contains(seen.String()+s.log.String(), key) {
		t.Error("log has the key")
	}
	for text, says := range map[string]string{
		`{"a":{"url":"` + web.URL + `","headers":{"X":"${NOT_SET_ANYWHERE}"}}}`: "NOT_SET_ANYWHERE",
		`{"a":{}}`: "either a command or a url",
		`{"a":{"command":"x","approve":"sometimes"}}`: "always, never",
		`{"a":{"command":"x","colour":1}}`:            "colour",
		key:                                           "not JSON",
	} {
		got := command(t, "", []string{"FOOTNOTE_MCP_SERVERS=" + text}, "serve", "--data="+newDir(t),
			"--addr=127.0.0.1:0")
		if got.code != 2 || !strings.Contains(got.stderr, says) || strings.Contains(got.stderr, key) {
			t.Errorf("%s: code %d, %s; want 2, %q in it, no %q in it", text, got.code, got.stderr, says, key)
		}
	}
}
