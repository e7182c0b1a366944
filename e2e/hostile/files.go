//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// mib is a mebibyte in bytes.
const mib = 1 << 20

// hostileFile is a file designed to be expensive to parse.
//
// It is generated deterministically, so that two runs of the command can be compared. It is generated when its cell
// starts.
type hostileFile struct {
	name string // of the cell
	file string // its file name on upload
	make func() []byte
}

// fileCells uploads each hostile file and waits for its end.
//
// The server decides whether a file is ready, failed or refused. The cell fails only if the file has no final
// state, or if the server dies or exceeds the limits in result.go. For a ready file, all pages with it are opened
// and searched as well: some files are cheap to parse and expensive to list.
func fileCells() []cell {
	var cells []cell
	for _, f := range hostileFiles() {
		cells = append(cells, cell{name: "file: " +
			f.name, act: func(ctx context.Context, s *site, r *result) (string, error) {
			content := f.make()
			r.input = int64(len(content))
			d, err := s.uploadFile(ctx, "", f.file, content)
			if err != nil || d.State != "ready" {
				return d.describeOutcome(), err
			}
			slowest, err := s.openAll(ctx, strings.NewReplacer(d.ID, "…"), []surface{
				{"/d/" + d.ID, "text/html"}, {"/documents/" + d.ID + "/text", "*/*"}, {"/documents", "text/html"},
				{"/find?q=a", "text/html"}, {"/find?q=boiler", "text/html"}, {"/find?q=zebra", "text/html"},
			})
			return "ready; " + slowest, err
		}})
	}
	return cells
}

// repeatText repeats a text up to n bytes. For a text longer than n it returns nothing.
func repeatText(piece string, n int) func() []byte {
	return func() []byte { return []byte(strings.Repeat(piece, n/len(piece))) }
}

// aroundText puts a text between two others. middle is called lazily.
func aroundText(before string, middle func() []byte, after string) func() []byte {
	return func() []byte { return []byte(before + string(middle()) + after) }
}

// randomChinese returns n bytes of text in which every pair of characters is a separate word.
//
// Chinese has no spaces, so each pair of neighbours is indexed as a word (bigrams). Random characters have nearly
// as many distinct pairs as possible, which a text index must handle. A full stop and a new paragraph follow about
// every 400 characters. The seed is fixed.
func randomChinese(n int) func() []byte {
	return func() []byte {
		random := rand.New(rand.NewPCG(1, 2))
		var b bytes.Buffer
		for b.Len() < n {
			b.WriteRune(rune(0x4E00 + random.IntN(0x5200)))
			if random.IntN(400) == 0 {
				b.WriteString("。\n\n")
			}
		}
		return b.Bytes()
	}
}

// markdownTable returns a Markdown table with a number of columns, whose rows have one cell each. GitHub's Markdown
// pads short rows: n columns × m rows become n·m cells from a text of n + m.
func markdownTable(columns, rows int) func() []byte {
	return func() []byte {
		return []byte(strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" +
			strings.Repeat("|x\n", rows))
	}
}

