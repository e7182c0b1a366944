package page

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/views"
)

const drawnRunID = "01999999-0000-7000-8000-000000000001"

func roofSearch(call, parent string, status chat.Status, output string) chat.Step {
	s := chat.Step{
		CallID: call, ParentID: parent, Step: "search_documents", ToolName: "search_documents",
		ActionType: chat.ActionSearching,
		Message:    "Searching for: roof", Status: status, ToolStatus: status,
		ToolInput: json.RawMessage(`{"query":"roof","max_results":5}`),
	}
	if output != "" {
		s.ToolOutput = json.RawMessage(output)
	}
	return s
}

const searchOutput = `{"documents":[{"doc_id":"d1","filename":"survey.pdf","title":"Survey","score":0.9,` +
	`"snippet":"The roof is sound.",
	"passages":[{"n":1,"page":4,"section":"Roof","text":"The roof is sound.","chunk_id":"c1"},{"n":2,"page":5,` +
	`"text":"So is the wall.","chunk_id":"c2"}]}],"total_found":1,"notes":[]}`

// wholeLog returns a log with every kind of event.
func wholeLog() []chat.Payload {
	cite := chat.Citation{
		Number: 1, DocumentID: "d1", ChunkID: "c1", Title: "Survey", Page: 4, Quote: "The roof is sound.",
		URL: "/d/d1?c=" + drawnRunID + ".1", Check: chat.CheckVerified,
	}
	return []chat.Payload{
		chat.RunStarted{SessionID: "s1", Question: "How is the roof?", Budget: chat.Budget{Steps: 10, Seconds: 60}},
		chat.AnswerDelta{Text: "Let me look."},
		chat.AnswerReset{CallID: "a"},
		roofSearch("a", "p", chat.StatusRunning, ""),
		roofSearch("b", "p", chat.StatusRunning, ""),
		roofSearch("a", "p", chat.StatusComplete, searchOutput),
		roofSearch("b", "p", chat.StatusError, `{"error":"nothing there"}`),
		roofSearch("r1", "", chat.StatusRunning, ""),
		roofSearch("r1", "", chat.StatusComplete, searchOutput),
		roofSearch("r2", "", chat.StatusComplete, searchOutput),
		roofSearch("r3", "", chat.StatusRunning, ""),
		roofSearch("r3", "", chat.StatusError, `{"error":"nothing there"}`),
		roofSearch("c", "", chat.StatusRunning, ""),
		cite,
		chat.AnswerDelta{Text: "The roof is "},
		chat.AnswerDelta{Text: "sound [1].\n\n"},
		chat.AnswerDelta{Text: "## More\n\nNothing else is known."},
		chat.Answer{
			Markdown: "The roof is sound [1].\n\n## More\n\nNothing else is known.", Citations: []chat.Citation{cite},
			StopReason:  chat.StopAnswered,
			Sources:     []chat.Source{{Number: 1, DocumentID: "d1", Title: "Survey", URL: cite.URL, Cited: true}},
			Unsupported: []string{"Nothing else is known."}, Coverage: chat.Coverage{Searched: 3, Opened: 1},
			FollowUps: []string{"And the wall?"},
		},
		chat.RunDone{Status: chat.RunCompleted},
	}
}

func entriesOf(t testing.TB, payloads []chat.Payload) []*chat.Entry {
	t.Helper()
	var entries []*chat.Entry
	for i, p := range payloads {
		ev, err := chat.NewEvent(drawnRunID, p)
		if err != nil {
			t.Fatal(err)
		}
		ev.Seq, ev.At = int64(i+1), time.Unix(1_800_000_000, 0).Add(time.Duration(i)*time.Second).UTC()
		entries = append(entries, &chat.Entry{Event: ev, JSON: ev.AppendJSON(nil)})
	}
	return entries
}

// live simulates a browser: it applies fragments as static/app/stream.js does, by id, else under data-in.
type live struct {
	t    testing.TB
	root *html.Node
}

func newLive(t testing.TB) *live {
	page := &live{t: t, root: &html.Node{Type: html.ElementNode, Data: "body"}}
	page.apply(drawString(t, views.OverFragment(newFold(drawnRunID, nil).turn).Render), true)
	return page
}

func (l *live) apply(fragment string, first bool) {
	l.t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader("<template>"+fragment+"</template>"),
		&html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		l.t.Fatal(err)
	}
	for node := nodes[0].FirstChild; node != nil; {
		next := node.NextSibling
		nodes[0].RemoveChild(node)
		if node.Type == html.ElementNode {
			l.put(node, first)
		}
		node = next
	}
}

