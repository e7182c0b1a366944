package extract

import "testing"

// Programs escape letters in data. Words are found as they are read.
func TestEscapedDataIsDecoded(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a.json", `{"city": "M\u00fcnchen", "e": "\ud83d\ude00\u00A9"}`, `{"city": "München", "e": "😀©"}`},
		{"a.jsonl", "{\"a\": \"\\u6771\\u4eac\"}\n{\"a\": 1}", "{\"a\": \"東京\"}\n{\"a\": 1}"},
		{"a.geojson", `{"name": "Gy\u0151r"}`, `{"name": "Győr"}`},
		{"messages_de.properties", `title=Gr\u00f6\u00dfe`, `title=Größe`},
		{"old.ipynb", `{"worksheets": ["caf\u00e9"]}`, `{"worksheets": ["café"]}`},
		{"a.json", `{"a": "\\u00fc", "b": "\\\u00fc"}`, `{"a": "\\u00fc", "b": "\\ü"}`},
		{"a.json", `{"a": "\u0022\u005c\u000a\u0000\u200b"}`, `{"a": "\u0022\u005c\u000a\u0000\u200b"}`},
		{"a.json", `{"a": "\ud83d", "b": "\ude00\u00fc\ud83d\u00fc", "c": "\u00f"}`,
			`{"a": "\ud83d", "b": "\ude00ü\ud83dü", "c": "\u00f"}`},
		{"chat.json", `{"by": "Ren\u00c3\u00a9", "said": "\u00f0\u009f\u0098\u0080", "in": "S\u00e3o"}`,
			`{"by": "René", "said": "😀", "in": "São"}`},
		{"a.yaml", `city: "M\u00fcnchen"`, `city: "München"`},
		{"a.jsonl", `{"q": "from 45\u00b0 to 5(\u221a3 \u2013 1)"}`, `{"q": "from 45° to 5(√3 – 1)"}`},
		{"a.go", `const city = "M\u00fcnchen"`, `const city = "M\u00fcnchen"`},
	} {
		if got := mustExtract(t, tt.name, tt.src).Text; got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.name, tt.src, got, tt.want)
		}
	}
}
