package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path"
	"regexp"
	"time"
)

// starting restarts a server with a library of 10,000 documents.
//
// It measures the cost of a restart: the time to the first healthy response (limit 300 ms), the memory at rest (60
// MiB), and the bytes that the first page loads (80 KiB). Before, it measures first starts (60 ms of CPU). All are for
// the embedded mode, which is the most common. The documents are short, one section each: their number is what could
// slow down a start.
func benchStart(ctx context.Context, b *bench) (rows []row, err error) {
	first, err := b.firstStart(ctx)
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	documents := b.scaleTimes(10_000)
	// In batches of five hundred, to limit the memory used here.
	for first := 0; first < documents; first += 500 {
		files := map[string][]byte{}
		for i := first; i < min(documents, first+500); i++ {
			files[fmt.Sprintf("doc-%d.md", i)] = makeMarkdown(uint64(i), 1)
		}
		if _, err := uploadFiles(ctx, server, files); err != nil {
			return nil, errors.Join(err, server.stop())
		}
	}
	if err := server.stop(); err != nil {
		return nil, err
	}
	var starts []time.Duration
	// The last of the five servers is used for the rest.
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
	idle, err := steadyMemory(ctx, server, anonymous)
	if err != nil {
		return nil, err
	}
	size, err := pageLoad(ctx, server)
	if err != nil {
		return nil, err
	}
	atPage, err := steadyMemory(ctx, server, anonymous)
	if err != nil {
		return nil, err
	}
	// The page's memory is returned to the operating system after a while, so the memory is read again later.
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(rest):
	}
	used, err := steadyMemory(ctx, server, anonymous)
	if err != nil {
		return nil, err
	}
	return []row{
		{
			"CPU of a start with an empty data directory to the first healthy answer, lowest of 20", "≤ 60 ms",
			inMilliseconds(first), first <= 60*time.Millisecond,
		},
		{fmt.Sprintf(
			"start to first healthy answer, %d documents, p50", documents,
		), "≤ 300 ms", inMilliseconds(quantileOf(starts, .5)), quantileOf(starts, .5) <= 300*time.Millisecond},
		{
			"memory at rest (RssAnon) after the start; half a minute after the first page; with the page", "≤ 60 MiB",
			fmt.Sprintf("%s; %s; %s", inMiB(idle), inMiB(used), inMiB(atPage)), max(idle, used) <= 60<<20,
		},
		{"first page load, compressed, with styles and scripts", "≤ 80 KiB", fmt.Sprintf(
			"%.1f KiB", float64(size)/1024,
		), size <= 80<<10},
	}, nil
}

// firstStart returns the CPU time from a start with an empty data directory to the first healthy response, the lowest
// of 20. The server is killed then, since its exact CPU time is known only at its end.
func (b *bench) firstStart(ctx context.Context) (time.Duration, error) {
	lowest := time.Duration(math.MaxInt64)
	for range 20 {
		data, err := os.MkdirTemp("", "footnote-bench-")
		if err != nil {
			return 0, err
		}
		server, err := b.startFootnote(ctx, data, nil)
		if err == nil {
			err = server.cmd.Process.Kill()
			_ = server.cmd.Wait() // reports the kill
		}
		if err := errors.Join(err, os.RemoveAll(data)); err != nil {
			return 0, err
		}
		lowest = min(lowest, server.cmd.ProcessState.UserTime()+server.cmd.ProcessState.SystemTime())
	}
	return lowest, nil
}

// anonymous is the field of the process's private memory. VmRSS also counts pages of the program file, which are
// shared and reclaimable.
const anonymous = "RssAnon"

// rest is the time after which a server is idle. Half a minute is arbitrary; the row's name contains it.
const rest = 30 * time.Second

// asset matches the page's links to the server's own files, and imported a script's relative imports.
var (
	asset    = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)
	imported = regexp.MustCompile(`(?m)^import\s(?:[^'"\n]*\sfrom\s)?'([^']+)'`)
)

// pageLoad returns the transferred bytes of the page, its links, and the imports of its scripts, without headers.
//
// It follows links and imports like a browser on a first visit with an empty cache. Sizes are those of the
// compressed responses; each page and script is fetched again uncompressed to be parsed. Fonts and images in a
// style sheet are not followed.
func pageLoad(ctx context.Context, server *process) (int, error) {
	_, size, err := fetchURL(ctx, server.url+"/", true)
	if err != nil {
		return 0, err
	}
	plain, _, err := fetchURL(ctx, server.url+"/", false)
	if err != nil {
		return 0, err
	}
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, found := range asset.FindAllSubmatch(plain, -1) {
		add(string(found[1]))
	}
	for i := 0; i < len(names); i++ {
		_, n, err := fetchURL(ctx, server.url+names[i], true)
		if err != nil {
			return 0, err
		}
		size += n
		if path.Ext(names[i]) != ".js" {
			continue
		}
		script, _, err := fetchURL(ctx, server.url+names[i], false)
		if err != nil {
			return 0, err
		}
		for _, found := range imported.FindAllSubmatch(script, -1) {
			add(path.Join(path.Dir(names[i]), string(found[1])))
		}
	}
	return size, nil
}

// fetchURL returns the body and its transferred bytes. The header is set by hand, so that Go's client does not
// decode the body: a compressed body can't be read as text.
func fetchURL(ctx context.Context, url string, compressed bool) ([]byte, int, error) {
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
