package main

import (
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
	idle, err := resident(ctx, server)
	if err != nil {
		return nil, err
	}
	size, err := pageLoad(ctx, server)
	if err != nil {
		return nil, err
	}
	atPage, err := resident(ctx, server)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(rest):
	}
	used, err := resident(ctx, server)
	if err != nil {
		return nil, err
	}
	return []row{
		{fmt.Sprintf("start to first healthy answer, %d documents, p50", documents), "≤ 300 ms", ms(quantile(starts, .5)), quantile(starts, .5) <= 300*time.Millisecond},
		{"idle memory after the start; half a minute after the first page; with the page", "≤ 60 MiB", fmt.Sprintf("%s; %s; %s", mib(idle), mib(used), mib(atPage)), max(idle, used) <= 60<<20},
		{"first page load, compressed, with styles and scripts", "≤ 80 KiB", fmt.Sprintf("%.1f KiB", float64(size)/1024), size <= 80<<10},
	}, nil
}

// rest is how long after some work a server is idle.
const rest = 30 * time.Second

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
