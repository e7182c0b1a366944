package httpio

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// benchBody is a typical request body of a program.
type benchBody struct {
	Message     string         `json:"message"`
	SessionID   string         `json:"session_id"`
	ContextText *string        `json:"context_text"`
	Config      chat.RunConfig `json:"config"`
	Style       string         `json:"citation_style"`
}

func BenchmarkBody(b *testing.B) {
	for name, body := range map[string][]byte{
		"short": []byte(
			`{"message":"What is the condition of the roof?","session_id":"s-1","config":{"max_steps":5,` +
				`"enable_self_evaluation":true},"citation_style":"numeric"}`,
		),
		"long": []byte(
			`{"message":"What is the condition of the roof?","context_text":"` +
				strings.Repeat(`The roof of the mill is in poor condition.\n`, 2000) + `"}`,
		),
	} {
		for way, decode := range map[string]func([]byte, any) error{
			"/encoding": json.Unmarshal, "/strict": DecodeJSON, "/open": DecodeOpenJSON,
		} {
			b.Run(name+way, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var q benchBody
					if err := decode(body, &q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

type decoded struct {
	A     int            `json:"a"`
	Seed  *int64         `json:"seed"`
	Text  string         `json:"text"`
	After Moment         `json:"after"`
	Parts []decoded      `json:"parts"`
	Meta  map[string]any `json:"meta"`
	chat.RunConfig
}

func TestBodiesAreDecodedStrictly(t *testing.T) {
	const pairs, nul = "unpaired surrogate", "contains a NUL"
	for _, row := range []struct{ in, strict, open string }{ // open: "=" for the same
		{`{"a":1,"text":"grün 😀 \ud83d\ude00 \\ud800 \u00e9 \n\"","after":"2026-01-31","model":"m"}`, "", "="},
		{`{"text":"\ud83d\ude00\uD83D"}`, pairs, "="},
		{`{"text":"\udc00\ud800"}`, pairs, "="},
		{`{"text":"\ud800\u0041"}`, pairs, "="},
		{`{"text":"\ud800\\udc00"}`, pairs, "="},
		{`{"\udfff":1}`, pairs, "="},
		{`{"meta":{"x":["\ud800"]}}`, pairs, "="},
		{`{"text":"\ud8`, "unexpected end of input", "="},
		{"{\"text\":\"gr\xfcn\"}", "valid UTF-8", "="},
		{"{\"text\":\"\xed\xa0\x80\"}", "valid UTF-8", "="},
		{"\xff\xfe{\x00\"\x00a\x00\"\x00", "valid UTF-8", "="},
		{`{"text":"\u0000"}`, `"text" contains a NUL`, "="},
		{`{"text":"\\u0000"}`, "", "="},
		{`{"meta":{"x":[["\u0000"]]}}`, `"x" contains a NUL`, "="},
		{`{"meta":{"x\u0000":1}}`, `"x" contains a NUL`, "="},
		{`{"meta":{"x":1,"x":2}}`, `Duplicate field "x"`, "="},
		{`{"a":1,"\u0061":2}`, `Duplicate field "a"`, "="},
		{`{"x":1}`, `Unknown field "x". Check its spelling`, ""},
		{`{"parts":[{"Text":"x"}]}`, `Unknown field "Text". Field names are case-sensitive: use "text".`, "="},
		{`{"MODEL":""}`, `use "model"`, "="},
		{`{"meta":{"Text":1,"text":2}}`, "", "="},
		{`{"parts":[{"a":"1"}]}`, `"parts.a" can't be a string`, "="},
		{`{"a":1.5}`, `"a" can't be a number 1.5`, "="},
		{`{"text":1}`, `"text" can't be a number`, "="},
		{`{"after":"soon"}`, `"after" must be a date`, "="},
		{`{"after":5}`, `"after" must be a date`, "="},
		{`{"after":null,"parts":null}`, "", "="},
		{`"x"`, "must be a JSON object, not a string", "="},
		{` `, "The body is empty", "="},
		{`{} {}`, "a single JSON object", "="},
		{`{"a":}`, "syntax error at byte 6", "="},
		{`{"meta":{"x":` + strings.Repeat("[", 20_000), "syntax error at byte", "="},
	} {
		if row.open == "=" {
			row.open = row.strict
		}
		for _, way := range []struct {
			name   string
			want   string
			decode func([]byte, any) error
		}{{"strict", row.strict, DecodeJSON}, {"open", row.open, DecodeOpenJSON}} {
			var v decoded
			err := way.decode([]byte(row.in), &v)
			if got := chat.MessageOf(err).String(); err == nil && way.want != "" ||
				err != nil && (way.want == "" || !strings.Contains(got, way.want)) {
				t.Errorf("%s %.60q: %q, want %q", way.name, row.in, got, way.want)
			}
		}
	}
}

func TestIntegersMayHaveFraction(t *testing.T) {
	for in, want := range map[string]int{
		`5`: 5, `5.0`: 5, `-2e1`: -20, `0.0`: 0, `1.50`: -1, `1e400`: -1, `1.0e30`: -1, // -1: an error
	} {
		var v decoded
		if err := DecodeJSON([]byte(`{"a":`+in+`}`), &v); (err != nil) != (want == -1) || err == nil && v.A != want {
			t.Errorf("%s: %d, %v; want %d", in, v.A, err, want)
		}
	}
	var v decoded
	err := DecodeJSON([]byte(`{"seed":9007199254740993,"text":"5.0 \" 6.0"}`), &v)
	if diff := cmp.Diff(decoded{Seed: new(int64(9007199254740993)), Text: `5.0 " 6.0`}, v); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// Whatever the strict way accepts is JSON that the open way accepts.
func FuzzDecodeJSON(f *testing.F) {
	for _, body := range []string{
		"[}", `{"a":[}]}`, "[[}", `{"a":}`, `[,}`, `[1}`, `["a}`, `{"a" "b"}`, "}", "", `[{"a":1}]`,
		`{"parts":[{"Text":"\u0000"}],"meta":{"x":[{}]}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var strict, open decoded
		if DecodeJSON(body, &strict) == nil && (DecodeOpenJSON(body, &open) != nil || !json.Valid(body)) {
			t.Errorf("%q: DecodeJSON succeeds, DecodeOpenJSON fails", body)
		}
	})
}
