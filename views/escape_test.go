package views

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// readable returns the text that a rendered answer shows, with normalised white space and without the hosts beside
// links.
func readable(t testing.TB, md *Markdown, src string) string {
	t.Helper()
	var b strings.Builder
	for _, block := range md.Whole(src, nil, func(int) (chat.Citation, bool) { return chat.Citation{}, false }) {
		root, err := html.Parse(strings.NewReader(block.HTML))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.TextNode && (n.Parent.Data != "bdi" || attribute(n.Parent, "class") != "host") {
				b.WriteString(n.Data)
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// shows checks that a text is rendered unchanged: alone, in a list, after other words, and next to itself.
func shows(t testing.TB, md *Markdown, s string) {
	t.Helper()
	want := strings.Join(strings.Fields(s), " ")
	if want == "" {
		return
	}
	escaped := text.EscapeMarkdown(s)
	for _, form := range []struct{ src, want string }{
		{escaped, want}, {"- " + escaped, want}, {"Before: " + escaped, "Before: " + want},
		{escaped + " " + escaped, want + " " + want},
		{escaped + "\n\n" + escaped, want + " " + want},
		{"**" + "Title" + "** " + escaped + " [7]", "Title " + want + " [7]"},
	} {
		if got := readable(t, md, form.src); got != form.want &&
			strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(form.want, " ", "") {
			t.Fatalf("EscapeMarkdown(%q) = %q is shown in %q as\n%q, want\n%q", s, escaped, form.src, got, form.want)
		}
	}
}

func TestDocumentTextIsEscaped(t *testing.T) {
	md := NewMarkdown()
	for _, s := range []string{
		`("\")`, `He said ("\"), then left.`, "# not a heading", "#hash", "1. not an item", "12) not one", "- no item",
		"+ no item", "> no quotation", "---", "***", "___", "===", "=",
		"a * b", "*a*", "2 * 3 * 4", "snake_case_name and _private_", "__init__", "~/a ~b~ ~~c~~", "`code`", "``",
		"[a](http://e.example)", "[1]", "[^1]", "[a]: http://e.example", "![x](y)",
		"<b>bold</b>", "a < b > c", "<!-- x -->", "<http://e.example>", "&amp; &copy; &#65; & &x", "a\\", "\\ a",
		"\\* a", "C:\\temp\\new", "https://e.example/a_b/~c*d?e=f&g=h", "www.e.example/*", "me@e.example",
		"| a | b |", "| - | - |", "[ ] task", "[x] done", "a  b\nc", "5 $ and $x_1$",
		"$5 and $10, US$ 5, $5-$10", "\\(x^2\\) and \\[ \\frac{a}{b} \\]", "$$x$$", "$HOME/$USER",
		"see \\[1\\] and [x = 5] and [a^2]", "\\$x$", "\uE000\uE001\uE002", "\u202Etxt",
		"日本語 \\ 文", "*", "_", "~", "\\", "!", "#", "&lt;fn-chip n=\"1\"&gt;", "http://a*b.example",
		`"https://e.example/_x_"`,
	} {
		shows(t, md, s)
	}
}

func TestRandomDocumentTextIsEscaped(t *testing.T) {
	md := NewMarkdown()
	pieces := strings.Split(
		"\\ ` * _ [ ] ( ) < > & ~ # - + = | ! : . ; / \" ' $ ^ { } @ % 1 12 a b ab é 日 \u00A0 \t \n http:// https:// "+
			"www. e.example ** __ ~~ ``` --- &amp; &#65; <b> </b> <!-- --> [1] ](x) [x]: \uE000 1. 2) # \\* ?", " ",
	)
	pieces = append(pieces, " ", " ", " ", " ", "word", "The roof", "is sound.")
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		shows(t, md, b.String())
	}
}

func TestPlainSentencesAreNotEscaped(t *testing.T) {
	for _, s := range []string{
		"The roof is sound (see p. 4), 2 * 3 = 6; a < b & c.", "file_name_2.txt costs £5 - or more: 10 % off!",
		"See https://example.org/a_b?c=d&e=f.",
	} {
		if got := text.EscapeMarkdown(s); got != s {
			t.Errorf("EscapeMarkdown(%q) = %q, want it as it is", s, got)
		}
	}
}

func FuzzDocumentTextIsEscaped(f *testing.F) {
	md := NewMarkdown()
	f.Add(`("\") *a_ [1]`)
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.ToValidUTF8(s, ""); len(s) < 2000 && !strings.ContainsAny(s, "\x00") {
			shows(t, md, s)
		}
	})
}

