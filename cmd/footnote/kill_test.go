package main_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// faultSeeds is the number of tries of each fail point: one, or FOOTNOTE_FAULTS. "make faults" kills replicas, and
// one process, in e2e/faults.
func faultSeeds(t *testing.T) int {
	t.Helper()
	return numberFrom(t, "FOOTNOTE_FAULTS", 1, 1)
}

// books are the documents that the killed runs search and read.
var books = []file{
	{
		"survey.md",
		"# Survey\n\n## Roof\n\nThe roof of the mill is in poor condition. Several slates are missing on its north " +
			"slope.\n\n## Damp\n\nThe damp in the kitchen comes from a blocked gutter above the rear wall.\n",
	},
	{
		"lease.md",
		"# Lease\n\n## Rent\n\nThe rent of the mill is 900 pounds a month, due on the first day.\n\n## " +
			"Repairs\n\nThe tenant repairs the roof and the gutters.\n",
	},
	{"diary.txt", "The miller wrote on Monday that the roof leaked again and that the rent was late.\n"},
}

// carefulModel works in four turns: two parallel searches, two parallel readings, a sum, and a long answer with
// footnotes.
func carefulModel(r scripted.Request) scripted.Reply {
	search := func(q string) llm.Call {
		return llm.Call{Name: "search_documents", Arguments: []byte(`{"query":"` + q + `"}`)}
	}
	switch r.Turn() {
	case 0:
		return scripted.Reply{
			Text:  "I look at the roof and the rent first.",
			Calls: []llm.Call{search("roof condition"), search("rent of the mill")},
		}
	case 1:
		reply := scripted.Librarian(scripted.Request{Request: llm.Request{Messages: r.Messages, Tools: r.Tools}})
		if len(reply.Calls) > 0 {
			return reply
		}
		return scripted.Reply{Calls: []llm.Call{search("gutter damp")}}
	case 2:
		return scripted.Reply{Calls: []llm.Call{{Name: "calculate", Arguments: []byte(`{"expression":"900*12"}`)}}}
	}
	const sentence = "The roof of the mill is in poor condition [1]. The tenant repairs the roof and the gutters, " +
		"and the rent is 900 pounds a month [2]. "
	return scripted.Reply{Text: strings.Repeat(sentence, 6)}
}

// failPoint defines the moment at which the process is killed.
type failPoint struct {
	name string
	arm  func(k *killed, rng *rand.Rand)
}

// killed is a process that will be killed, with its run's events so far.
type killed struct {
	s     *server
	model *modelServer
	seen  []event
	after int // number of events before the kill; -1: never
}

func failPoints() []failPoint {
	points := []failPoint{{"as soon as the run was accepted", func(k *killed, _ *rand.Rand) { k.after = 0 }}}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20} {
		points = append(points, failPoint{
			fmt.Sprintf("when event %d was seen", n), func(k *killed, _ *rand.Rand) { k.after = n },
		})
	}
	for i, window := range [][2]int{{1, 300}, {300, 2000}, {2000, 4000}, {4000, 9000}, {9000, 20000}, {20000, 40000}} {
		points = append(points, failPoint{
			fmt.Sprintf("in the model's stream, window %d", i+1), func(k *killed, rng *rand.Rand) {
				at := window[0] + rng.IntN(window[1]-window[0])
				k.after = -1
				k.model.onBytes = func(n int) {
					if n >= at {
						_ = k.s.cmd.Process.Kill() // it may have ended
					}
				}
			},
		})
	}
	points = append(points, failPoint{"while tools run", func(k *killed, _ *rand.Rand) {
		k.after = -1
		k.model.onEmbed = func() <-chan struct{} {
			_ = k.s.cmd.Process.Kill() // it may have ended
			return nil
		}
	}})
	return points
}

