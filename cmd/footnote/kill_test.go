package main_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// faultSeeds is how often each fail point is tried: once, or FOOTNOTE_FAULTS times. "make faults" kills replicas, and
// one process, in e2e/faults.
func faultSeeds(t *testing.T) int {
	t.Helper()
	return numberFrom(t, "FOOTNOTE_FAULTS", 1, 1)
}

// books are what the killed runs search and read.
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

// carefulModel works in four turns: two searches at once, two readings at once, a sum, and a long answer with
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

// failPoint says when the process is killed.
type failPoint struct {
	name string
	arm  func(k *killed, rng *rand.Rand)
}

// killed is one process that will be killed, and what was seen of its run before.
type killed struct {
	s     *server
	model *modelServer
	seen  []event
	after int // kill when so many events were seen; -1: never
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

// A process that is killed at any point of a run leaves a log that the next one ends or goes on with.
func TestAKilledRunGoesOnOrEnds(t *testing.T) {
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

// killAndGoOn kills one run and reports whether the next process went on with it.
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
			t.Fatalf("event %d was\n%v\nand is now\n%v", i+1, ev, log.raw[i])
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

// watch reads the run's events until it is time to kill, or until the process is gone.
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

// checkEnd wants a whole answer, or an end that says that the run was interrupted.
func checkEnd(t *testing.T, log transcript) {
	t.Helper()
	if log.done.Status == chat.RunInterrupted {
		if log.done.Error == nil || log.done.Error.Message == "" {
			t.Errorf("it ended as interrupted and does not say why")
		}
		return
	}
	if log.done.Status != chat.RunCompleted || log.answer == nil {
		t.Fatalf("it ended as %+v, with the answer %+v, want Status %v", log.done, log.answer, chat.RunCompleted)
	}
	if log.text != log.answer.Markdown {
		t.Errorf("the pieces make\n%q\nthe answer is\n%q", log.text, log.answer.Markdown)
	}
	if len(log.answer.Citations) == 0 ||
		!slices.EqualFunc(log.citations, log.answer.Citations, func(a, b chat.Citation) bool {
			return a.Number == b.Number && a.Quote == b.Quote
		}) {
		t.Errorf("citations: %+v\nin the answer: %+v\nof\n%s", log.citations, log.answer.Citations, log.tale())
	}
	open := map[string]bool{}
	for _, step := range log.steps {
		open[step.CallID] = step.Status == chat.StatusRunning
	}
	for id, running := range open {
		if running {
			t.Errorf("the step %s is running for ever", id)
		}
	}
}

// tale is what the log of a run says, for a failure's report.
func (log transcript) tale() string {
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

// checkNothingTwice fails when a call whose result was in the log was made again.
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