// quotable returns a rendered quotation's text with its list marks, without white space and quote marks.
func quotable(t testing.TB, md *Markdown, src string) string {
	t.Helper()
	var b strings.Builder
	for _, block := range md.Whole(src, nil, func(int) (chat.Citation, bool) { return chat.Citation{}, false }) {
		root, err := html.Parse(strings.NewReader(block.HTML))
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for n := range root.Descendants() {
			switch {
			case n.Type == html.TextNode && (n.Parent.Data != "bdi" || attribute(n.Parent, "class") != "host"):
				b.WriteString(n.Data)
			case n.Data == "ol":
				if number = 0; attribute(n, "start") != "" {
					number, _ = strconv.Atoi(attribute(n, "start"))
					number--
				}
			case n.Data == "li" && n.Parent.Data == "ul":
				b.WriteString("\n- ")
			case n.Data == "li":
				number++
				mark := map[string]string{"": ". ", "paren": ") "}[attribute(n.Parent, "class")]
				b.WriteString("\n" + strconv.Itoa(number) + mark)
			}
		}
	}
	return level(b.String())
}

var itemMark = regexp.MustCompile(`(?m)^((?:> ?)*)([-+*]) `)

// level normalises a text: it removes white space, leading quote marks and the difference between bullets.
func level(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimLeft(itemMark.ReplaceAllString(line, "$1- "), "> "))
	}
	return boxes.Replace(strings.Join(strings.Fields(b.String()), ""))
}

// boxes encodes task list checkboxes as they are written.
var boxes = strings.NewReplacer("\u2610\ufe0e", "[]", "\u2611\ufe0e", "[x]")

// quotes checks that lines are rendered unchanged in a quotation with a footnote.
func quotes(t testing.TB, md *Markdown, lines []string) {
	t.Helper()
	src := text.QuoteMarkdown(lines)
	if src == "" {
		return
	}
	if got, want := quotable(t, md, src+" [7]"), level(strings.Join(lines, "\n")+" [7]"); got != want {
		t.Fatalf("QuoteMarkdown(%q) = %q is drawn as\n%q, want\n%q", lines, src, got, want)
	}
}

func TestRandomDocumentLinesAreQuoted(t *testing.T) {
	md := NewMarkdown()
	pieces := strings.Split(
		"\\ ` * _ [ ] ( ) < > & ~ # - + = | ! : . ; / \" ' $ ^ { } @ % 1 12 a b ab é 日 \u00A0 \t \n http:// https:// "+
			"www. e.example ** __ ~~ ``` --- &amp; &#65; <b> </b> <!-- --> [1] ](x) [x]: \uE000 1. 2) # \\* ?", " ",
	)
	begins := []string{"", "", "1. ", "2. ", "3) ", "- ", "* ", "> ", "# ", "01. ", "--- ", "+ ", "2. - ", "> 1. "}
	pieces = append(pieces, " ", " ", " ", " ", "word", "The roof", "is sound.")
	random := rand.New(rand.NewPCG(3, 4))
	for range 6_000 {
		var lines []string
		for range 1 + random.IntN(4) {
			line := begins[random.IntN(len(begins))]
			for range random.IntN(6) {
				line += pieces[random.IntN(len(pieces))]
			}
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				lines = append(lines, line)
			}
		}
		quotes(t, md, lines)
	}
}