func (l *live) put(node *html.Node, first bool) {
	if drop := attr(node, "data-drop"); drop != "" {
		if old := byID(l.root, drop); old != nil {
			old.Parent.RemoveChild(old)
		}
		return
	}
	id := attr(node, "id")
	if id == "composer-use" {
		return // in the question box, outside the turn
	}
	if old := byID(l.root, id); old != nil && id != "" {
		old.Parent.InsertBefore(node, old)
		old.Parent.RemoveChild(old)
		return
	}
	if first {
		l.root.AppendChild(node)
		return
	}
	into := byID(l.root, attr(node, "data-in"))
	if into == nil {
		l.t.Fatalf("element %q of a fragment has no place: neither its id nor its data-in %q is on the page", id,
			attr(node, "data-in"))
	}
	into.AppendChild(node)
}

func (l *live) html() string {
	var b bytes.Buffer
	for c := l.root.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil {
			l.t.Fatal(err)
		}
	}
	return b.String()
}

var runningTime = regexp.MustCompile(`<time (class="step-time" )?data-live.*?</time>`)

// tooLargeLog returns an answer that exceeds the rendering limit.
func tooLargeLog() []chat.Payload {
	table := "|" + strings.Repeat("a|", 600) + "\n|" + strings.Repeat("-|", 600) + "\n" + strings.Repeat("|\n", 600)
	return []chat.Payload{
		chat.RunStarted{SessionID: "s1", Question: "How is the roof?"},
		chat.AnswerDelta{Text: "The roof is sound.\n\nSo is the wall.\n\n"},
		chat.AnswerDelta{Text: table}, chat.AnswerDelta{Text: strings.Repeat("|\n", 300)},
		chat.Answer{Markdown: "The roof is sound.\n\nSo is the wall.\n\n" + table + strings.Repeat("|\n", 300)},
		chat.RunDone{Status: chat.RunCompleted},
	}
}

// stoppedLog returns an answer that was cancelled within a long list and an unclosed mark.
func stoppedLog() []chat.Payload {
	return []chat.Payload{
		chat.RunStarted{SessionID: "s1", Question: "How is the roof?"},
		chat.AnswerDelta{Text: strings.Repeat("- The roof is sound.\n", 600)}, chat.AnswerDelta{Text: "- **So is"},
		chat.RunDone{Status: chat.RunCancelled},
	}
}

func TestStreamedPageEqualsLoadedPage(t *testing.T) {
	for name, log := range map[string][]chat.Payload{"a whole log": wholeLog(), "a stopped answer": stoppedLog()} {
		entries := entriesOf(t, log)
		for stop := 1; stop <= len(entries); stop++ {
			if name == "a stopped answer" && stop == 3 {
				continue // the end of a long block is rendered when it has grown enough
			}
			sameLive(t, name, entries[:stop])
		}
	}
	sameLive(t, "an answer that is too large", entriesOf(t, tooLargeLog()[:3]))
	sameLive(t, "an answer that is too large, at its end", entriesOf(t, tooLargeLog()))
}

// sameLive compares a page that followed the entries live with one loaded after them.
func sameLive(t *testing.T, name string, entries []*chat.Entry) {
	t.Helper()
	page, f := newLive(t), newFold(drawnRunID, views.NewMarkdown())
	for _, entry := range entries {
		page.apply(drawEntry(t, f, entry), false)
	}
	turn, err := foldRun(drawnRunID, views.NewMarkdown(), entries)
	if err != nil {
		t.Fatal(err)
	}
	loaded := newLive(t)
	loaded.apply(drawString(t, views.TurnBody(turn).Render), false)
	// The timeline's open state belongs to the reader, and the running seconds to the script: streaming must not
	// change them.
	same := func(s string) string { return runningTime.ReplaceAllString(strings.Replace(s, ` open=""`, "", 1), "") }
	if diff := cmp.Diff(same(loaded.html()), same(page.html())); diff != "" {
		t.Fatalf("%s, after event %d (%s): the live page differs from the loaded one (-loaded +live):\n%.3000s", name,
			len(entries), entries[len(entries)-1].Type, diff)
	}
}

