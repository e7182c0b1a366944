package agent

import (
	"fmt"
	"strconv"
	"strings"

	"footnote/chat"
)

// replayed is what a run's log says about how far it got.
type replayed struct {
	turns     [][]*chat.Step        // calls of each model turn, in order, as they last were
	thoughts  []string              // of each turn
	running   []chat.Step           // steps that began and did not end
	waiting   []*chat.Step          // calls that wait for a person
	waited    map[string]bool       // by call id: it waits or waited
	text      string                // of the answer, since the last reset
	answered  bool                  // the whole answer is there, only run_done is missing
	fell      bool                  // the fallback had taken over
	restarts  int                   // how often it was carried on before
	handed    bool                  // the last server left it in order
	ids       int                   // the highest call id
	tokens    chat.Tokens           // used so far
	questions map[string]*chat.Step // steps by call id
	groups    map[string]int        // turn of a parent step
	order     []string              // call ids as they first came
	plan      *chat.Step            // its last state
}

// replay reads a log.
func replay(log []chat.Event) (*replayed, error) {
	r := &replayed{questions: map[string]*chat.Step{}, groups: map[string]int{}, waited: map[string]bool{}}
	for _, e := range log {
		p, err := e.Payload()
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		r.handed = false
		switch p := p.(type) {
		case chat.AnswerDelta:
			r.text += p.Text
		case chat.AnswerReset:
			r.text = ""
		case chat.Answer:
			r.answered = true
		case chat.Step:
			r.step(p)
		}
	}
	for _, id := range r.order {
		switch s := r.questions[id]; s.Status {
		case chat.StatusRunning:
			r.running = append(r.running, *s)
		case chat.StatusPending:
			r.waiting = append(r.waiting, s)
		}
	}
	return r, nil
}

func (r *replayed) step(s chat.Step) {
	if s.Status == chat.StatusPending {
		r.waited[s.CallID] = true
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(s.CallID, "c")); err == nil {
		r.ids = max(r.ids, n)
	}
	known := r.questions[s.CallID]
	if known == nil {
		known = &s
		r.questions[s.CallID] = known
		r.order = append(r.order, s.CallID)
		r.enter(known)
	} else {
		*known = s
	}
	if s.Step == "plan" && s.ToolName == "" {
		r.plan = known
	}
	if s.Tokens != nil && s.Status != chat.StatusRunning {
		r.tokens.In += s.Tokens.In
		r.tokens.Out += s.Tokens.Out
	}
}

// enter puts a step that is seen for the first time where it belongs.
func (r *replayed) enter(s *chat.Step) {
	turn, grouped := r.groups[s.ParentID]
	switch {
	case s.Step == "fallback":
		r.fell = true
	case s.Step == "restart":
		r.restarts++
	case s.Step == handedOver:
		r.handed = true
	case s.ToolName == "" && s.Step == parallelStep:
		r.groups[s.CallID] = len(r.turns)
		r.turns, r.thoughts = append(r.turns, nil), append(r.thoughts, s.Thought)
	case s.ToolName == "", s.ToolName == "finish": // what it said begins anew
	case grouped && s.ParentID != "":
		r.turns[turn] = append(r.turns[turn], s)
	default:
		r.turns, r.thoughts = append(r.turns, []*chat.Step{s}), append(r.thoughts, s.Thought)
	}
}
