package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// textEvent is an event with its data as text.
type textEvent struct{ ID, Name, Data string }

// readAll returns the events up to the end, and the error that ended them.
func readAll(r *Reader) (events []textEvent, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, textEvent{e.ID, e.Name, string(e.Data)})
	}
}

// The first rows are the examples and rules of the HTML standard.
func TestReader(t *testing.T) {
	ab := []textEvent{{Data: "a"}, {Data: "b"}}
	for name, row := range map[string]struct {
		wire string
		want []textEvent
	}{
		"lines": {"data: YHOO\ndata: +2\ndata: 10\n\n", []textEvent{{Data: "YHOO\n+2\n10"}}},
		"an id and none": {": test\n\ndata: a\nid: 1\n\ndata:b\nid\n\ndata:  c\n\n",
			[]textEvent{{ID: "1", Data: "a"}, {Data: "b"}, {Data: " c"}}},
		"empty data": {"data\n\ndata\ndata\n\ndata:", []textEvent{{}, {Data: "\n"}}},
		"names": {"event: add\ndata: 7\n\nevent: none\n\ndata: 8\n\n",
			[]textEvent{{Name: "add", Data: "7"}, {Data: "8"}}},
		"unknown fields":  {"x: y\nretry: 5\nDATA: c\ndata : d\ndata: a\n\ndata: b\n\n", ab},
		"CRLF":            {"data: a\r\n\r\ndata: b\r\n\r\n", ab},
		"CR":              {"data: a\r\rdata: b\r\r", ab},
		"all three":       {"data: a\r\n\rdata: b\n\r\n", ab},
		"byte order mark": {"\ufeffdata: a\n\ndata: b\n\n", ab},
		"two of them":     {"\ufeff\ufeffdata: c\n\ndata: a\n\ndata: b\n\n", ab},
		"a cut event":     {"data: a\n\ndata: b\n\ndata: c\n", ab},
		"an end":          {"data: a\n\ndata: END\ndata: b\n", []textEvent{{Data: "a"}, {Data: "END"}}},
		"a cut end":       {"data: a\n\ndata: END", []textEvent{{Data: "a"}, {Data: "END"}}},
	} {
		for way, r := range map[string]io.Reader{
			"whole": strings.NewReader(row.wire), "by the byte": iotest.OneByteReader(strings.NewReader(row.wire)),
			"with its error": iotest.DataErrReader(strings.NewReader(row.wire)),
		} {
			events := NewReader(r, 100)
			events.Last = "END"
			got, err := readAll(events)
			if diff := cmp.Diff(row.want, got); diff != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v %s", name, way, err, diff)
			}
		}
	}
}

// A long event costs no more memory than the limit, and the next one is read.
func TestLongEventsAreSkipped(t *testing.T) {
	const limit = 10_000
	for name, long := range map[string]string{
		"one line":               "data: " + strings.Repeat("x", 50*limit) + "\n",
		"a line without a field": strings.Repeat("x", 9*limit) + "\n",
		"many lines":             strings.Repeat("data: 123456789\n", limit),
		"more after it":          strings.Repeat("x", 8192+limit) + "\nid: 5\n",
	} {
		r := NewReader(strings.NewReader("data: a\n\n"+long+"\ndata: b\n\n"), limit)
		got, err := readAll(r)
		more, end := readAll(r)
		if !errors.Is(err, ErrTooLong) || !errors.Is(end, io.EOF) ||
			cmp.Diff([]textEvent{{Data: "a"}, {Data: "b"}}, append(got, more...)) != "" {
			t.Errorf("%s: %v %v %v %v; want a, an error, b", name, got, err, more, end)
		}
		if cap(r.buf) > 4*limit {
			t.Errorf("%s: buffer of %d bytes, want at most four times the limit %d", name, cap(r.buf), limit)
		}
	}
}

func FuzzDataCannotEndEvent(f *testing.F) {
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
		wire := Append(nil, 41, "before", []byte("x"))
		wire = Append(wire, 42, "kind", []byte(data))
		wire = Append(wire, 0, "", []byte("y"))
		r := NewReader(strings.NewReader(string(wire)), 1<<20)
		got, _ := readAll(r)
		want := []textEvent{{"41", "before", "x"}, {"42", "kind", lines.Replace(data)}, {Data: "y"}}
		if diff := cmp.Diff(want, got); diff != "" || r.Skipped > 0 || r.Retry != "" {
			t.Errorf("%q: got %d comments, retry %q, %s", data, r.Skipped, r.Retry, diff)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	wire := strings.Repeat(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench",`+
		`"choices":[{"index":0,"delta":{"content":" roof"},"finish_reason":null}]}`+"\n\n", 200)
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(wire), 1<<20)
		events := 0
		for _, err := r.Next(); err == nil; _, err = r.Next() {
			events++
		}
		if events != 200 {
			b.Fatal(events)
		}
	}
}
