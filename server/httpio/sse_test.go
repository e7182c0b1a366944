package httpio

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/server/httpio/ssetest"
)

func FuzzNothingInDataEndsAnEventOrStartsAField(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "\n", "\r", "\r\n", "a\n\nb", "a\r\rb", "id: 99\nevent: run_done", "\n\nid: 7\ndata: x\n\n",
		"retry: 1\r\n", ": comment\n",
		"\u2028\u2029", "\x00", "\ufeffdata", "end\n", "data: \r\n\r\n",
	} {
		f.Add(seed)
	}
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	f.Fuzz(func(t *testing.T, data string) {
		if !utf8.ValidString(data) {
			return
		}
		wire := AppendFrame(nil, 41, "before", []byte("x"))
		wire = AppendFrame(wire, 42, "kind", []byte(data))
		wire = AppendFrame(wire, 43, "after", []byte("y"))
		reader := ssetest.NewReader(strings.NewReader(string(wire)))
		events := reader.All(t)
		want := []ssetest.Event{
			{ID: "41", Name: "before", Data: "x"}, {ID: "42", Name: "kind", Data: lines.Replace(data)},
			{ID: "43", Name: "after", Data: "y"},
		}
		if len(events) != 3 || events[0] != want[0] || events[1] != want[1] || events[2] != want[2] {
			t.Errorf("%q came through as %q; want 3 events, %v, %v, %v", data, events, want[0], want[1], want[2])
		}
		if reader.Comments > 0 || reader.Retry != "" {
			t.Errorf("%q made a comment or a retry hint", data)
		}
	})
}

func TestAnUnnumberedEventLeavesThePositionAlone(t *testing.T) {
	wire := AppendFrame(nil, 5, "a", []byte("1"))
	wire = AppendFrame(wire, 0, "reset", []byte("2"))
	events := ssetest.NewReader(strings.NewReader(string(wire))).All(t)
	if len(events) != 2 || events[1].ID != strconv.Itoa(5) {
		t.Errorf("events = %q, want 2 events", events)
	}
}