// A process that is killed at any point of a run leaves a log that the next one ends or resumes.
func TestKilledRunResumesOrEnds(t *testing.T) {
	t.Parallel()
	points := failPoints()
	if len(points) < 20 {
		t.Fatalf("%d fail points, want 20", len(points))
	}
	template := newDir(t)
	first := newModel(t, scripted.Config{Script: carefulModel})
	prepared := serve(t, template, append(first.env(), "OPENAI_EMBEDDING_MODEL=hash")...)
	prepared.add(books...)
	eventually(t, "all vectors are there", func() bool {
		return strings.Count(prepared.send("GET", "/documents", nil).body, `"semantic":"ready"`) == len(books)
	})
	prepared.end(os.Interrupt)
	began, tried, resumed := time.Now(), 0, 0
	for seed := range faultSeeds(t) {
		for i, point := range points {
			if testing.Short() && i%3 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, seed %d", point.name, seed), func(t *testing.T) {
				tried++
				if killAndGoOn(t, template, point, rand.New(rand.NewPCG(uint64(seed), uint64(i)))) {
					resumed++
				}
			})
		}
		if time.Since(began) > 30*time.Minute {
			t.Logf("enough after %d seeds", seed+1)
			break
		}
	}
	t.Logf("%d of %d runs were cut off and went on", resumed, tried)
	if resumed < tried/2 {
		t.Errorf("only %d of %d runs were cut off in the middle: the fail points miss them, want at least %d",
			resumed, tried, tried/2)
	}
}

// killAndGoOn kills one run and reports whether the next process resumed it.
func killAndGoOn(t *testing.T, template string, point failPoint, rng *rand.Rand) (resumed bool) {
	dir := newDir(t)
	copyFiles(t, template, dir)
	model := newModel(t, scripted.Config{Script: carefulModel, Delay: time.Duration(1+rng.IntN(3)) * time.Millisecond})
	env := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash")
	k := &killed{s: serve(t, dir, env...), model: model, after: -1}
	point.arm(k, rng)
	body := ask("What is the condition of the roof, and what is the rent?")
	r, err := k.s.try("POST", "/chat", body, header{"Idempotency-Key", "the-key"})
	if err != nil || r.status != http.StatusAccepted {
		t.Fatalf("POST /chat: %v %+v, want status %d", err, r, http.StatusAccepted)
	}
	run := decode[started](t, r.body)
	k.watch(t, run)
	k.s.kill()
	model.mu.Lock()
	model.onBytes, model.onEmbed = nil, nil
	model.mu.Unlock()

	again := serve(t, dir, env...)
	log := again.follow(run.RunID)
	for i, ev := range k.seen {
		if log.raw[i] != ev {
			t.Fatalf("event %d before:\n%v\nafter:\n%v", i+1, ev, log.raw[i])
		}
	}
	checkEnd(t, log)
	checkNothingTwice(t, log)
	for i, body := range model.asked() {
		if err := checkHistory(body); err != nil {
			t.Errorf("request %d: %v\n%s", i, err, body)
		}
	}
	if key := decode[started](
		t, again.send("POST", "/chat", body, header{"Idempotency-Key", "the-key"}).body,
	); key.RunID != run.RunID {
		t.Errorf("the same key made another run: %s, not %s, want %s", key.RunID, run.RunID, run.RunID)
	}
	return slices.ContainsFunc(log.steps, func(s chat.Step) bool { return s.Step == "restart" })
}

// watch reads the run's events until the kill, or until the process is gone.
func (k *killed) watch(t *testing.T, run started) {
	if k.after == 0 {
		return
	}
	st, err := k.s.open("GET", run.Events, nil)
	if err != nil {
		return // it is gone already
	}
	defer st.close()
	for {
		ev, err := st.next()
		if err != nil {
			if errors.Is(err, io.EOF) && k.after > 0 {
				t.Logf("the run ended with %d events", len(k.seen))
			}
			return
		}
		k.seen = append(k.seen, ev)
		if len(k.seen) == k.after {
			return
		}
	}
}

// checkEnd requires a complete answer, or an end with the status interrupted.
func checkEnd(t *testing.T, log transcript) {
	t.Helper()
	if log.done.Status == chat.RunInterrupted {
		if log.done.Error == nil || log.done.Error.Message == "" {
			t.Errorf("run is interrupted without a reason")
		}
		return
	}
	if log.done.Status != chat.RunCompleted || log.answer == nil {
		t.Fatalf("it ended as %+v, with the answer %+v, want Status %v", log.done, log.answer, chat.RunCompleted)
	}
	if log.text != log.answer.Markdown {
		t.Errorf("deltas =\n%q\nwant the answer\n%q", log.text, log.answer.Markdown)
	}
	if len(log.answer.Citations) == 0 ||
		!slices.EqualFunc(log.citations, log.answer.Citations, func(a, b chat.Citation) bool {
			return a.Number == b.Number && a.Quote == b.Quote
		}) {
		t.Errorf("citations = %+v\nwant those of the answer %+v\nof\n%s",
			log.citations, log.answer.Citations, log.summary())
	}
	open := map[string]bool{}
	for _, step := range log.steps {
		open[step.CallID] = step.Status == chat.StatusRunning
	}
	for id, running := range open {
		if running {
			t.Errorf("step %s never ended", id)
		}
	}
}

