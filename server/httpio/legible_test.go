package httpio

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestTextThatNobodyCouldReadIsRefused(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"grün 😀"}`:                 "",
		`{"a":"\ud83d\ude00"}`:           "",
		`{"a":"\\ud800 \u00e9 \n\""}`:    "",
		`{"a":"\ud83d\ude00\uD83D"}`:     halfPair,
		`{"a":"\ud800"}`:                 halfPair,
		`{"a":"\udc00\ud800"}`:           halfPair,
		`{"a":"\ud800\u0041"}`:           halfPair,
		`{"a":"\ud800\\udc00"}`:          halfPair,
		`{"\udfff":1}`:                   halfPair,
		`{"a":"\ud8`:                     "", // the decoder says that it breaks off
		`{"a":"\ud800`:                   halfPair,
		`\u\`:                            "",
		"{\"a\":\"gr\xfcn\"}":            notUTF8,
		"{\"a\":\"\xed\xa0\x80\"}":       notUTF8,
		"{\"a\":\"\xc0\xaf \\u0041\"}":   notUTF8,
		"\xff\xfe{\x00\"\x00a\x00\"\x00": notUTF8,
	} {
		got := ""
		if err := LegibleJSON([]byte(in)); err != nil {
			got = chat.MessageOf(err)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
