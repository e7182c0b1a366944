package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"
)

// starting: a library of 10,000 documents, the server started anew.
func starting(ctx context.Context, b *bench) (rows []row, err error) {
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	documents := b.times(10_000)
	for first := 0; first < documents; first += 500 {
		files := map[string][]byte{}
		for i := first; i < min(documents, first+500); i++ {
			files[fmt.Sprintf("doc-%d.md", i)] = markdown(uint64(i), 1)
		}
		if _, err := upload(ctx, server, files); err != nil {
			return nil, errors.Join(err, server.stop())
		}
	}
	if err := server.stop(); err != nil {
		return nil, err
	}
	var starts []time.Duration
	for range 5 {
		began := time.Now()
		server, err = b.startFootnote(ctx, data, nil)
		if err != nil {
			return nil, err
		}
		starts = append(starts, time.Since(began))
		if len(starts) < 5 {
			if err := server.stop(); err != nil {
				return nil, err
			}
		}
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	idle, err := settled(ctx, server)
	if err != nil {
		return nil, err
	}
	size, err := pageLoad(ctx, server)
	if err != nil {
		return nil, err
	}
	used, err := settled(ctx, server)
	if err != nil {
		return nil, err
	}
	resident := float64(idle.memory) / (1 << 20)
	return []row{
		{fmt.Sprintf("start to first healthy answer, %d documents, p50", documents), "≤ 300 ms", ms(quantile(starts, .5)), quantile(starts, .5) <= 300*time.Millisecond},
		{"idle memory after the start; after the first page", "≤ 60 MiB", fmt.Sprintf("%.0f MiB; %.0f MiB", resident, float64(used.memory)/(1<<20)), resident <= 60},
		{"first page load, compressed, with styles and scripts", "≤ 80 KiB", fmt.Sprintf("%.1f KiB", float64(size)/1024), size <= 80<<10},
	}, nil
}

var asset = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)

// pageLoad returns the bytes on the wire for the page and what it links to.
func pageLoad(ctx context.Context, server *process) (int, error) {
	_, size, err := fetch(ctx, server.url+"/", true)
	if err != nil {
		return 0, err
	}
	plain, _, err := fetch(ctx, server.url+"/", false)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, found := range asset.FindAllSubmatch(plain, -1) {
		if name := string(found[1]); !seen[name] {
			seen[name] = true
			_, n, err := fetch(ctx, server.url+name, true)
			if err != nil {
				return 0, err
			}
			size += n
		}
	}
	return size, nil
}

func fetch(ctx context.Context, url string, compressed bool) ([]byte, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "text/html,*/*")
	req.Header.Set("Accept-Encoding", "identity")
	if compressed {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	body, err := io.ReadAll(resp.Body)
	return body, len(body), err
}

// pdf: a PDF of many pages read, and one of its pages drawn.
func pdf(ctx context.Context, b *bench) (rows []row, err error) {
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if _, err := upload(ctx, server, map[string][]byte{"warm.pdf": pages(2, 99)}); err != nil { // the parser is compiled once
		return nil, err
	}
	n := b.times(400)
	took, err := upload(ctx, server, map[string][]byte{"long.pdf": pages(n, 1)})
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
		url := fmt.Sprintf("%s/documents/%s/pages/%d.png?width=1200", server.url, list.Documents[0].ID, page+1)
		for _, into := range []*[]time.Duration{&first, &second} {
			began := time.Now()
			if _, _, err := fetch(ctx, url, false); err != nil {
				return nil, err
			}
			*into = append(*into, time.Since(began))
		}
	}
	return []row{
		{fmt.Sprintf("PDF of %d pages ingested", n), "≥ 25 pages/s", fmt.Sprintf("%.0f pages/s", rate), rate >= 25},
		{"PDF page drawn, p95", "≤ 300 ms", ms(quantile(first, .95)), quantile(first, .95) <= 300*time.Millisecond},
		{"the same page again, p95", "≤ 50 ms", ms(quantile(second, .95)), quantile(second, .95) <= 50*time.Millisecond},
	}, nil
}

// pages makes a PDF of n pages of plain text.
func pages(n int, seed uint64) []byte {
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
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), n))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i := range n {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i))
		var text bytes.Buffer
		text.WriteString("BT /F1 11 Tf 14 TL 60 780 Td ")
		line := 0
		for words := bytes.Fields(markdown(seed*100_000+uint64(i), 2)); len(words) > 0 && line < 48; line++ {
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