// summary formats the log of a run for a failure's report.
func (log transcript) summary() string {
	var b strings.Builder
	for i, raw := range log.raw {
		if i > 40 {
			fmt.Fprintf(&b, "and %d more\n", len(log.raw)-i)
			break
		}
		fmt.Fprintf(&b, "%s %.600s\n", raw.name, raw.data)
	}
	return b.String()
}

// checkNothingTwice fails if a call whose result was in the log was made again.
func checkNothingTwice(t *testing.T, log transcript) {
	t.Helper()
	finished := map[string]string{}
	for _, step := range log.steps {
		if step.ToolName == "" || step.Status != chat.StatusComplete {
			continue
		}
		call := step.ToolName + string(step.ToolInput)
		if id, ok := finished[call]; ok && id != step.CallID {
			t.Errorf("%s ran as %s and again as %s", call, id, step.CallID)
		}
		finished[call] = step.CallID
	}
}

// copyFiles copies the regular files below one directory into another.
func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, inside), 0o700)
		case entry.Type().IsRegular():
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, inside), raw, 0o600)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// gate is a proxy in front of a WebDAV server that blocks requests while it is shut.
type gate struct {
	*httptest.Server
	shut    atomic.Bool
	count   atomic.Int64  // number of requests
	reached chan struct{} // buffers one: a request is blocked
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g, ended := &gate{reached: make(chan struct{}, 1)}, make(chan struct{})
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: at.Scheme, Host: at.Host})
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.count.Add(1)
		if !g.shut.Load() {
			pass.ServeHTTP(w, r)
			return
		}
		select {
		case g.reached <- struct{}{}:
		default:
		}
		_, _ = io.Copy(io.Discard, r.Body) // otherwise a disconnect is not detected
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	t.Cleanup(func() { close(ended); g.Close() })
	return g
}

// TestSourceIsPausedAfterTwoCrashes kills the process twice during the sync of a place. At the first death another
// place is being synced as well.
func TestSourceIsPausedAfterTwoCrashes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	putFiles(t, folder, map[string]string{"well.md": "# Well\n\nThe well is nine metres deep.\n"})
	address, _ := webdavtest.Serve(t, folder)
	deadly, innocent := newGate(t, address), newGate(t, address)
	s := serve(t, newDir(t))
	follow := func(name string, g *gate) string {
		return s.followPlace(fmt.Sprintf(`{"kind":"webdav","name":%q,"schedule":"request","settings":{
			"url":%q,"username":"ada","password":"secret"}}`, name, g.URL+"/dav"))
	}
	deadlyID, innocentID, other := follow("deadly", deadly), follow("innocent", innocent), follow("other", innocent)
	state := func(s *server, id string) placeState {
		return loose[placeState](t, s.send("GET", "/places/"+id, nil).body)
	}
	begin := func(s *server, id string, g *gate) {
		g.shut.Store(true)
		if r := s.send("POST", "/places/"+id+"/look", nil); r.status != http.StatusAccepted {
			t.Fatalf("look: got %d %s, want %d", r.status, r.body, http.StatusAccepted)
		}
		<-g.reached
	}

	// A graceful shutdown is not counted as a death.
	begin(s, deadlyID, deadly)
	for range 2 {
		s.end(os.Interrupt)
		s = s.restart()
		<-deadly.reached
	}
	begin(s, innocentID, innocent)
	s.kill()
	innocent.shut.Store(false)
	s = s.restart()
	<-deadly.reached
	s.kill()

	before := deadly.count.Load()
	s = s.restart()
	eventually(t, "the other place of the first death is synchronized", func() bool {
		got := state(s, innocentID)
		return got.State == "idle" && got.Failure == nil
	})
	if got := s.look(other); got.Failure != nil {
		t.Errorf("another place: got %+v, want no failure", got)
	}
	got := state(s, deadlyID)
	if got.State != "paused" || got.Failure == nil || !strings.Contains(got.Failure.Detail, "terminated twice") {
		t.Errorf("after two deaths: got %+v, want it paused with its reason", got)
	}
	page := s.send("GET", "/places", nil, header{"Accept", "text/html"})
	if !strings.Contains(page.body, "terminated twice") {
		t.Error("page lacks the reason for the pause")
	}
	if n := deadly.count.Load() - before; n > 0 {
		t.Errorf("got %d requests for a paused place, want none", n)
	}
	deadly.shut.Store(false)
	if got := s.look(deadlyID); got.State != "idle" || got.Failure != nil {
		t.Errorf("after a look on request: got %+v, want it idle", got)
	}
}

