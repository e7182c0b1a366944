package agent

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// frameworks are all that can drive a run. Those in packages above this one add themselves.
var frameworks = map[string]run.Framework{"simple": nil}

// others are the frameworks but for simple.
func others(t *testing.T, each func(t *testing.T, drive run.Framework)) {
	t.Helper()
	if len(frameworks) < 2 {
		t.Fatalf("there is no other framework: got %v, want at least 2 frameworks", len(frameworks))
	}
	for name, drive := range frameworks {
		if drive != nil {
			t.Run(name, func(t *testing.T) { t.Parallel(); each(t, drive) })
		}
	}
}

func drivenBy(drive run.Framework) func(*Config) { return func(c *Config) { c.Framework = drive } }

var changing = regexp.MustCompile(
	`"(run_id|timestamp|duration_ms|latency_ms|document_id|doc_id|chunk_id|session_id|url|id)":("[^"]*"|[0-9.e+]+)`,
)

// shape is a run's log without what differs from run to run: times, ids, how deltas were cut, and how much was shown of
// what is taken back.
func shape(t *testing.T, got transcript) []string {
	t.Helper()
	var out []string
	delta := ""
	flush := func() {
		if delta != "" {
			out = append(out, "answer_delta "+delta)
		}
		delta = ""
	}
	for _, p := range got.log {
		if d, ok := p.(chat.AnswerDelta); ok {
			delta += d.Text
			continue
		}
		if _, ok := p.(chat.AnswerReset); ok && delta != "" {
			delta = "some of it"
		}
		flush()
		body, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(p.Kind())+" "+changing.ReplaceAllString(string(body), `"$1":0`))
	}
	flush()
	return out
}

// The same script is the same run whatever drives it: steps, errors told to the model, citations, answer and what the
// model was asked.
func TestEveryFrameworkDrivesTheSameRun(t *testing.T) {
	t.Parallel()
	cut := calls(search("holiday"))
	cut.Finish = llm.FinishLength
	one, two := 1, 2
	for name, row := range map[string]struct {
		req     chat.RunRequest
		replies []scripted.Reply
	}{
		"one search": {asks("How many days of holiday are there?"),
			[]scripted.Reply{calls(search("holiday")), says(goodAnswer)}},
		"text before a call": {asks("How many days of holiday are there?"),
			[]scripted.Reply{{Text: "Let me look.", Calls: []llm.Call{search("holiday")}}, says(goodAnswer)}},
		"calls in parallel": {asks("How many days of holiday, and how is the roof?"),
			[]scripted.Reply{
				calls(search("holiday"), search("roof"), call("grep_documents", `{"pattern":"slates"}`)),
				says(goodAnswer),
			}},
		"calls that can't run": {asks("How many days of holiday are there?"),
			[]scripted.Reply{
				calls(
					call("hammer", `{}`),
					llm.Call{Name: "search_documents", Malformed: "cut", Arguments: json.RawMessage(`{`)},
					call("search_documents", `{"max_results":"many"}`),
				), calls(search("holiday")), says(goodAnswer),
			}},
		"a cut turn": {asks("How many days of holiday are there?"),
			[]scripted.Reply{cut, calls(search("holiday")), says(goodAnswer)}},
		"an empty reply": {asks("How many days of holiday are there?"),
			[]scripted.Reply{calls(search("holiday")), says(""), says(goodAnswer)}},
		"no footnotes at first": {asks("How many days of holiday are there?"),
			[]scripted.Reply{calls(search("holiday")), says("There are 28 days of holiday."), says(goodAnswer)}},
		"nothing found": {asks("What is the capital of France?"),
			[]scripted.Reply{calls(search("zzyzx")), says("Paris is the capital of France.")}},
		"the same call again": {asks("How many days of holiday are there?"),
			[]scripted.Reply{
				calls(search("holiday")), calls(search("holiday")), calls(search("holiday")), says(goodAnswer),
			}},
		"a budget of turns": {chat.RunRequest{
			Message: "How many days of holiday?", Config: chat.RunConfig{MaxSteps: &two},
		}, []scripted.Reply{calls(search("holiday")), calls(search("leave")), says(goodAnswer)}},
		"a budget of retrievals": {chat.RunRequest{
			Message: "How many days of holiday?", Config: chat.RunConfig{MaxRetrievalCalls: &one},
		}, []scripted.Reply{calls(search("holiday")), calls(search("leave")), says(goodAnswer)}},
		"a model that fails": {asks("How many days of holiday are there?"),
			[]scripted.Reply{calls(search("holiday")), fails(llm.KindAuth)}},
		"a refusing provider": {asks("How?"), []scripted.Reply{{Text: "I can", Finish: llm.FinishFilter}}},
		"given text": {chat.RunRequest{Message: "What is the code?", ContextText: "The door code is 4711."},
			[]scripted.Reply{says("The code is 4711 [1].")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := func(t *testing.T, drive run.Framework) ([]string, int) {
				model := scripted.New(row.replies...)
				h := newHouse(t, model, drivenBy(drive))
				return shape(t, h.answer(row.req)), len(model.Requests())
			}
			want, asked := log(t, nil)
			others(t, func(t *testing.T, drive run.Framework) {
				got, again := log(t, drive)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-simple +other):\n%s", diff)
				}
				if asked != again {
					t.Errorf("the model was asked %d times, not %d, want %d", again, asked, again)
				}
			})
		})
	}
}