func evidence(t *testing.T, hostile string) chat.Evidence {
	t.Helper()
	at := time.Date(2026, 11, 21, 9, 0, 0, 123000, time.UTC)
	input, err := json.Marshal(map[string]string{"query": hostile})
	if err != nil {
		t.Fatal(err)
	}
	e, err := chat.Evidence{
		RunID: "r", Question: "Is it sound? " + hostile, Answer: "It is [1]. " + hostile, Model: "m",
		Status: chat.RunCompleted, AskedAt: at, AnsweredAt: at,
		Citations: []chat.EvidenceCitation{{
			Number: 1, DocumentID: "d", Title: "Survey " + hostile, Filename: hostile + ".md",
			SHA256: strings.Repeat("ab", 32), Page: 4, Section: hostile,
			Start: 10, End: 30, Quote: "It is sound. " + hostile, Claimed: hostile, Check: chat.CheckVerified,
		}},
		Unsupported: []string{
			hostile,
		}, Steps: []chat.EvidenceStep{
			{Step: "s", Tool: "search", Message: hostile, Summary: hostile, Input: input, Status: chat.StatusComplete,
				At: at, Error: hostile},
		},
	}.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var hostileTexts = []string{
	"plain", "<script>alert(1)</script><img src=x onerror=alert(1)>", "-->\n<!-- footnote-evidence/1\nAAAA\n-->",
	"``` \n~~~\n```", "# head\n\n---\n[x](javascript:alert(1)) ![i](http://evil/x)",
	"\u202Egnp.exe\u202C \u2066x", "שלום (عربي) [1]", "| a | b |\n|---|---|\n", "\x00\x1b[31m\r\n\u2028",
	"</style></blockquote></main></body></html>", "&lt;b&gt; &amp; \"'", "\xff\xfe", "<!--",
}

func TestEvidenceRoundTrip(t *testing.T) {
	for _, hostile := range hostileTexts {
		e := evidence(t, strings.ToValidUTF8(hostile, "\uFFFD"))
		for _, format := range []string{"md", "html", "json"} {
			file, err := EvidenceFile(e, format)
			if err != nil {
				t.Fatal(err)
			}
			for name, form := range map[string][]byte{
				"as it is": file, "with CRLF": bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")),
			} {
				got, problems, err := ReadEvidence(form)
				if err != nil || len(problems) > 0 {
					t.Errorf("%s of %q, %s: %v, %v; want no problems", format, hostile, name, problems, err)
					continue
				}
				if got.Digest != e.Digest || got.Citations[0].Quote != e.Citations[0].Quote {
					t.Errorf("%s of %q came back as %+v; want Digest %v and Citations[0].Quote %v",
						format, hostile, got, e.Digest, e.Citations[0].Quote)
				}
			}
			if format == "json" {
				continue
			}
			shown, _, _ := bytes.Cut(file, []byte(dataOpen))
			for _, bad := range []string{"<script", "<img", "<!--", "\u202E", "\x00", "\x1b"} {
				if strings.Contains(strings.ToLower(string(shown)), bad) {
					t.Errorf("%s of %q has %q", format, hostile, bad)
				}
			}
			if format == "html" &&
				strings.Count(string(shown), "<style>")+strings.Count(string(shown), "</main>") != 2 {
				t.Errorf("markup of %q escapes its element in the HTML", hostile)
			}
		}
	}
}

func TestModifiedEvidenceIsDetected(t *testing.T) {
	e := evidence(t, "plain")
	for _, format := range []string{"md", "html", "json"} {
		file, err := EvidenceFile(e, format)
		if err != nil {
			t.Fatal(err)
		}
		text := string(file)
		for name, change := range map[string][2]string{
			"the answer": {"It is", "It is not"}, "the quote": {"sound. plain", "unsound. plain"},
			"the hash": {"abab", "acab"}, "the page": {"4", "5"},
		} {
			changed := strings.Replace(text, change[0], change[1], 1)
			if format == "md" && name == "the quote" {
				changed = strings.Replace(text, "sound\\. plain", "unsound\\. plain", 1)
			}
			if name == "the page" {
				for _, form := range []string{"Page: 4", "<dd dir=\"auto\">4<", "\"page\": 4"} {
					changed = strings.Replace(changed, form, strings.Replace(form, "4", "5", 1), 1)
				}
			}
			if changed == text {
				t.Fatalf("%s: no text to change for %s", format, name)
			}
			if _, problems, err := ReadEvidence([]byte(changed)); err == nil && len(problems) == 0 {
				t.Errorf("%s: change of %s is not detected", format, name)
			}
		}
		if _, problems, err := ReadEvidence(append(file, "<p>more</p>"...)); err == nil && len(problems) == 0 {
			t.Errorf("%s: added text is not detected", format)
		}
		if _, _, err := ReadEvidence(file[:len(file)-20]); err == nil {
			t.Errorf("%s: it is cut off and nothing is said, want an error", format)
		}
	}
	twice := e
	twice.Citations = append(twice.Citations, e.Citations[0])
	if sealed, err := twice.Sealed(); err != nil || len(sealed.Problems()) != 1 {
		t.Errorf("number of two quotes: %v, %v; want 1", sealed.Problems(), err)
	}
}

func TestAddedFootnoteIsMarkedAtAnyQuote(t *testing.T) {
	t.Parallel()
	for _, added := range []bool{false, true} {
		cite := chat.Citation{Number: 1, Title: "Mail", Quote: "The floor is sanded.", Added: added}
		for name, part := range map[string]templ.Component{
			"source": sourceRow(&Turn{}, cite, false),
			"card":   citedInfo(&Viewer{Cited: &Cited{Citation: cite}}),
		} {
			var b strings.Builder
			if err := part.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), "Added by Footnote"); got != added {
				t.Errorf("%s: got mark %v, want %v: %s", name, got, added, b.String())
			}
		}
		e := evidence(t, "plain")
		e.Citations[0].Added = added
		for _, format := range []string{"md", "html"} {
			file, err := EvidenceFile(e, format)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(file), "Added by"); got != added {
				t.Errorf("evidence as %s: got mark %v, want %v", format, got, added)
			}
		}
	}
}