// hostileFiles returns the files in test order. Each name describes the content. Many sizes are just below the
// server's default limit of 50 MiB; files that grow disproportionately at a smaller size are smaller.
func hostileFiles() []hostileFile {
	files := []hostileFile{
		// Padded rows: four million cells, and 400 million.
		{"Markdown table, 2,000 columns × 2,000 rows", "table.md", markdownTable(2000, 2000)},
		{"Markdown table, 20,000 columns × 20,000 rows", "wide.md", markdownTable(20_000, 20_000)},
		// A block for every three bytes.
		{"Markdown, 30 MiB of tiny paragraphs", "paragraphs.md", repeatText("a\n\n", 30*mib)},
		{"Markdown, 1 MiB of tiny paragraphs", "few.md", repeatText("a\n\n", mib)},
		{"Markdown, a million headings", "headings.md", repeatText("# a\n", 4*mib)},
		// Nested blocks: a recursive parser overflows its stack.
		{"Markdown, quotes in quotes", "quotes.md", aroundText("", repeatText(">", mib), " a")},
		{"Markdown, lists in lists", "lists.md", func() []byte {
			var b bytes.Buffer
			for depth := range 2000 {
				fmt.Fprintf(&b, "%s- a\n", strings.Repeat(" ", 2*depth))
			}
			return b.Bytes()
		}},
		// Unclosed openings: a parser that scans for the end of each takes quadratic time.
		{"Markdown, 4 MiB of opening brackets", "brackets.md", repeatText("[", 4*mib)},
		{"Markdown, 1 MiB of image openings", "images.md", repeatText("![", mib)},
		{"Markdown, emphasis that never closes", "emphasis.md", repeatText("*a **a _a __a ", mib)},
		{"Markdown, runs of backticks that never close", "backticks.md", func() []byte {
			var b bytes.Buffer
			for n := 1; b.Len() < mib; n++ {
				b.WriteString(strings.Repeat("`", n) + " a ")
			}
			return b.Bytes()
		}},
		// Definitions are looked up for each use.
		{"Markdown, link definitions and their uses", "links.md", func() []byte {
			var b bytes.Buffer
			for n := range 40_000 {
				fmt.Fprintf(&b, "[l%d]: /%d\n\n[l%d]\n\n", n, n, n)
			}
			return b.Bytes()
		}},
		// “Billion laughs”: each alias expands to nine of the one below, so eleven levels would be 9¹² texts.
		{"Markdown, front matter with aliases of aliases", "laughs.md", func() []byte {
			var b strings.Builder
			b.WriteString("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
			for n := 1; n < 12; n++ {
				fmt.Fprintf(
					&b, "a%d: &a%d [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", n-1), 9), ","),
				)
			}
			return []byte(b.String() + "title: *a11\n---\nThe text.\n")
		}},
		// A table with very many rows, one with very many fields, and one with an unclosed quote.
		{"CSV, 40 MiB of small rows", "rows.csv", repeatText("a,b\n", 40*mib)},
		{"CSV, a row of 20 million empty fields", "fields.csv", aroundText("a,b\n", repeatText(",", 20*mib), "\n")},
		{"CSV, 46,000 rows of 451 fields", "broad.csv", repeatText(strings.Repeat("a,", 450)+"\n", 40*mib)},
		{"CSV, a quote that never closes", "quote.csv", aroundText("a,b\n1,\"", repeatText("c,d\n", 40*mib), "")},
		{"Markdown, one line of 45 MiB", "line.md", repeatText("word ", 45*mib)},
		{"text, 45 MiB of tiny paragraphs", "paragraphs.txt", repeatText("a\n\n", 45*mib)},
		{"text, one word of 45 MiB", "word.txt", repeatText("a", 45*mib)},
		// Distinct words make the text index as large as possible.
		{"text, 20 MiB of different words", "words.txt", func() []byte {
			var b bytes.Buffer
			for n := 0; b.Len() < 20*mib; n++ {
				fmt.Fprintf(&b, "w%07x ", uint32(n)*2654435761>>4)
			}
			return b.Bytes()
		}},
		// UTF-16 in little-endian order with a byte order mark: the text is decoded to UTF-8.
		{"text, 45 MiB of UTF-16", "wide.txt", func() []byte {
			units := utf16.Encode([]rune("a\n\n"))
			piece := make([]byte, 0, 6)
			for _, u := range units {
				piece = append(piece, byte(u), byte(u>>8))
			}
			return append([]byte{0xff, 0xfe}, bytes.Repeat(piece, 45*mib/6)...)
		}},
		{"text, 8 MiB of Chinese without a space", "chinese.txt", repeatText("防水工程保修期限", 8*mib)},
		{"text, 3 MiB of Chinese characters at random", "some.txt", randomChinese(3 * mib)},
		{"text, 20 MiB of Chinese characters at random", "random.txt", randomChinese(20 * mib)},
		{"text, 20 MiB of words at random", "words.txt", func() []byte { return randomWords(20*mib, 12, "\n") }},
		// U+E0041 is a tag and U+200B a zero-width space: an invisible text.
		{"text, 4 MiB of characters nobody sees", "tags.txt", repeatText("\U000E0041\u200b", 4*mib)},
		{"CSV, 10,000 columns × 1,000 rows", "cells.csv", func() []byte {
			return bytes.Repeat([]byte(strings.Repeat("a,", 9999)+"a\n"), 1000)
		}},
		{"HTML, 2 MiB of open elements", "open.html", aroundText("<html><body>", repeatText("<div>", 2*mib), "a")},
		// The HTML standard reopens unclosed formatting elements in each new paragraph.
		{"HTML, formatting that is opened again and again", "adopt.html", aroundText(
			"<html><body>", repeatText("<b><i><u><p>a", mib), "",
		)},
		{"HTML, tables in tables", "tables.html", aroundText("<html><body>", repeatText("<table><tr><td>a", mib), "")},
		// Each row has 3,000 cells, and there are 1,500 rows.
		{"HTML, a table of 3,000 × 3,000 cells", "table.html", aroundText("<html><body><table>", func() []byte {
			return bytes.Repeat([]byte("<tr>"+strings.Repeat("<td>a", 3000)), 1500)
		}, "</table>")},
		// A cell with the declared size 60,000 × 60,000.
		{"HTML, colspan and rowspan of 60,000", "span.html", aroundText(
			"<html><body><table>", repeatText(`<tr><td colspan=60000 rowspan=60000>a`, mib), "</table>",
		)},
		{"HTML, half a million attributes", "attributes.html", func() []byte {
			var b bytes.Buffer
			b.WriteString("<html><body><p ")
			for n := range 500_000 {
				fmt.Fprintf(&b, "a%d ", n)
			}
			return append(b.Bytes(), ">a</p>"...)
		}},
		{"HTML, 30 MiB of tiny paragraphs", "paragraphs.html",
			aroundText("<html><body>", repeatText("<p>a", 30*mib), "")},
		{"HTML, a title of 20 MiB", "title.html", aroundText(
			"<html><head><title>", repeatText("title ", 20*mib), "</title></head><body><p>a</p></body></html>",
		)},
		{"HTML, 10 MiB of entities", "entities.html", aroundText(
			"<html><body><p>", repeatText("&amp;&notin;&#x41;", 10*mib), "</p>",
		)},
	}
	return append(files, hostilePDFs()...)
}