func TestARunOfEveryFrameworkCanBeCancelledAndHurried(t *testing.T) {
	t.Parallel()
	others(t, func(t *testing.T, drive run.Framework) {
		h := newHouse(t, hanging{}, drivenBy(drive))
		run := h.ask(asks("Wait"))
		h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
		if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
			t.Fatal(err)
		}
		if d := h.wait(run.ID).done(); d.Status != chat.RunCancelled {
			t.Errorf("it ended %+v, want Status %v", d, chat.RunCancelled)
		}
		h.hire(scripted.NewScript(func(r scripted.Request) scripted.Reply {
			switch {
			case r.NoTools:
				return says(goodAnswer)
			case r.N == 0:
				return calls(search("holiday"))
			}
			reply := says("never said")
			reply.Delay = 1 << 40
			return reply
		}), drivenBy(drive))
		run = h.ask(asks("How many days of holiday are there?"))
		h.follow(run.ID, func(p chat.Payload) bool {
			s, ok := p.(chat.Step)
			return ok && s.ToolName != "" && s.Status == chat.StatusComplete
		})
		if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
			t.Fatal(err)
		}
		if a := h.wait(run.ID).answer(); a.StopReason != chat.StopAnswerNow || a.Markdown != goodAnswer {
			t.Errorf("answer = %+v; want StopReason %v and Markdown %v", a, chat.StopAnswerNow, goodAnswer)
		}
	})
}

func TestAFrameworkThatBreaksTheOrderFailsItsRunOnly(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, drive := range map[string]run.Framework{
		"it does nothing": func(context.Context, run.Rounds) error { return nil },
		"it fails":        func(context.Context, run.Rounds) error { return broken },
		"it panics":       func(context.Context, run.Rounds) error { panic("broken") },
		"it calls before a turn": func(ctx context.Context, r run.Rounds) error {
			_, err := r.Call(ctx, 0)
			return err
		},
		"it makes no calls": func(ctx context.Context, r run.Rounds) error {
			_, _ = r.Turn(ctx)
			_, err := r.Turn(ctx)
			return err
		},
		"it hides a failure": func(ctx context.Context, r run.Rounds) error {
			_, _ = r.Turn(ctx)
			_, _ = r.Call(ctx, 7)
			return nil
		},
		"it leaves a turn behind": func(ctx context.Context, r run.Rounds) error {
			go func() { _, _ = r.Turn(ctx) }()
			return broken
		},
		"it ends before the last turn": func(ctx context.Context, r run.Rounds) error {
			_, err := r.Turn(ctx)
			return err
		},
		"it makes a call that is none": func(ctx context.Context, r run.Rounds) error {
			_, _ = r.Turn(ctx)
			_, err := r.Call(ctx, -1)
			return err
		},
		"it makes calls and then leaves": func(ctx context.Context, r run.Rounds) error {
			_, _ = r.Turn(ctx)
			_, err := r.Call(ctx, 0)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, scripted.New(calls(search("holiday")), says(goodAnswer)), drivenBy(drive))
			d := h.answer(asks("How many days of holiday are there?")).done()
			if d.Status != chat.RunFailed || d.Error.Code != chat.CodeInternal ||
				strings.Contains(d.Error.Message, "broken") {
				t.Errorf("it ended %+v %+v; want Status %v, Error.Code %v, no %q in it",
					d, d.Error, chat.RunFailed, chat.CodeInternal, "broken")
			}
			h.hire(scripted.New(calls(search("holiday")), says(goodAnswer)))
			h.answer(asks("How many days of holiday are there?")).answer()
		})
	}
}

// AddFramework has a framework of a package above this one tested here. FOOTNOTE_TEST_FRAMEWORK has all tests driven by
// it.
func AddFramework(name string, drive run.Framework) { frameworks[name] = drive }
