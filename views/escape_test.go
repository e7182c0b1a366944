package views

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/views/mathml"
)

// readable is the text that a drawn answer shows, its white space collapsed, without what the page says of links.
func readable(t testing.TB, md *Markdown, src string) string {
	t.Helper()
	var b strings.Builder
	for _, block := range md.Whole(src, nil, func(int) (chat.Citation, bool) { return chat.Citation{}, false }) {
		root, err := html.Parse(strings.NewReader(block.HTML))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.TextNode && inMath(n) && n.Parent.Data != "annotation" {
				continue
			}
			if n.Type == html.TextNode && (n.Parent.Data != "bdi" || attribute(n.Parent, "class") != "host") {
				b.WriteString(n.Data)
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// inMath reports whether a node is part of a formula, which has its source as its annotation.
func inMath(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Data == "math" && n.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// withoutDelimiters is a text with its formulas as their annotations have them.
func withoutDelimiters(s string) string {
	var b strings.Builder
	done := 0
	for _, f := range text.Formulas(s, nil) {
		if _, _, err := mathml.Draw(f.TeX, f.Display); err == nil && !strings.Contains(lastWord(s[:f.Start]), "://") &&
			!strings.Contains(lastWord(s[:f.Start]), "www.") {
			b.WriteString(s[done:f.Start] + strings.TrimSpace(f.TeX))
			done = f.End
		}
	}
	return b.String() + s[done:]
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// shows holds one text to being shown as it is: alone, in a list, behind other words, and beside itself.
func shows(t testing.TB, md *Markdown, s string) {
	t.Helper()
	want := withoutDelimiters(strings.Join(strings.Fields(s), " "))
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

func TestWordsOfADocumentAreShownAsTheyAre(t *testing.T) {
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

func TestRandomWordsOfADocumentAreShownAsTheyAre(t *testing.T) {
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

func FuzzWordsOfADocumentAreShownAsTheyAre(f *testing.F) {
	md := NewMarkdown()
	f.Add(`("\") *a_ [1]`)
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.ToValidUTF8(s, ""); len(s) < 2000 && !strings.ContainsAny(s, "\x00") {
			shows(t, md, s)
		}
	})
}

// quotable is a quotation's text as it is drawn, with the marks of its items, without white space and quote marks.
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
			case n.Type == html.TextNode && inMath(n) && n.Parent.Data != "annotation":
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

// level is a text without white space, quote marks at the beginning of lines, and the difference between bullets.
func level(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimLeft(itemMark.ReplaceAllString(line, "$1- "), "> "))
	}
	return boxes.Replace(strings.Join(strings.Fields(b.String()), ""))
}

// boxes are those of a list of tasks, as they are written.
var boxes = strings.NewReplacer("\u2610\ufe0e", "[]", "\u2611\ufe0e", "[x]")

// quotes holds lines to being drawn as they are in a quotation with a footnote behind it.
func quotes(t testing.TB, md *Markdown, lines []string) {
	t.Helper()
	src := text.QuoteMarkdown(lines)
	if src == "" {
		return
	}
	var shown []string
	for _, line := range lines {
		shown = append(shown, withoutDelimiters(line))
	}
	if got, want := quotable(t, md, src+" [7]"), level(strings.Join(shown, "\n")+" [7]"); got != want {
		t.Fatalf("QuoteMarkdown(%q) = %q is drawn as\n%q, want\n%q", lines, src, got, want)
	}
}

func TestRandomLinesOfADocumentAreQuotedAsTheyAre(t *testing.T) {
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
