package textcalls

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// odd is a model whose answers to probes are scripted: it can call tools, cannot, or its server fails. It counts what
// it is asked.
type odd struct {
	can            bool
	err            error
	probes, native int
	described      int
}

func (o *odd) reply(r scripted.Request) scripted.Reply {
	switch {
	case strings.Contains(r.Question(), "Call the tool"):
		o.probes++
		if o.err != nil {
			return scripted.Reply{Err: o.err}
		}
		if o.can {
			return scripted.Reply{Calls: []llm.Call{{Name: "search_documents"}}}
		}
	case len(r.Tools) > 0:
		o.native++
	default:
		o.described++
	}
	return scripted.Reply{Text: "Hello."}
}

func TestAVerdictAgainstAModelIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{}
		m := New(scripted.NewScript(o.reply), Auto)
		look := func(after time.Duration, probes int, way Way) {
			t.Helper()
			time.Sleep(after)
			hear(t, m, ask)
			if o.probes != probes || m.Way() != way {
				t.Errorf("%d probes and the way %s, want %d and %s", o.probes, m.Way(), probes, way)
			}
		}
		look(0, 1, JSON)
		look(firstBelief-time.Second, 1, JSON)
		look(time.Second, 2, JSON) // again it calls nothing: believed twice as long
		look(2*firstBelief-time.Second, 2, JSON)
		o.err = &llm.Error{Kind: llm.KindServer, Status: 503, Message: "busy"}
		look(time.Second, 3, JSON) // tells nothing
		o.err, o.can = nil, true
		look(2*firstBelief, 4, Native)
		look(24*time.Hour, 4, Native) // no further calls for a good model
	})
}

func TestAProbeThatFailsTellsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{err: &llm.Error{Kind: llm.KindServer, Status: 503, Message: "busy"}}
		m := New(scripted.NewScript(o.reply), Auto)
		hear(t, m, ask)
		o.err = nil
		if hear(t, m, ask); o.probes != 2 || m.Way() != JSON {
			t.Errorf("%d probes and the way %s, want a second one that finds json", o.probes, m.Way())
		}
	})
}

func TestARunThatBeganByJSONGoesOnSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &odd{}
		m := New(scripted.NewScript(o.reply), Auto)
		hear(t, m, ask)
		o.can = true
		time.Sleep(firstBelief)
		later := ask
		later.Messages = append(later.Messages[:2:2],
			llm.Message{
				Role: llm.RoleAssistant, Calls: []llm.Call{
					{ID: agreed + "1", Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)},
				},
			},
			llm.Message{Role: llm.RoleTool, CallID: agreed + "1", Text: "passage 1"})
		if hear(t, m, later); o.probes != 1 || o.described != 1 {
			t.Errorf("in the middle of a run: %d probes, %d requests by JSON, want 1 and 1", o.probes, o.described)
		}
		if hear(t, m, ask); o.probes != 2 || m.Way() != Native {
			t.Errorf("at the next run: %d probes and the way %s, want 2 and native", o.probes, m.Way())
		}
		if hear(t, m, later); o.described != 2 {
			t.Errorf("the earlier run after that: %d requests by JSON, want 2", o.described)
		}
	})
}

// One odd refusal does not change the way of a model that has called tools; its run goes on by JSON.
func TestOneRefusalIsNotBelievedOfAGoodModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := 0
		m := New(scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if len(r.Tools) > 0 && refusals > 0 {
				refusals--
				return scripted.Reply{
					Err: &llm.Error{
						Kind: llm.KindInvalid, Status: 400, Message: "refused",
						Err: errText("this model does not support tools"),
					},
				}
			}
			if len(r.Tools) == 0 {
				return scripted.Reply{Text: `{"tool":"search_documents","input":{"query":"roof"}}`}
			}
			return scripted.Reply{
				Calls: []llm.Call{{Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)}},
			}
		}), Auto)
		hear(t, m, ask)
		refusals = 1
		if got := hear(t, m, ask); len(got.Calls) != 1 || m.Way() != Native {
			t.Errorf("after one refusal: %+v, the way %s, want a call and native", got, m.Way())
		}
		if hear(t, m, ask); !m.verdict.isProven() {
			t.Error("it called a tool again and is not proven")
		}
		refusals = 2
		hear(t, m, ask)
		if hear(t, m, ask); m.Way() != JSON {
			t.Errorf("after two refusals in a row the way is %s, want json", m.Way())
		}
	})
}