// tableState holds the fields of a table that a test reads.
type tableState struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Done  int    `json:"done"`
}

// The table of a killed process is resumed at the next start. Leases last 8 s where other servers may use the
// database; the timeout leaves a busy machine time to start.
func TestKilledGridResumes(t *testing.T) {
	t.Parallel()
	const bound = 30 * time.Second
	for name, env := range map[string]func(t *testing.T) []string{
		"SQLite": func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string {
			return []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, settings := newDir(t), env(t)
			s := serve(t, dir, settings...)
			var leases []file
			for i := range 30 {
				leases = append(leases, file{fmt.Sprintf("lease-%d.md", i), fmt.Sprintf(
					"# Lease %d\n\nThe rent of the mill is %d euros a month. The notice period is %d months.\n",
					i, 900+i, i)})
			}
			s.add(leases...)
			columns := ""
			for i := range 12 {
				columns += fmt.Sprintf(`,{"name":"Rent %d"}`, i)
			}
			made := s.send("POST", "/agent/table", `{"columns":[`+columns[1:]+`]}`)
			if made.status != http.StatusCreated {
				t.Fatalf("POST /agent/table: got %d %s, want 201", made.status, made.body)
			}
			id := loose[tableState](t, made.body).ID
			read := func() tableState {
				return loose[tableState](t, s.send("GET", "/tables/"+id, nil).body)
			}
			eventually(t, "some cells are filled", func() bool { return read().Done >= 4 })
			s.end(os.Kill)
			killed := time.Now()
			s = serve(t, dir, settings...)
			before := read()
			if before.State != "filling" {
				t.Fatalf("the table is %s with %d cells, want it killed in the middle", before.State, before.Done)
			}
			eventually(t, "more cells are filled", func() bool { return read().Done > before.Done+4 })
			if took := time.Since(killed); took > bound {
				t.Errorf("the table went on after %v, want at most %v", took, bound)
			} else {
				t.Logf("the table went on after %v", took)
			}
		})
	}
}

// chapter returns a text of n sections. Its first and last section contain unique words.
func chapter(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	for i := range n {
		word := "ordinary"
		switch i {
		case 0:
			word = name + "begins"
		case n - 1:
			word = name + "ends"
		}
		fmt.Fprintf(&b,
			"## Section %d\n\nThis %s section %d tells how the miller, the tenant and the surveyor met at the weir "+
				"of number %d and what they said.\n\n", i, word, i, i*7)
	}
	return b.String()
}

type searchAnswer struct {
	TotalResults int `json:"total_results"`
	Results      []struct {
		Text     string  `json:"text"`
		Score    float64 `json:"score"`
		Metadata struct {
			DocumentID string `json:"document_id"`
			Start      int    `json:"start"`
			End        int    `json:"end"`
		} `json:"metadata"`
	} `json:"results"`
}

func (s *server) search(query string) searchAnswer {
	s.t.Helper()
	r := s.send("POST", "/search", `{"query":"`+query+`","mode":"lexical"}`)
	if r.status != http.StatusOK {
		s.t.Fatalf("search for %q: %d %s", query, r.status, r.body)
	}
	return loose[searchAnswer](s.t, r.body)
}

// holds reports whether a search finds a word in a document.
func (s *server) holds(id, word string) bool {
	s.t.Helper()
	for _, hit := range s.search(word).Results {
		if hit.Metadata.DocumentID == id && strings.Contains(hit.Text, word) {
			return true
		}
	}
	return false
}

