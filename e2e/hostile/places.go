//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// checksAtOnce is the server's limit of concurrent checks of one user's places; it refuses more with 429.
const checksAtOnce = 4

// placeCells are places and webhooks of a user with internal addresses, and hostile responses of the places'
// servers.
//
// “Inside” are addresses that only the server's own machine or network can reach: loopback, private and link-local
// addresses, and cloud metadata services. A server that fetches URLs of users must not reach them, or it leaks
// their content (server-side request forgery).
func placeCells() []cell {
	return []cell{
		{name: "place: addresses of the inside", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.followInside(ctx, s.insideAddresses())
			}},
		{name: "place: servers that lead to the inside", keys: true,
			act: func(ctx context.Context, s *site, _ *result) (string, error) {
				var addresses []string
				for _, to := range s.insideAddresses() {
					addresses = append(addresses, s.outside.server.URL+"/to?"+url.Values{"to": {to}}.Encode())
				}
				return s.followInside(ctx, addresses)
			}},
		{name: "place: what no form should send", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.oddPlaces(ctx)
			}},
		{name: "place: files with names that hurt", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.followNames(ctx, r)
			}},
		{name: "place: a list without end", keys: true,
			act: func(ctx context.Context, s *site, _ *result) (string, error) {
				said, err := s.followOutside(ctx, "endless", "/endless/")
				if err == nil && said.Failure == nil {
					err = errors.New("a list without end has no failure")
				}
				return s.unlessInside(fmt.Sprintf("%+v", said.Failure), err)
			}},
		{name: "webhook: addresses of the inside", keys: true,
			act: func(ctx context.Context, s *site, _ *result) (string, error) {
				return s.hookInside(ctx)
			}},
	}
}

// insideAddresses are many spellings of the internal server's address, and other internal addresses.
//
// The first list has spellings of 127.0.0.1 and of ::1 that some parsers accept: with fewer parts, as one number,
// in octal or hexadecimal, with other dots, percent-encoded, mapped into IPv6 or embedded in its prefixes for NAT64
// and 6to4. All get the port of the server that counts. The second has addresses of clouds, of private networks, of
// other schemes, and some with parts that obscure the host.
func (s *site) insideAddresses() []string {
	port := s.outside.insidePort
	hosts := []string{
		"127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "017700000001", "0177.0.0.1",
		"0x7f.0x0.0x0.0x1", "127\u30020\u30020\u30021", "%31%32%37.0.0.1", "localhost", "LOCALHOST", "localhost.",
		"ip6-localhost",
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "[::]", "0.0.0.0", "0", "[fe80::1%25lo]",
	}
	addresses := []string{
		"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/", "http://100.100.100.200/",
		"http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://100.64.0.1/", "http://[fc00::1]/",
		"http://metadata.google.internal/", "file:///etc/passwd", "gopher://127.0.0.1:" + port + "/", "//127.0.0.1/",
		"http://ada:secret@127.0.0.1:" + port + "/", "http://example.org@127.0.0.1:" + port + "/",
		"http://127.0.0.1:" + port + "\\@example.org/", "http://127.0.0.1:" + port + "#@example.org/",
		"http://127.0.0.1:" + port + "/\r\nHost: x", "http://127.0.0.1:99999/", "http://:" + port + "/", "http://",
		"javascript:alert(1)", "http://" + strings.Repeat("a", 300) + ".example/",
		"http://" + strings.Repeat("a.", 900),
	}
	for _, host := range hosts {
		addresses = append(addresses, "http://"+host+":"+port+"/", "https://"+host+":"+port+"/")
	}
	return addresses
}