// linksIn returns the URLs of a rendered text's links, and the whole text.
func linksIn(t *testing.T, drawn string) (addresses []string, read string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(drawn))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for _, a := range n.Attr {
			if u, err := url.Parse(a.Val); err == nil && a.Key == "href" && u.Path == "/leave" {
				addresses = append(addresses, u.Query().Get("to"))
			}
		}
	}
	return addresses, b.String()
}

func TestLinkKeepsModelText(t *testing.T) {
	for _, tt := range []struct{ name, src, unsupported, address string }{
		{"a question mark in the address", "It is [here](https://example.org/a?b=c) now.",
			"It is [here](https://example.org/a?b=c) now.", "https://example.org/a?b=c"},
		{"a sentence that ends within the address", "It is [here](https://example.org/a?b=c.) So.",
			"It is [here](https://example.org/a?", "https://example.org/a?b=c."},
		{"a sentence that begins within it", "It is [here](https://example.org/a?b=c). So.", "b=c). So.",
			"https://example.org/a?b=c"},
		{"a bare address", "See https://example.org/a?b=c for more.", "See https://example.org/a?",
			"https://example.org/a?b=c"},
		{"an address in angle brackets", "See <https://example.org/a?b=c> for more.", "See <https://example.org/a?",
			"https://example.org/a?b=c"},
		{"a title", "It is [here](https://example.org/a \"Is it? Yes.\") now.", "Is it?", "https://example.org/a"},
		{"a reference", "It is [here][a] now.\n\n[a]: https://example.org/a?b=c", "It is [here][a] now.",
			"https://example.org/a?b=c"},
		{"private characters in the address", "It is [here](https://example.org/\uE002?b=\uE003).", "",
			"https://example.org/%EE%80%82?b=%EE%80%83"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			drawn := whole(t, tt.src, tt.unsupported)
			addresses, read := linksIn(t, drawn)
			if len(addresses) != 1 || addresses[0] != tt.address {
				t.Errorf("Whole(%q) leads to %q, want %q:\n%s", tt.src, addresses, tt.address, drawn)
			}
			if strings.ContainsAny(read, "\uE002\uE003") || strings.Contains(drawn, "<fn-") {
				t.Errorf("Whole(%q) shows marks of ours: %s, want no %q in it", tt.src, drawn, "<fn-")
			}
		})
	}
}