// A process that is killed during ingestion leaves each document complete or not yet indexed, and the next one
// finishes them.
func TestKilledIngestIsFinished(t *testing.T) {
	t.Parallel()
	template := newDir(t)
	prepared := serve(t, template)
	old := prepared.add(file{"book0.md", chapter("oldbook", 4)})[0]
	prepared.end(os.Interrupt)
	for i, n := range []int{1, 2, 3, 4, 5, 6, 8} {
		for seed := range faultSeeds(t) {
			t.Run(fmt.Sprintf("when state %d was seen, seed %d", n, seed), func(t *testing.T) {
				dir := newDir(t)
				copyFiles(t, template, dir)
				killIngest(t, serve(t, dir), old, n, rand.New(rand.NewPCG(uint64(seed), uint64(i))))
			})
		}
	}
}

// killIngest replaces one document, adds three, and kills the process at the n-th state change.
func killIngest(t *testing.T, s *server, old string, n int, rng *rand.Rand) {
	size := 20 + rng.IntN(300)
	files := []file{
		{"book0.md", chapter("book0", size)}, {"book1.md", chapter("book1", 2*size)},
		{"book2.txt", chapter("book2", 10)},
		{"book3.pdf", pdfOf("The words book3begins and book3ends stand on this page of the survey.",
			"A second page has other words.")},
	}
	r := s.upload(files...)
	if r.status != http.StatusAccepted {
		t.Fatalf("upload: %d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	answer := decode[uploadAnswer](t, r.body)
	if len(answer.Documents) != len(files) || answer.Documents[0].ID != old {
		t.Fatalf("upload: %s", r.body)
	}
	watched := answer.Documents[n%len(files)].ID
	if st, err := s.open("GET", "/documents/"+watched+"/events", nil); err == nil {
		for range n {
			if _, err := st.next(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
		}
		st.close()
	}
	s.kill()

	again := s.restart()
	for i, doc := range answer.Documents {
		name := fmt.Sprintf("book%d", i)
		again.whole(t, doc.ID, name, false)
		if state := again.settled(doc.ID); state.State != "ready" {
			t.Errorf("%s became %+v, want State %q", name, state, "ready")
		}
		again.whole(t, doc.ID, name, true)
	}
	if again.holds(old, "oldbookbegins") {
		t.Error("search finds the replaced text")
	}
}

// whole fails if only one end of a document is indexed, or if it is missing although it must be indexed.
func (s *server) whole(t *testing.T, id, name string, must bool) {
	t.Helper()
	begins := s.holds(id, name+"begins")
	ends := s.holds(id, name+"ends")
	if begins && !ends || must && !(begins && ends) {
		t.Errorf("%s: found the beginning: %v, the end: %v, want both", name, begins, ends)
	}
}

// A numbered item is found by its number, and is quoted alone with that number, in each format.
func TestNumberedItemIsFoundByNumber(t *testing.T) {
	t.Parallel()
	rules := []string{
		"Visitors sign the book at the gate.", "Dogs are kept on a lead.", "No fire is lit in the yard.",
		"The well is covered at night.",
	}
	var lines, items []string
	for i, rule := range rules {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, rule))
		items = append(items, "<li>"+rule)
	}
	list := strings.Join(lines, "\n")
	for _, f := range []file{
		{"rules.md", "# Rules of the mill\n\n" + list + "\n"},
		{"rules.txt", "Rules of the mill\n=================\n\n" + list + "\n"},
		{"rules.html", "<!doctype html><title>Rules of the mill</title><h1>Rules of the mill</h1><ol>" +
			strings.Join(items, "") + "</ol>"},
		{"rules.pdf", string(pdftest.Document("", pdftest.Sheet{
			Content: pdftest.At(50, 740, 24, "F", "Rules of the mill") + pdftest.Para(50, 700, lines...),
		}))},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			s.add(f)
			r := s.send("POST", "/agent/chat", `{"message":"What does rule 3 say?","citation_style":"numeric"}`)
			const want = "> 3. No fire is lit in the yard. [1]"
			got := loose[struct{ Response string }](t, r.body)
			if r.status != http.StatusOK || !strings.Contains(got.Response, want) {
				t.Errorf("%d %q; want %d and %q in it", r.status, got.Response, http.StatusOK, want)
			}
		})
	}
}
