package views

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// linksIn returns the addresses that the links of a drawn text ask about, and the whole text that is read.
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

func TestALinkIsTheModelsWhateverIsMarkedAroundIt(t *testing.T) {
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

func TestMarksOfSentencesLeaveCodeAndWordsAlone(t *testing.T) {
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

func TestALinkSaysWhereItLeads(t *testing.T) {
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