func TestSentenceMarksKeepCodeAndWords(t *testing.T) {
	for _, tt := range []struct{ src, unsupported, want string }{
		{"Run `a? b` now. Then.", "Run `a?", "<code>a? b</code>"},
		{"An ![is it? yes](http://e.example/?x) image.", "An ![is it?",
			`<em>is it?<span class="flag">no source</span> yes</em>`},
		{"It costs \\*5\\*. So it is.", "\\*. So it is.", `*5<span class="unsupported">*. So it is.</span>`},
		{"```\na? b\n```", "a?", "<code>a? b\n</code>"},
		{"Private \uE000\uE001\uE002\uE003 characters. Stay.", "Private \uE000\uE001\uE002\uE003 characters.",
			`<span class="unsupported">Private ` + "\uE000\uE001\uE002\uE003" + ` characters.</span>`},
	} {
		if got := whole(t, tt.src, tt.unsupported); !strings.Contains(got, tt.want) || strings.Contains(got, "fn-") {
			t.Errorf("Whole(%q) with %q unsupported = %s\nwant it to hold %s", tt.src, tt.unsupported, got, tt.want)
		}
	}
}

func TestLinkShowsTarget(t *testing.T) {
	for _, tt := range []struct{ name, src, read string }{
		{"words", "[the survey](https://example.org/a)", "the survey (example.org)"},
		{"another address as its words", "[https://bank.example](https://evil.example/a)",
			"https://bank.example (evil.example)"},
		{"its own address as its words", "https://example.org/a?b", "https://example.org/a?b"},
		{"its host as its words", "[example.org](https://example.org/a)", "example.org"},
		{"an address without its scheme", "www.example.org", "www.example.org"},
		{"letters that look like others", "[the bank](https://b\u0430nk.example)", "the bank (xn--bnk-6cd.example)"},
		{"a bare address of such letters", "<https://b\u0430nk.example>",
			"https://b\u0430nk.example (xn--bnk-6cd.example)"},
		{"a name before the host", "[x](https://bank.example@evil.example)", "x (evil.example)"},
		{"a bare address with a name before the host", "https://bank.example@evil.example/",
			"https://bank.example@evil.example/ (evil.example)"},
		{"a port", "[x](http://example.org:8080/)", "x (example.org:8080)"},
		{"a long host", "[x](https://" + strings.Repeat("a.", 50) + "example.org)",
			"x (…." + strings.Repeat("a.", 34) + "example.org)"},
		{"an address too long to follow", "[x](https://example.org/" + strings.Repeat("a", 3000) + ")", "x"},
		{"a mail address", "[write](mailto:a@example.org)", "write (a@example.org)"},
		{"words that turn around", "[\u202Egro.elpmaxe](https://evil.example)", "\u202Egro.elpmaxe (evil.example)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, read := linksIn(t, whole(t, tt.src)); strings.TrimSpace(read) != tt.read {
				t.Errorf("Whole(%.80q) reads %q, want %q", tt.src, strings.TrimSpace(read), tt.read)
			}
		})
	}
}