// placesOf returns drafts of places of all kinds at an address.
//
// The key is the kind, and the value its settings. A kind that takes a server's name gets that of the address.
func placesOf(address string) map[string]map[string]string {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host = u.Host
	}
	if strings.Contains(address, "/to?") { // an HTTP redirect
		host = "[::1]:993"
	}
	return map[string]map[string]string{
		"webpages":  {"urls": address},
		"sitemap":   {"url": address},
		"feed":      {"url": address},
		"webdav":    {"url": address, "username": "ada", "password": "secret"},
		"s3":        {"bucket": "papers", "endpoint": address, "key": "k", "secret": "s"},
		"paperless": {"url": address, "token": "t"},
		"imap":      {"server": host, "username": "ada", "password": "secret"},
		"zotero":    {"library": "users/1", "url": address},
	}
}

// followInside adds places of every kind at each address, by the API and by the form. Each must be refused, and the
// internal server must not be reached.
//
// It sends 16 requests concurrently. Each ninth is sent by the form as well. The outcome counts the statuses.
func (s *site) followInside(ctx context.Context, addresses []string) (string, error) {
	type try struct {
		kind     string
		settings map[string]string
	}
	var tries []try
	for _, address := range addresses {
		drafts := placesOf(address)
		for _, kind := range slices.Sorted(maps.Keys(drafts)) {
			tries = append(tries, try{kind, drafts[kind]})
		}
	}
	problem := &firstProblem{said: map[string]int{}}
	forms := make(chan int)
	var workers sync.WaitGroup
	for range checksAtOnce {
		workers.Go(func() {
			for n := range forms {
				t := tries[n]
				got, err := s.postJSON(ctx, s.attack, "/places", map[string]any{"kind": t.kind, "settings": t.settings})
				problem.note("POST /places", t.settings, got, err)
				if n%9 == 0 { // the form uses the same code
					got, err = s.postForm(ctx, "/places", placeForm(t.kind, t.settings))
					problem.note("POST /places as a form", t.settings, got, err)
				}
			}
		})
	}
	for n := range tries {
		select {
		case forms <- n:
		case <-ctx.Done():
		}
	}
	close(forms)
	workers.Wait()
	return s.unlessInside(fmt.Sprintf("%d places: %v", len(tries), problem.said), errors.Join(problem.err, ctx.Err()))
}

// firstProblem counts responses, and records the first that is not a refusal.
type firstProblem struct {
	mu   sync.Mutex
	said map[string]int // by status
	err  error
}

func (p *firstProblem) note(what string, sent any, got answer, err error) {
	// 503: no server responds there.
	no := got.status == http.StatusBadRequest || got.status == http.StatusServiceUnavailable
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[fmt.Sprint(got.status)]++
	if err == nil && no && !strings.Contains(string(got.body), insideText) {
		return
	}
	if p.err == nil {
		p.err = fmt.Errorf("%s with %.300v: status %d, %w: %s", what, sent, got.status, err, clipBytes(got.body))
	}
}

// unlessInside returns the outcome, with an error if the internal server was reached.
func (s *site) unlessInside(outcome string, err error) (string, error) {
	if n := s.outside.inside.Load(); n > 0 {
		err = errors.Join(err, fmt.Errorf("the server inside was reached %d times", n))
	}
	return outcome, err
}

func placeForm(kind string, settings map[string]string) url.Values {
	form := url.Values{"kind": {kind}, "schedule": {"day"}}
	for name, value := range settings {
		form.Set("settings."+name, value)
	}
	return form
}

// postForm sends a form like the attacker's browser.
func (s *site) postForm(ctx context.Context, path string, form url.Values) (answer, error) {
	return s.sendRequest(ctx, s.attack, http.MethodPost, path, "text/html", "application/x-www-form-urlencoded",
		strings.NewReader(form.Encode()))
}

// oddTexts are invalid values for every field of a place: empty, invisible, with control characters, too long,
// invalid UTF-8, of another syntax, or numbers over a limit.
var oddTexts = []string{
	"", " ", "\x00", "\x1b[2J", "a\nb", "a\u202eb", "a/b", "../..", "..", ".", "\\", strings.Repeat("n", 300),
	strings.Repeat("é", 150), strings.Repeat("a", 1<<20), "\xff\xfe", "<script>hostile()</script>", "' OR 1=1 --",
	"%2e%2e%2f", "{", "null", strings.Repeat("[", 50_000), "-1", "9223372036854775808",
}

