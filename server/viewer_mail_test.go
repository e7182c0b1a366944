package server

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestAMailIsShownWithItsHeadAndItsFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := b.added("roof.eml", strings.ReplaceAll(`From: Ann <ann@example.org>
To: Ben <ben@example.org>
Date: Wed, 04 Mar 2026 10:00:00 +0100
Subject: Re: Roof
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

The slates cost 4,200.
--x
Content-Type: text/plain
Content-Disposition: attachment; filename="terms.txt"

Paid within 30 days.
--x--
`, "\n", "\r\n"))
	fields := func(n *html.Node) (out []string) {
		inRow := func(n *html.Node) bool { return n.Data == "span" && hasClass(n.Parent, "fields") }
		for _, f := range elements(n, inRow) {
			out = append(out, wordsOf(f))
		}
		return out
	}
	links := func(n *html.Node, test string) (out []string) {
		for _, p := range elements(n, func(n *html.Node) bool { return attribute(n, "data-testid") == test }) {
			for _, a := range elements(p, func(n *html.Node) bool { return n.Data == "a" }) {
				out = append(out, wordsOf(a)+" "+attribute(a, "href"))
			}
		}
		return out
	}
	mail := parsed(t, b.send("GET", "/d/"+d.ID, "", "Accept", "text/html").body)
	want := []string{"From: Ann <ann@example.org>", "To: Ben <ben@example.org>", "Date: Wed, 4 Mar 2026 10:00 +0100",
		"Subject: Re: Roof", "Attachments: terms.txt"}
	if got := fields(mail); !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	inside := links(mail, "inside")
	if len(inside) != 1 || !strings.HasPrefix(inside[0], "terms.txt /d/") {
		t.Fatalf("files inside: %q, want terms.txt", inside)
	}
	_, address, _ := strings.Cut(inside[0], " ")
	if got := links(
		parsed(t, b.send("GET", address, "", "Accept", "text/html").body),
		"part-of",
	); !slices.Equal(
		got,
		[]string{"Re: Roof /d/" + d.ID},
	) {
		t.Errorf("the attachment came with %q, want its mail", got)
	}
	quote := "Date: Wed, 4 Mar 2026 10:00 +0100 · Subject: Re: Roof"
	if got := marked(b.panel(b.cited(d, quote, nil).URL), "mark", "quote"); got != quote {
		t.Errorf("marked %q, want %q", got, quote)
	}
}

// wordsOf is the text of an element.
func wordsOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}
