package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The numbers are those that LibreOffice shows.
func TestListsHaveTheNumbersThatTheirProgramsShow(t *testing.T) {
	level := func(n, rest string) string {
		return `<text:list-level-style-number text:level="` + n + `" ` + rest + `/>`
	}
	styles := `<text:list-style style:name="L">` + level("1", `style:num-format="1" style:num-suffix="."`) +
		level("2", `style:num-format="1" text:display-levels="2"`) +
		level("3", `style:num-format="a" loext:num-list-format="%1%-%2%-%3%)"`) + `</text:list-style>` +
		`<text:list-style style:name="M">` +
		level("1", `style:num-format="A" style:num-letter-sync="true" text:start-value="27"`) +
		level("2", `style:num-format="01, 02, 03, ..."`) + `</text:list-style>` +
		`<text:outline-style style:name="Outline">` + level("1", `style:num-format="I" style:num-suffix="."`) +
		`</text:outline-style>`
	list := func(how string, items ...string) string {
		return `<text:list ` + how + `>` + strings.Join(items, "") + `</text:list>`
	}
	item := func(inside string) string { return `<text:list-item>` + inside + `</text:list-item>` }
	p := func(text string) string { return `<text:p>` + text + `</text:p>` }
	const own, other = `text:style-name="L"`, `text:style-name="M"`
	for _, tt := range []struct {
		name, file, body string
		want             []string
	}{
		{"a list that goes on behind another", "a.odt", openDocument(t, "text", styles,
			list(`xml:id="x" `+own, item(p("a")), item(p("b")))+list(other, item(p("c"))+item(p("d")))+
				list(`text:continue-list="x" `+own, item(p("e")))+p("f")+
				list(`text:continue-numbering="true" `+own, item(p("g")))+list(own, item(p("h")))),
			[]string{"list 1. a", "list 2. b", "list AA c", "list BB d", "list 3. e", "paragraph f", "list 4. g",
				"list 1. h"}},
		{"levels that go on, and one that nothing stands in", "a.odt", openDocument(t, "text", styles,
			list(own, item(list("", item(p("a")), item(p("b")))))+
				list(`text:continue-numbering="true" `+own, item(list("", item(p("c")+list("", item(p("d"))))))+
					item(p("e")+list("", item(p("f")))))),
			[]string{"list 1.1 a", "list 1.2 b", "list 1.3 c", "list 1-3-a) d", "list 2. e", "list 2.1 f"}},
		{"an item of another style, an empty one and a number of its own", "a.odt", openDocument(t, "text", styles,
			list(own, item(p("a")), `<text:list-item text:style-override="M">`+p("b")+`</text:list-item>`, item(p("")),
				item(p("c")+p("d")), `<text:list-item text:start-value="9">`+p("e")+`</text:list-item>`)),
			[]string{"list 1. a", "list B b", "list 4. c", "paragraph d", "list 9. e"}},
		{"headings, and a list in a table", "a.odt", openDocument(t, "text", styles,
			`<text:h text:outline-level="1">a</text:h><text:h text:outline-level="1" text:is-list-header="true">b`+
				`</text:h><text:h text:outline-level="1">c</text:h><table:table><table:table-row><table:table-cell>`+
				list(own, item(p("d")), item(p("e")))+`</table:table-cell><table:table-cell>`+p("f")+
				`</table:table-cell></table:table-row></table:table>`),
			[]string{"heading I. a", "heading b", "heading II. c", "table 1. d 2. e | f"}},
		{"rich text with bare numbers and bullets", "a.rtf", `{\rtf1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset2 ` +
			`Wingdings;}}{\listtext\f0 1\tab}one\par{\listtext\f0 B\tab}two\par{\listtext\f0 o\tab}three\par` +
			`{\listtext\f1 l\tab}four\par}`,
			[]string{"list 1 one", "list B two", "list three", "list four"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, _, err := extractFile(t, tt.file, tt.body)
			if diff := cmp.Diff(tt.want, blockLines(x)); err != nil || diff != "" {
				t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
			}
		})
	}
}