// oddPlaces sends invalid requests to the routes of places and webhooks, which must respond with a status of at
// most 499.
//
// Each value is sent in every field of every route, as JSON, as a form, as a path and as a query. Paths and queries
// are cut at 2,000 bytes, so that the request is not refused for its length alone.
func (s *site) oddPlaces(ctx context.Context) (string, error) {
	const asJSON = "application/json"
	n := 0
	for _, odd := range oddTexts {
		draft, err := json.Marshal(map[string]any{"kind": odd, "name": odd, "namespace": odd, "schedule": odd,
			"settings": map[string]string{odd: odd, "url": odd, "urls": odd}})
		if err != nil {
			return "", err
		}
		named, err := json.Marshal(map[string]any{
			"kind": "webdav", "name": odd, "schedule": "day",
			"settings": map[string]string{"url": s.outside.server.URL},
		})
		if err != nil {
			return "", err
		}
		id := "/places/" + url.PathEscape(odd[:min(len(odd), 2000)])
		query := "?" + url.Values{"cursor": {odd[:min(len(odd), 2000)]}, "limit": {"5"}, "state": {"refused"},
			"kind": {odd[:min(len(odd), 2000)]}, "documents": {odd[:min(len(odd), 100)]}}.Encode()
		form := url.Values{"kind": {odd}, "name": {odd}, "paused": {odd}, "settings.url": {odd}, "url": {odd}}
		for _, sent := range []struct{ method, path, kind, body string }{
			{"POST", "/places", asJSON, string(draft)}, {"POST", "/places", asJSON, odd},
			{"POST", "/places", asJSON, string(named)}, {"GET", "/places" + query, "", ""},
			{"GET", "/places/kinds" + query, "", ""}, {"GET", id, "", ""}, {"PATCH", id, asJSON, string(draft)},
			{"DELETE", id + query, "", ""}, {"POST", id + "/look", asJSON, odd}, {"GET", id + "/items" + query, "", ""},
			{"POST", id + "?_method=PATCH", formType, form.Encode()}, {"GET", "/places/new" + query, "", ""},
			{"POST", "/places", formType, form.Encode()}, {"POST", "/places", formType, odd},
			{"PUT", "/standing/webhook", asJSON, odd},
			{"POST", "/standing/webhook?_method=PUT", formType, form.Encode()},
			{"PUT", "/standing/webhook", asJSON, fmt.Sprintf(`{"url":%q}`, odd)},
		} {
			got, err := s.sendRequest(ctx, s.attack, sent.method, sent.path, "text/html, application/json", sent.kind,
				strings.NewReader(sent.body))
			if err != nil {
				return "", fmt.Errorf("%s %.80s with %.40q: %w", sent.method, sent.path, odd, err)
			}
			if got.status >= http.StatusInternalServerError || strings.Contains(string(got.body), "<script>hostile") {
				return "", fmt.Errorf("%s %.80s with %.40q: status %d: %s", sent.method, sent.path, odd, got.status,
					clipBytes(got.body))
			}
			n++
		}
	}
	return s.unlessInside(fmt.Sprintf("%d requests, none above 499", n), nil)
}

const formType = "application/x-www-form-urlencoded"

