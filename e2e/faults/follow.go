//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/sse"
)

// These are timeouts of the test; the servers do not depend on them.
const (
	runLimit   = 4 * time.Minute       // enough for a run that was taken over twice and interrupted each time
	soonest    = 50 * time.Millisecond // backoff before a reader reconnects; a browser waits longer
	latest     = time.Second
	missedTime = 35 * time.Second // until another replica takes over the runs of a dead one
	givenUp    = 3                // interruptions before a run ends as interrupted
	quietTime  = 40 * time.Second // idle timeout, after which a reader reconnects; servers send a comment every 15 s
)

// event is one event of a stream.
//
// id is its number in the run's log, from 1 on; name is its type, and data is JSON. Two events are equal if all
// three are.
type event struct {
	id         int64
	name, data string
}

// The meanings of a stream's status: 204 is the end of the log, 404 an unknown run.
var (
	errOver = errors.New("the run is over and read")
	errGone = errors.New("there is no such run")
)

// followRun streams a run's events like a browser, reconnecting after the last one, and compares the received
// events with the stored ones.
//
// It ends at run_done, or after runLimit plus the fault's own duration, which counts as endless. A broken stream is
// reopened with a backoff of 50 ms up to 1 s. It then reads the whole log once more and compares.
func (c *cell) followRun(ctx context.Context, g *rig, a *asked) {
	ctx, cancel := context.WithTimeout(ctx, runLimit+c.lasting)
	defer cancel()
	from := a.at // the replica that accepted it, then the one that nginx selects
	wait := soonest
	for !a.isDone() {
		before := a.lastEvent()
		err := readStream(ctx, from+a.events, a.lastEvent(), func(e event) bool { return c.takeEvent(a, e) })
		from = g.proxy
		// The server reports the end of the log, although run_done was not received.
		if errors.Is(err, errOver) && !a.isDone() || errors.Is(err, errGone) {
			c.addCounts(func(n *counts) { n.lost++ })
			c.noteProblem("%s (%s): after event %d: %v", a.run, a.key, a.lastEvent(), err)
			break
		}
		if ctx.Err() != nil {
			c.addCounts(func(n *counts) { n.endless++ })
			c.noteProblem("%s (%s): no end after event %d", a.run, a.key, a.lastEvent())
			a.status = "endless"
			return
		}
		if a.lastEvent() != before {
			wait = soonest
		}
		if !a.isDone() {
			time.Sleep(wait)
			wait = min(2*wait, latest)
		}
	}
	log, err := g.storedLog(ctx, a)
	if err != nil {
		c.addCounts(func(n *counts) { n.endless++ })
		c.noteProblem("%s (%s): its log can't be read: %v", a.run, a.key, err)
		return
	}
	c.judgeRun(ctx, g, a, log)
}

// lastEvent returns the number of the last received event, and 0 before the first. A browser sends it as
// Last-Event-ID.
func (a *asked) lastEvent() int64 {
	if len(a.seen) == 0 {
		return 0
	}
	return a.seen[len(a.seen)-1].id
}

// isDone reports whether run_done was received.
func (a *asked) isDone() bool {
	return len(a.seen) > 0 && a.seen[len(a.seen)-1].name == string(chat.KindRunDone)
}

// takeEvent checks an event's number against the received ones, and reports whether to continue.
//
// The next event must have the next number. A gap counts each missing event as lost. A repeated number is doubled
// if the event is equal, disordered if it is not. A server may send start_over only in a cell in which the database
// may lose events (forgets): then the received events are discarded, and the log is read from its start.
func (c *cell) takeEvent(a *asked, e event) bool {
	last := a.lastEvent()
	switch {
	case e.name == string(chat.KindStartOver) && c.forgets:
		c.mu.Lock()
		c.takes++
		c.mu.Unlock()
		a.seen = nil
		return false
	case e.name == string(chat.KindStartOver):
		c.addCounts(func(n *counts) { n.lost++ })
		c.noteProblem("%s (%s): the server says that its log ends before %d", a.run, a.key, last)
		a.seen = nil
		return false
	case e.id > last+1:
		c.addCounts(func(n *counts) { n.lost += int(e.id - last - 1) })
		c.noteProblem("%s (%s): %d follows %d", a.run, a.key, e.id, last)
	case e.id <= last:
		again := false
		for _, s := range a.seen {
			again = again || s == e
		}
		c.addCounts(func(n *counts) {
			if again {
				n.doubled++
			} else {
				n.disordered++
			}
		})
		c.noteProblem("%s (%s): %d %s comes after %d", a.run, a.key, e.id, e.name, last)
		return true
	}
	a.seen = append(a.seen, e)
	if a.onEvent != nil {
		a.onEvent(len(a.seen))
	}
	return e.name != string(chat.KindRunDone)
}

// readStream reads a stream after a number until take returns false, the stream ends, or it is idle for too long.
// It returns nil if take returns false or
// the stream ends, and errOver or errGone by the status.
func readStream(ctx context.Context, url string, after int64, take func(event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(quietTime, cancel)
	defer quiet.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if after > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return errOver
	case http.StatusNotFound:
		return errGone
	default:
		return fmt.Errorf("the stream is refused with %s", resp.Status)
	}
	for events := sse.NewReader(resp.Body, 8<<20); ; {
		got, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		quiet.Reset(quietTime)
		e := event{name: got.Name, data: string(got.Data)}
		if got.ID != "" {
			if e.id, err = strconv.ParseInt(got.ID, 10, 64); err != nil {
				return err
			}
		}
		if e.name != "" && !take(e) {
			return nil
		}
	}
}

