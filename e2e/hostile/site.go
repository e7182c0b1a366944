//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/e2e/scripted"
)

// warranty is the bystander's document, and the context of many questions. The model's quick answers are about it.
const warranty = `# Warranty

The warranty covers the boiler for twelve years. It was signed by Ada Brown in March 2024.
`

// site is a server under attack, with its scripted model and its users.
//
// Each cell has one. close stops all of it and removes the directory.
type site struct {
	*tried
	binary   string   // a link to the program
	env      []string // of the server
	server   *process
	model    *httptest.Server
	tool     *httptest.Server // an external tool server of the model
	pages    *httptest.Server // web pages to add
	outside  *outside         // servers of places
	dir      string
	data     string
	database string // URL of PostgreSQL; empty: SQLite
	idle     int64  // VmRSS of the server at rest in bytes
	disk     int64  // disk usage of the data directory and the database at rest in bytes
	client   *http.Client
	bystand  string // key of the bystander; empty without keys
	attack   string // key of the attacker; empty without keys
}

// newSite prepares a data directory with one small document of the bystander's, and starts a server on it.
//
// It starts the server twice: once to add the document, and once more so that disk and memory are measured at rest.
// Three questions warm it up. On error all processes are stopped. With keys, there is one for the bystander and one
// for the attacker, and the server requires one.
func newSite(ctx context.Context, w *tried, keys bool, env []string) (s *site, err error) {
	dir, err := os.MkdirTemp("", "footnote-hostile-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	s = &site{tried: w, dir: dir, data: filepath.Join(dir, "data"), client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err = os.Mkdir(s.data, 0o700); err != nil {
		return s, fmt.Errorf("make the data directory: %w", err)
	}
	if err = os.Symlink(w.cache, filepath.Join(s.data, "cache")); err != nil {
		return s, fmt.Errorf("share the cache: %w", err)
	}
	s.model = httptest.NewServer(scripted.NewServer(scripted.Config{Script: hostileScript}))
	s.binary = filepath.Join(dir, "footnote")
	// A hard link, so that the cell that removes the program removes only this name.
	if err = os.Link(w.binary, s.binary); err != nil {
		return s, fmt.Errorf("link the program: %w", err)
	}
	s.tool, s.pages, s.outside = serveTool(), servePages(), newOutside()
	// The environment is nearly empty: no key and no setting of the caller is used.
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "FOOTNOTE_CONFIG=", "FOOTNOTE_LOG_LEVEL=warn",
		"OPENAI_API_KEY=scripted", "OPENAI_BASE_URL=" + s.model.URL + "/v1", "OPENAI_MODEL=scripted",
		`FOOTNOTE_MCP_SERVERS={"outside":{"url":"` + s.tool.URL + `","approve":"never"}}`,
		"FOOTNOTE_PLACES_ALLOW=" + s.pages.Listener.Addr().String() + "," + s.outside.host(),
	}
	s.env = append(s.env, env...)
	if s.database, err = w.nextDatabase(ctx); err != nil {
		return s, fmt.Errorf("make a database: %w", err)
	}
	if s.database != "" {
		s.env = append(s.env, "DATABASE_URL="+s.database)
	}
	if keys {
		for name, key := range map[string]*string{"bystander": &s.bystand, "attacker": &s.attack} {
			if *key, err = newKey(ctx, s.binary, s.data, name, s.env); err != nil {
				return s, err
			}
		}
	}
	if err = s.startServer(ctx); err != nil {
		return s, err
	}
	if _, err = s.uploadFile(ctx, s.bystand, "warranty.md", []byte(warranty)); err != nil {
		return s, err
	}
	s.server.stopServer() // a stopped database is one file
	if s.disk, err = s.storedBytes(ctx); err != nil {
		return s, fmt.Errorf("measure the disk: %w", err)
	}
	if err = s.startServer(ctx); err != nil {
		return s, err
	}
	for range 3 { // a warm-up, which is not counted as the attack
		if _, err = s.quickQuestion(ctx); err != nil {
			return s, err
		}
	}
	s.idle = memoryOf(s.server.cmd.Process.Pid, "VmRSS")
	return s, nil
}

// startServer starts the server, also again with the same directory and environment.
func (s *site) startServer(ctx context.Context) (err error) {
	s.server, err = startServer(ctx, s.binary, s.data, filepath.Join(s.dir, "server.log"), s.env)
	return err
}