// place is a place in the server's response.
type place struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	LookedAt string `json:"looked_at"`
	Items    int    `json:"items"`
	Failure  *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"failure"`
}

// followOutside adds a folder of the outside server, and returns the place after its first sync.
func (s *site) followOutside(ctx context.Context, name, path string) (place, error) {
	return s.follow(ctx, "webdav", name, map[string]string{"url": s.outside.server.URL + path})
}

// followNames syncs a folder whose files have hostile names, and opens the pages with them.
func (s *site) followNames(ctx context.Context, r *result) (string, error) {
	p, err := s.followOutside(ctx, "odd names", "/names/")
	if err != nil {
		return "", err
	}
	const none, plain = 1, 1 // ".." is not a file of the folder; one file has a normal name
	if want := len(hostileNames) - none + plain; p.Failure != nil || p.Items != want {
		r.noteProblem("the place has %d items and says %+v, want %d items", p.Items, p.Failure, want)
	}
	documents, err := s.getPath(ctx, s.attack, "/documents?limit=100", "application/json")
	if err != nil {
		return "", err
	}
	var list struct {
		Documents []struct {
			Path string `json:"path"`
		} `json:"documents"`
	}
	if err := json.Unmarshal(documents.body, &list); err != nil || len(list.Documents) == 0 {
		return "", fmt.Errorf("GET /documents: %w: %s", err, clipBytes(documents.body))
	}
	for _, d := range list.Documents {
		if !strings.HasPrefix(d.Path, "odd names/") || strings.Contains(d.Path, "/../") || len(d.Path) > 1200 {
			r.noteProblem("a document lies at %.200q, want it below the place", d.Path)
		}
	}
	for _, at := range []string{"/places", "/documents", "/places/" + p.ID + "/items?limit=100"} {
		page, err := s.getPath(ctx, s.attack, at, "text/html, application/json")
		if err != nil || page.status != http.StatusOK {
			return "", fmt.Errorf("GET %s: status %d, %w: %s", at, page.status, err, clipBytes(page.body))
		}
		if strings.Contains(string(page.body), "<script>hostile") {
			r.noteProblem("GET %s has a name's elements as its own", at)
		}
	}
	return s.unlessInside(fmt.Sprintf("%d items, %d documents", p.Items, len(list.Documents)), nil)
}

// hookInside sets each address as the webhook, and checks that no message is delivered inside. For accepted ones it
// waits until the delivery has failed: that check is decisive, since a name may resolve differently later.
func (s *site) hookInside(ctx context.Context) (string, error) {
	taken, refused := 0, 0
	for _, address := range append(s.insideAddresses(), s.outside.server.URL+"/to?to=http://127.0.0.1:"+
		s.outside.insidePort+"/") {
		body, err := json.Marshal(map[string]string{"url": address})
		if err != nil {
			return "", err
		}
		got, err := s.sendRequest(ctx, s.attack, http.MethodPut, "/standing/webhook", "application/json",
			"application/json", strings.NewReader(string(body)))
		if err != nil || got.status >= http.StatusInternalServerError {
			return "", fmt.Errorf("PUT /standing/webhook with %.80q: status %d, %w: %s", address, got.status, err,
				clipBytes(got.body))
		}
		if got.status != http.StatusOK {
			refused++
			continue
		}
		if err := s.waitNotified(ctx, address); err != nil {
			return "", err
		}
		taken++
	}
	return s.unlessInside(fmt.Sprintf("%d addresses refused, %d never reached", refused, taken), nil)
}

// waitNotified waits until the delivery of the webhook's first message has failed.
func (s *site) waitNotified(ctx context.Context, address string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := s.getPath(ctx, s.attack, "/standing/webhook", "application/json")
		if err != nil {
			return err
		}
		var state struct {
			SentAt   *string `json:"sent_at"`
			FailedAt *string `json:"failed_at"`
			Trouble  string  `json:"trouble"`
		}
		if err := json.Unmarshal(got.body, &state); err != nil {
			return fmt.Errorf("GET /standing/webhook: %w: %s", err, clipBytes(got.body))
		}
		if state.SentAt != nil || strings.Contains(state.Trouble, insideText) {
			return fmt.Errorf("a webhook at %.80q was told, or says what is inside: %s", address, got.body)
		}
		if state.FailedAt != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a webhook at %.80q: %w", address, ctx.Err())
		case <-tick.C:
		}
	}
}