// storedLog reads the whole log of a run. It retries until run_done is in it, since a replica may just be dead. A
// missing log is returned as empty without an error: the received events are then counted as lost.
func (g *rig) storedLog(ctx context.Context, a *asked) (log []event, err error) {
	for ctx.Err() == nil {
		log = nil
		err = readStream(ctx, g.proxy+a.events+"?after=0", 0, func(e event) bool { log = append(log, e); return true })
		if len(log) > 0 && log[len(log)-1].name == string(chat.KindRunDone) || errors.Is(err, errGone) {
			return log, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.Join(ctx.Err(), err)
}

// takenOver checks a run's takeover after its replica died.
//
// Only runs of a replica in c.died count. The time is from the kill, by this process's clock, to the step's
// timestamp, by the replica's clock on the same machine.
func (c *cell) takenOver(a *asked, at chat.Step, times int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	died, ok := c.died[a.at]
	if !ok {
		return
	}
	took := time.UnixMicro(int64(at.Timestamp * 1e6)).Sub(died)
	c.taken++
	c.latest = max(c.latest, took)
	if times > 1 || took > missedTime {
		c.problems = append(c.problems, fmt.Sprintf(
			"%s (%s): taken over for the %d. time, %v after its replica died", a.run, a.key, times, took,
		))
	}
}

// judgeRun compares the received events with the stored ones, and detects duplicates.
//
// The log must have the numbers 1, 2, 3 and so on, and must contain each received event unchanged. At most one
// effect of the tool, one answer and one end are allowed. The answer's deltas must equal the whole answer. No step
// may still be running at the end of the run. The session must have exactly one question: a second one was accepted
// twice.
func (c *cell) judgeRun(ctx context.Context, g *rig, a *asked, log []event) {
	var text strings.Builder
	var answer *chat.Answer
	open := map[string]chat.Status{}
	answers, ends, cuts := 0, 0, 0
	for i, e := range log {
		if e.id != int64(i+1) {
			c.addCounts(func(n *counts) { n.disordered++ })
			c.noteProblem("%s (%s): entry %d of its log has the number %d", a.run, a.key, i+1, e.id)
		}
		// A difference means that a reader received an event that is no longer valid.
		if i < len(a.seen) && a.seen[i] != e {
			c.addCounts(func(n *counts) { n.lost++ })
			c.noteProblem("%s (%s): event %d was %.120s and is %.120s", a.run, a.key, i+1, a.seen[i].data, e.data)
		}
		p, err := chat.Event{Type: chat.Kind(e.name), Body: json.RawMessage(e.data)}.Payload()
		if err != nil {
			c.noteProblem("%s: %v", a.run, err)
			continue
		}
		switch p := p.(type) {
		case chat.Step:
			open[p.CallID] = p.Status
			if p.Step == "restart" {
				cuts++
				c.takenOver(a, p, cuts)
			}
			if c.unbroken && (p.Step == "restart" || p.Step == "handover") {
				c.noteProblem("%s (%s): another server took it over", a.run, a.key)
			}
		case chat.AnswerDelta:
			text.WriteString(p.Text)
		case chat.AnswerReset:
			text.Reset()
		case chat.Answer:
			answer = &p
			answers++
		case chat.RunDone:
			a.status = string(p.Status)
			ends++
		}
	}
	// A run may only be abandoned after givenUp interruptions.
	if a.status == string(chat.RunInterrupted) && cuts < givenUp-1 {
		c.noteProblem("%s (%s): it is given up although it was cut off %d times only", a.run, a.key, cuts+1)
	}
	if missing := len(a.seen) - len(log); missing > 0 {
		c.addCounts(func(n *counts) { n.lost += missing })
		c.noteProblem("%s (%s): %d events were seen, %d are stored", a.run, a.key, len(a.seen), len(log))
	}
	if effects := g.outside.countEffects(a.key); effects > 1 || answers > 1 || ends > 1 {
		c.addCounts(func(n *counts) { n.twice++ })
		c.noteProblem("%s (%s): %d effects, %d answers, %d ends", a.run, a.key, effects, answers, ends)
	}
	if a.status == string(chat.RunCompleted) && (answer == nil || answer.Markdown != text.String()) {
		c.addCounts(func(n *counts) { n.lost++ })
		c.noteProblem("%s (%s): the pieces of its answer are not the answer", a.run, a.key)
	}
	for id, status := range open {
		if status == chat.StatusRunning {
			c.addCounts(func(n *counts) { n.endless++ })
			c.noteProblem("%s (%s): its step %s runs for ever", a.run, a.key, id)
		}
	}
	// Retry until a replica returns the session.
	for ctx.Err() == nil {
		status, body, err := sendRequest(ctx, http.MethodGet, g.proxy+"/agent/session/"+a.session, "", nil, "")
		var session struct {
			Turns int `json:"turn_count"`
		}
		if err == nil && status == http.StatusOK && json.Unmarshal(body, &session) == nil {
			if session.Turns != 1 {
				c.addCounts(func(n *counts) { n.twice++ })
				c.noteProblem("%s (%s): its conversation has %d questions", a.run, a.key, session.Turns)
			}
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[a.status]++
}