func TestOversizedTableRendersCheaply(t *testing.T) {
	table := "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("|\n", 2000)
	entries := entriesOf(t, []chat.Payload{
		chat.RunStarted{Question: "A table?"}, chat.AnswerDelta{Text: table}, chat.Answer{Markdown: table},
		chat.RunDone{Status: chat.RunCompleted},
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sameLive(t, "a table of 2,000 columns and rows", entries)
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20); took > most {
		t.Errorf("drawing it took %d bytes of memory, want at most %d", took, most)
	}
}

func TestReplayIsIdempotent(t *testing.T) {
	entries := entriesOf(t, wholeLog())
	page, f := newLive(t), newFold(drawnRunID, views.NewMarkdown())
	var frames []string
	for _, entry := range entries {
		frames = append(frames, drawEntry(t, f, entry))
		page.apply(frames[len(frames)-1], false)
	}
	before := page.html()
	page.apply(frames[len(frames)-1], false)
	if diff := cmp.Diff(before, page.html()); diff != "" {
		t.Errorf("replay of the last event changed the page (-before +after):\n%s", diff)
	}
	for _, frame := range frames {
		page.apply(frame, false)
	}
	if diff := cmp.Diff(before, page.html()); diff != "" {
		t.Errorf("replay of all events changed the page (-before +after):\n%s", diff)
	}
}

func TestFragmentDependsOnlyOnLog(t *testing.T) {
	entries := entriesOf(t, wholeLog())
	draw := func() []string {
		f := newFold(drawnRunID, views.NewMarkdown())
		var frames []string
		for _, entry := range entries {
			frames = append(frames, drawEntry(t, f, entry))
		}
		return frames
	}
	if diff := cmp.Diff(draw(), draw()); diff != "" {
		t.Errorf("the same log was drawn differently (-first +second):\n%s", diff)
	}
}

func TestEveryEventKindHasFragment(t *testing.T) {
	seen := map[chat.Kind]bool{chat.KindStartOver: true} // not part of a log: see startOver
	f := newFold(drawnRunID, views.NewMarkdown())
	for _, entry := range entriesOf(t, wholeLog()) {
		if drawEntry(t, f, entry) != "" {
			seen[entry.Type] = true
		}
	}
	for _, kind := range chat.Kinds {
		if !seen[kind] {
			t.Errorf("event of kind %s renders nothing", kind)
		}
	}
}

func TestFoldRecordsRunEnd(t *testing.T) {
	turn, err := foldRun(drawnRunID, views.NewMarkdown(), entriesOf(t, wholeLog()))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Call     string
		Status   chat.Status
		Thought  string
		Children int
	}
	var got []row
	for _, s := range turn.All {
		got = append(got, row{s.CallID, s.Status, s.Thought, len(s.Children)})
	}
	want := []row{
		{"a", chat.StatusComplete, "Let me look.", 0}, {"p", chat.StatusComplete, "", 2},
		{"b", chat.StatusError, "", 0}, {"r1", chat.StatusComplete, "", 0}, {"r2", chat.StatusComplete, "", 0},
		{"r3", chat.StatusError, "", 0},
		// c was running when the run ended
		{"repeat:r1", chat.StatusComplete, "", 4}, {"c", chat.StatusCancelled, "", 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps differ (-want +got):\n%s", diff)
	}
	if turn.Status != chat.RunCompleted || turn.Question != "How is the roof?" || turn.Worked != 14*time.Second {
		t.Errorf("status %q, question %q, worked %s; want %q, %q, %s",
			turn.Status, turn.Question, turn.Worked, chat.RunCompleted, "How is the roof?", 14*time.Second)
	}
}

func TestDeltaRendersOnlyOpenBlock(t *testing.T) {
	f := newFold(drawnRunID, views.NewMarkdown())
	var sizes []int
	for _, entry := range entriesOf(t, []chat.Payload{
		chat.AnswerDelta{Text: strings.Repeat("A long first paragraph. ", 40) + "\n\n"},
		chat.AnswerDelta{Text: "A second one.\n\n"}, chat.AnswerDelta{Text: "Third."},
		chat.AnswerDelta{Text: " Still third."},
	}) {
		sizes = append(sizes, len(drawEntry(t, f, entry)))
	}
	if sizes[1] < 900 || sizes[2] > 600 || sizes[3] > 400 {
		t.Errorf("bytes drawn for each delta = %v: a block that is over must be drawn once more at most; want at "+
			"least 900, at most 600, at most 400",
			sizes)
	}
	if got := len(f.turn.Blocks); got != 3 {
		t.Errorf("%d blocks, want 3", got)
	}
}

func drawEntry(t testing.TB, f *fold, entry *chat.Entry) string {
	t.Helper()
	changed, err := f.applyEvent(entry.Event)
	if err != nil {
		t.Fatal(err)
	}
	return drawString(t, drawPart(f.turn, entry.Type, changed).Render)
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func byID(n *html.Node, id string) *html.Node {
	for d := range n.Descendants() {
		if id != "" && attr(d, "id") == id {
			return d
		}
	}
	return nil
}

// idsOf returns all ids in a document, in order.
func idsOf(n *html.Node) []string {
	var ids []string
	for d := range n.Descendants() {
		if id := attr(d, "id"); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestElementIDsAreUnique(t *testing.T) {
	page, f := newLive(t), newFold(drawnRunID, views.NewMarkdown())
	for _, entry := range entriesOf(t, wholeLog()) {
		page.apply(drawEntry(t, f, entry), false)
		ids := idsOf(page.root)
		slices.Sort(ids)
		if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
			t.Fatalf("after event %d (%s): duplicate ids %q", entry.Seq, entry.Type, ids)
		}
	}
}

func drawString(t testing.TB, render func(context.Context, io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzipRequiresAcceptEncoding(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "br": false, "gzip": true, "br, GZIP": true, "br;q=1.0, gzip;q=0.8": true,
		"gzip;q=0": false, "gzip; q=0.000, br": false, "gzip;q=0.001": true, "x-gzip": false,
	} {
		if got := acceptsGzip(header); got != want {
			t.Errorf("acceptsGzip(%q) = %v, want %v", header, got, want)
		}
	}
}