// storedByQuestion returns the disk usage of one question of the bystander in bytes. It is the average of 60 on a
// separate server.
func storedByQuestion(ctx context.Context, w *tried) (bytes int64, err error) {
	const questions = 60
	s, err := newSite(ctx, w, false, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for range questions {
		if _, err := s.quickQuestion(ctx); err != nil {
			return 0, err
		}
	}
	s.server.stopServer()
	after, err := s.storedBytes(ctx)
	return (after - s.disk) / questions, err
}

// close stops all parts of the site, including hanging connections.
func (s *site) close() error {
	if s.server != nil {
		s.server.stopServer()
	}
	if s.model != nil {
		s.model.CloseClientConnections()
		s.model.Close()
	}
	if s.tool != nil {
		s.tool.CloseClientConnections()
		s.tool.Close()
	}
	if s.pages != nil {
		s.pages.CloseClientConnections()
		s.pages.Close()
	}
	if s.outside != nil {
		s.outside.close()
	}
	return os.RemoveAll(s.dir)
}

// newKey creates a key like an operator. The command prints only the key.
func newKey(ctx context.Context, binary, data, name string, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "key", "new", name, "--data="+data)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// answer is a response, read completely, at most 64 MiB. took is from before the request to the last byte.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// sendRequest sends one request with a user's key. body may be nil; contentType is that of the body. An error
// status is not an error. key may be empty.
func (s *site) sendRequest(
	ctx context.Context, key, method, path, accept, contentType string, body io.Reader,
) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.server.url+path, body)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept", accept)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	begun := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	return answer{resp.StatusCode, resp.Header, got, time.Since(begun)}, err
}

// getPath sends a GET request.
func (s *site) getPath(ctx context.Context, key, path, accept string) (answer, error) {
	return s.sendRequest(ctx, key, http.MethodGet, path, accept, "", nil)
}

// postJSON sends a value as JSON and expects JSON.
func (s *site) postJSON(ctx context.Context, key, path string, value any) (answer, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return answer{}, err
	}
	return s.sendRequest(ctx, key, http.MethodPost, path, "application/json", "application/json", bytes.NewReader(body))
}

// document is the response of GET /documents/{id}. Error is nil unless its state is failed.
type document struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Error *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
}

// describeOutcome returns its state, and the error if it failed.
func (d document) describeOutcome() string {
	if d.Error != nil {
		return d.State + ": " + d.Error.Detail
	}
	return d.State
}

// putFile uploads one file and returns the immediate response. It does not wait until the file is parsed.
func (s *site) putFile(ctx context.Context, key, name string, content []byte) (answer, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("files", name)
	if err != nil {
		return answer{}, err
	}
	if _, err := part.Write(content); err != nil {
		return answer{}, err
	}
	if err := form.Close(); err != nil {
		return answer{}, err
	}
	return s.sendRequest(ctx, key, http.MethodPost, "/documents", "application/json", form.FormDataContentType(), &body)
}

// added is the response of POST /documents. A file is in one of the two lists.
type added struct {
	Documents []document `json:"documents"`
	Rejected  []struct {
		Detail string `json:"detail"`
	} `json:"rejected"`
}

// uploadFile uploads one file and waits until it is ready, failed or refused. A refusal is not an error: it is the
// returned state. It returns an error if the server died, sent another response, or the document reached no final
// state.
func (s *site) uploadFile(ctx context.Context, key, name string, content []byte) (document, error) {
	got, err := s.putFile(ctx, key, name, content)
	if err != nil {
		return document{}, fmt.Errorf("upload %s: %w", name, err)
	}
	var said added
	if err := json.Unmarshal(got.body, &said); err != nil {
		return document{}, fmt.Errorf("upload %s: status %d: %s", name, got.status, clipBytes(got.body))
	}
	if len(said.Rejected) > 0 {
		return document{State: fmt.Sprintf("refused (%d): %s", got.status, said.Rejected[0].Detail)}, nil
	}
	if len(said.Documents) != 1 {
		return document{}, fmt.Errorf("upload %s: status %d: %s", name, got.status, clipBytes(got.body))
	}
	return s.waitSettled(ctx, key, said.Documents[0].ID)
}

// waitSettled waits for a document's final state. It polls every 100 ms until ctx ends or the server dies.
func (s *site) waitSettled(ctx context.Context, key, id string) (document, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return document{}, fmt.Errorf("document %s is neither ready nor failed: %w", id, ctx.Err())
		case <-s.server.ended:
			return document{}, errServerDied
		case <-tick.C:
		}
		got, err := s.getPath(ctx, key, "/documents/"+id, "application/json")
		if err != nil {
			continue // the next poll detects the server's end
		}
		var d document
		if json.Unmarshal(got.body, &d) == nil && (d.State == "ready" || d.State == "failed") {
			return d, nil
		}
	}
}

// errServerDied ends a wait after the server's death.
var errServerDied = errors.New("the server died")

// clipBytes returns the start of a body, at most 300 bytes, for messages.
func clipBytes(b []byte) string { return string(b[:min(len(b), 300)]) }
