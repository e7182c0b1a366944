package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// pdf measures parsing a PDF of many pages, and rendering its pages.
//
// It generates two documents: one of two pages to warm up the parser, and one of 400 pages. The limits are 25
// parsed pages per second, 300 ms to render a page, 50 ms for a cached page, and 300 ms to open a footnote: the
// viewer and the page's image. The last is measured right after ten restarts, and once more after each.
func benchPDF(ctx context.Context, b *bench) (rows []row, err error) {
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }() // of the last one
	// The parser is compiled once.
	if _, err := uploadFiles(ctx, server, map[string][]byte{"warm.pdf": makePages(2, 99)}); err != nil {
		return nil, err
	}
	n := b.scaleTimes(400)
	// Parsing ends when the document is in the text index; no page is rendered for it.
	took, err := uploadFiles(ctx, server, map[string][]byte{"long.pdf": makePages(n, 1)})
	if err != nil {
		return nil, err
	}
	rate := float64(n) / took.Seconds()
	var list struct {
		Documents []struct {
			ID string `json:"id"`
		} `json:"documents"`
	}
	if err := getJSON(ctx, server, "/documents?q=long", &list); err != nil {
		return nil, err
	}
	if len(list.Documents) != 1 {
		return nil, fmt.Errorf("the PDF is not listed: %+v", list)
	}
	var first, second []time.Duration
	for page := range min(n, 20) {
		// The second request in a row is for the same page and width, so the image may be cached.
		url := fmt.Sprintf("%s/documents/%s/pages/%d.png?width=1200", server.url, list.Documents[0].ID, page+1)
		for _, into := range []*[]time.Duration{&first, &second} {
			began := time.Now()
			if _, _, err := fetchURL(ctx, url, false); err != nil {
				return nil, err
			}
			*into = append(*into, time.Since(began))
		}
	}
	var cold, ready []time.Duration
	// Each round opens another page right after the restart, from the first one on, and then one from the end.
	for page := range min(n, 10) {
		if err := server.stop(); err != nil {
			return nil, err
		}
		again, err := b.startFootnote(ctx, data, nil)
		if err != nil {
			return nil, err
		}
		server = again
		for _, opened := range []struct {
			into *[]time.Duration
			page int
		}{{&cold, page + 1}, {&ready, n - page}} {
			took, err := openPage(ctx, server, list.Documents[0].ID, opened.page)
			if err != nil {
				return nil, err
			}
			*opened.into = append(*opened.into, took)
		}
	}
	return []row{
		{
			"PDF opened at a page right after a restart, viewer and image, p95 (p50)", "≤ 300 ms",
			inMilliseconds(quantileOf(cold, .95)) + " (" + inMilliseconds(quantileOf(cold, .5)) + ")",
			quantileOf(cold, .95) <= 300*time.Millisecond,
		},
		{"then at another page, viewer and image, p95 (p50)", "≤ 300 ms",
			inMilliseconds(quantileOf(ready, .95)) + " (" +
				inMilliseconds(quantileOf(ready, .5)) + ")", quantileOf(ready, .95) <= 300*time.Millisecond},
		{fmt.Sprintf("PDF of %d pages ingested", n), "≥ 25 pages/s", fmt.Sprintf("%.0f pages/s", rate), rate >= 25},
		{"PDF page drawn, p95", "≤ 300 ms", inMilliseconds(quantileOf(first, .95)),
			quantileOf(first, .95) <= 300*time.Millisecond},
		{"the same page again, p95", "≤ 50 ms", inMilliseconds(quantileOf(second, .95)), quantileOf(
			second, .95,
		) <= 50*time.Millisecond},
	}, nil
}

// openPage sends a browser's requests for a page: the viewer, then the page's image. It accepts compressed
// responses, like browsers. The width differs from that of the rows above.
func openPage(ctx context.Context, server *process, id string, page int) (time.Duration, error) {
	began := time.Now()
	for _, path := range []string{
		fmt.Sprintf("/d/%s?page=%d", id, page), fmt.Sprintf("/documents/%s/pages/%d.png?width=1000", id, page),
	} {
		if _, _, err := fetchURL(ctx, server.url+path, true); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// makePages generates a PDF of n pages of plain text.
//
// It writes the few required objects by hand, without a library: one standard font, an A4 page each, and text in
// lines of twelve words. The cross-reference table needs each object's offset, and entries of exactly 20 bytes.
// Words have only letters, so no text needs an escape.
func makePages(n int, seed uint64) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids bytes.Buffer
	for i := range n {
		// Objects 1 to 3 are catalogue, pages and font; after them pages and their contents alternate.
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), n))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i := range n {
		object(fmt.Sprintf(
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents "+
				"%d 0 R >>",
			5+2*i,
		))
		var text bytes.Buffer
		text.WriteString("BT /F1 11 Tf 14 TL 60 780 Td ")
		line := 0
		for words := bytes.Fields(makeMarkdown(seed*100_000+uint64(i), 2)); len(words) > 0 && line < 48; line++ {
			take := min(12, len(words))
			fmt.Fprintf(&text, "(%s) Tj T* ", bytes.Join(words[:take], []byte(" ")))
			words = words[take:]
		}
		text.WriteString("ET")
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()))
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	return out.Bytes()
}
