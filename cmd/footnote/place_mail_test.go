package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/footnote/footnote/e2e/scripted"
)

// A mail server may renumber a folder (UIDVALIDITY), which renames all its mails: the sync creates no duplicate,
// loses no mail, and removes deleted mails.
func TestRenumberedMailFolderChangesNothing(t *testing.T) {
	t.Parallel()
	user := imapmemserver.NewUser("ada", "secret")
	address := serveMails(t, user)
	fill := func(from, to int) {
		if err := user.Create("Deeds", nil); err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			mail := fmt.Sprintf("From: ada@example.com\r\nSubject: Deed\r\n"+
				"Date: Wed, 04 Mar 2026 10:00:00 +0100\r\n\r\nThe parcel %d was sold.\r\n", n)
			_, err := user.Append("Deeds", mailText{bytes.NewReader([]byte(mail))}, &imap.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(0, 40)
	s := serve(t, newDir(t))
	place := s.followPlace(fmt.Sprintf(`{"kind":"imap","name":"mails","schedule":"request","settings":{
		"server":%q,"username":"ada","password":"secret","folder":"Deeds"}}`, address))
	before := s.byPath()
	if len(before) != 40 {
		t.Fatalf("%d documents, want 40", len(before))
	}
	if err := user.Delete("Deeds"); err != nil {
		t.Fatal(err)
	}
	fill(0, 40)
	state := s.look(place)
	if state.Failure != nil || state.Items != 40 || state.LastLook.Added != 0 || state.LastLook.Removed != 0 {
		t.Errorf("once it is numbered anew: %+v, want 40 items and nothing added or removed", state)
	}
	ids := func(documents map[string]string) map[string]bool {
		all := map[string]bool{}
		for _, id := range documents {
			all[id] = true
		}
		return all
	}
	after := s.byPath()
	if len(after) != 40 || !maps.Equal(ids(after), ids(before)) {
		t.Errorf("%d documents, want the 40 of before", len(after))
	}
	if err := user.Delete("Deeds"); err != nil {
		t.Fatal(err)
	}
	fill(10, 45) // ten were deleted, five added, and all are renumbered
	state = s.look(place)
	if state.Failure != nil || state.LastLook.Added != 5 || state.LastLook.Removed != 10 || len(s.byPath()) != 35 {
		t.Errorf("numbered anew and changed: %+v and %d documents, want 5 added, 10 removed, 35", state,
			len(s.byPath()))
	}
}

// byPath returns the ids of all documents by path.
func (s *server) byPath() map[string]string {
	all := map[string]string{}
	for _, d := range s.listDocuments() {
		all[d.Path] = d.ID
	}
	return all
}

type mailText struct{ *bytes.Reader }

// serveMails starts a mail server for one user, and returns its address.
func serveMails(t *testing.T, user *imapmemserver.User) string {
	t.Helper()
	memory := imapmemserver.New()
	memory.AddUser(user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// tags matches the ETags in a WebDAV listing.
var tags = regexp.MustCompile(`<[a-zA-Z0-9]+:getetag>[^<]*</[a-zA-Z0-9]+:getetag>|<[a-zA-Z0-9]+:getetag */>`)

// allFaults are the faults of servers of places that report wrong dates or are broken.
func allFaults() []serverFault {
	return []serverFault{
		{what: "has one date for all, and tags of files only", changes: true, sees: true,
			alters: func(r *http.Response) error {
				r.Header.Set("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT")
				return withoutTags(r)
			}},
		{what: "has dates in the future, and no tags", changes: true, sees: true,
			alters: func(r *http.Response) error {
				r.Header.Set("Last-Modified", "Sat, 01 Jan 2061 00:00:00 GMT")
				r.Header.Del("ETag")
				return withoutTags(r)
			}},
		{what: "is full of 404 for files", changes: true,
			answers: some(3, http.MethodGet, http.StatusNotFound)},
		{what: "is full of 500 for files", changes: true,
			answers: some(3, http.MethodGet, http.StatusInternalServerError)},
		{what: "is full of 503 for files", changes: true,
			answers: some(2, http.MethodGet, http.StatusServiceUnavailable)},
		{what: "is full of 403 for files", changes: true,
			answers: some(2, http.MethodGet, http.StatusForbidden)},
		{what: "is full of 404 for folders", answers: some(3, "PROPFIND", http.StatusNotFound)},
		{what: "is full of 500 for folders", answers: some(3, "PROPFIND", http.StatusInternalServerError)},
		{what: "is down", answers: some(1, "", http.StatusBadGateway)},
		{what: "forgot its password", answers: some(1, "", http.StatusUnauthorized)},
		{what: "breaks every connection off", answers: func(http.ResponseWriter, *http.Request) bool {
			panic(http.ErrAbortHandler)
		}},
		{what: "says that nothing is there", answers: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != "PROPFIND" {
				return false
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, emptyList) // the client may have disconnected
			return true
		}},
		{what: "breaks its lists off", alters: func(r *http.Response) error {
			if r.StatusCode != http.StatusMultiStatus {
				return nil
			}
			return edit(r, func(body []byte) []byte { return body[:len(body)*2/3] })
		}},
	}
}

const emptyList = `<d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/</d:href><d:propstat><d:prop>
	<d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
	</d:response></d:multistatus>`

// withoutTags removes the ETags from a listing.
func withoutTags(r *http.Response) error {
	if r.StatusCode != http.StatusMultiStatus {
		return nil
	}
	return edit(r, func(body []byte) []byte { return tags.ReplaceAll(body, nil) })
}

// edit changes the body of a response.
func edit(r *http.Response, change func([]byte) []byte) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	body = change(body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// some answers one in every so many requests of a method, or of any method if that is empty, with a status.
func some(every int64, method string, status int) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		if method != "" && r.Method != method || n.Add(1)%every != 0 {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}

// A passage that starts on the first page and ends on the second: every reported place is that of the quoted words,
// not of the passage.
func TestPositionsMatchQuotedWords(t *testing.T) {
	t.Parallel()
	const words = "The drawbridge is painted dark green"
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		switch r.Turn() {
		case 0:
			return calling("search_documents", `{"query":"drawbridge painted"}`)
		case 1:
			return calling("cite_source", `{"cited_text":"`+words+`","block_id":"b2","citation_number":1}`)
		case 2:
			return calling("open_document", `{"citation_number":1,"reason":"It stands here"}`)
		case 3:
			return calling("grep_documents", `{"pattern":"dark green"}`)
		case 4:
			return calling("read_document", `{"doc_id":"plan.pdf"}`)
		}
		return saying(words + " [1].")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"plan.pdf", pdfOf("The first sheet shows the river and the weir.", words+" and has two oak beams.")})

	type hit struct {
		Metadata struct {
			Page int
			URL  string
		}
	}
	for _, path := range []string{"/search", "/agent/retrieve"} {
		r := s.send("POST", path, `{"query":"drawbridge painted","mode":"lexical"}`)
		var got struct {
			Results, Chunks []hit
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatalf("%s: %v in %s, want no error", path, err, r.body)
		}
		hits := append(got.Results, got.Chunks...)
		if len(hits) != 1 || hits[0].Metadata.Page != 2 || !strings.HasSuffix(hits[0].Metadata.URL, "&page=2") {
			t.Errorf("%s found %+v, want page 2: %s", path, hits, r.body)
		}
	}

	log := s.run("How is the drawbridge painted?")
	if log.answer == nil || len(log.answer.Citations) != 1 {
		t.Fatalf("answered %+v, want 1 citation", log.answer)
	}
	if c := log.answer.Citations[0]; c.Page != 2 || c.BlockID != "b2" || len(c.Boxes) != 1 || c.Boxes[0][0] != 2 {
		t.Errorf("citation has page %d, block %s, boxes %v, want page 2, b2", c.Page, c.BlockID, c.Boxes)
	}
	want := map[string]string{
		"search_documents": `"block_id":"b2","page":2,`, "cite_source": `"block_id":"b2","page":2,`,
		"open_document":  `"block_id":"b2","page":2,`,
		"grep_documents": `"block_id":"b2","page":2`, "read_document": `(b1–b2, p. 1–2`,
	}
	for _, step := range log.steps {
		if part, ok := want[step.ToolName]; ok && len(step.ToolOutput) > 0 {
			delete(want, step.ToolName)
			if !strings.Contains(string(step.ToolOutput), part) {
				t.Errorf("output of %s = %s, want %s in it", step.ToolName, step.ToolOutput, part)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no output of the tools %v", want)
	}
	asked := m.asked()
	if last := asked[len(asked)-1]; !strings.Contains(last,
		`\"block_id\":\"b1\",\"last_block_id\":\"b2\",\"page\":1,\"last_page\":2`) {
		t.Errorf("request lacks the blocks and pages of the passage: %s", last)
	}
	if r := s.send("GET", log.answer.Citations[0].URL, nil); !strings.Contains(r.body, `data-page="2"`) {
		t.Error("viewer lacks page 2")
	}
}

// Search results report their place in the terms of their format, on the page and in the API.
func TestSearchResultsReportPosition(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(
		file{"invoices.csv", "Number,Payer,Amount\n1,Harrow,20.00\n2,Quillfeather,30.00\n"},
		file{"gutter.py", "import os\n\n\ndef clear(downpipe):\n    return os.name\n"},
		file{"damp.ipynb", `{"cells":[{"cell_type":"markdown","source":"# Damp"},` +
			`{"cell_type":"markdown","source":"The hygrometer read ninety."}]}`},
		file{"rents.md", "# Rents\n\n| Flat | Tenant |\n|---|---|\n| 1 | Ashby |\n| 2 | Wolverton |\n"},
	)
	for query, want := range map[string]string{
		"Quillfeather": "row 3", "downpipe": "line 4", "hygrometer": "cell 2", "Wolverton": "Rents, row 3",
	} {
		r := s.send("POST", "/search", `{"query":"`+query+`","mode":"lexical"}`)
		var got struct {
			Results []struct{ Metadata struct{ Place string } }
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || len(got.Results) != 1 {
			t.Fatalf("%s: %v in %s, want one hit", query, err, r.body)
		}
		if place := got.Results[0].Metadata.Place; place != want {
			t.Errorf("position of %s = %q, want %q", query, place, want)
		}
		if r := s.send("GET", "/find?q="+query, nil); !strings.Contains(r.body, want) {
			t.Errorf("page lacks the position of %s: %q", query, want)
		}
	}
}

// passedOnBy are headers that proxies and content delivery networks add to requests.
var passedOnBy = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Server", "X-Real-Ip", "Via",
	"Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "Fastly-Client-Ip",
	"X-Original-Forwarded-For",
}

// insider is a server on loopback that counts its requests. It is also a WebDAV server with one file.
type insider struct {
	*httptest.Server
	visits atomic.Int64
	to     string // URL of the WebDAV server's file
}

const insideWords = "The words of the machine itself."

func newInsider(t *testing.T, to string) *insider {
	i := &insider{to: to}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.visits.Add(1)
		switch {
		case r.Method == "PROPFIND":
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, strings.Replace(emptyList, "</d:multistatus>",
				`<d:response><d:href>/dav/a.md</d:href>
				<d:propstat><d:prop><d:resourcetype/><d:getetag>"1"</d:getetag></d:prop>
				<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`, 1))
		case i.to != "":
			w.Header().Set("Location", i.to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, "# A file\n\n"+insideWords+"\n")
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// TestProxiedRequestsCannotReachInternalHosts covers a server without keys on loopback: background work for a proxied
// request has the same network restrictions as the request itself.
func TestProxiedRequestsCannotReachInternalHosts(t *testing.T) {
	t.Parallel()
	target := newInsider(t, "")
	public := newInsider(t, target.URL+"/a.md") // acts as a server on the public internet
	u, err := url.Parse(public.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, newDir(t), "FOOTNOTE_PLACES_ALLOW="+u.Host)
	hook := func(headers ...header) string {
		t.Helper()
		r := s.send("PUT", "/standing/webhook", fmt.Sprintf(`{"url":%q}`, target.URL), headers...)
		if r.status != http.StatusOK {
			t.Fatalf("PUT /standing/webhook = %d %s", r.status, r.body)
		}
		var state string
		eventually(t, "the webhook's first message was tried", func() bool {
			state = s.send("GET", "/standing/webhook", nil).body
			return !strings.Contains(state, `"sent_at":null`) || !strings.Contains(state, `"failed_at":null`)
		})
		return state
	}
	place := func(name, at string, headers ...header) (id, state string) {
		t.Helper()
		r := s.send("POST", "/places", fmt.Sprintf(
			`{"kind":"webdav","name":%q,"schedule":"request","settings":{"url":"%s/dav/"}}`, name, at), headers...)
		if r.status != http.StatusCreated {
			return "", r.body
		}
		id = loose[struct{ ID string }](t, r.body).ID
		eventually(t, "the place was looked at", func() bool {
			state = s.send("GET", "/places/"+id, nil).body
			return strings.Contains(state, `"looked_at"`) && !strings.Contains(state, `"state":"looking"`)
		})
		return id, state
	}
	for n, name := range passedOnBy {
		by := header{name, "192.0.2.1"}
		if state := hook(by); target.visits.Load() > 0 || !strings.Contains(state, "not on the public internet") {
			t.Fatalf("%s: internal webhook was delivered: %s", name, state)
		}
		if id, said := place(name, target.URL, by); id != "" || !strings.Contains(said, "not on the public internet") {
			t.Errorf("%s: internal source is followed: %s", name, said)
		}
		if n > 1 {
			continue // the rest is the same flag
		}
		if _, state := place("public "+name, public.URL, by); target.visits.Load() > 0 ||
			strings.Contains(s.send("GET", "/documents", nil).body, "public "+name+"/a.md") {
			t.Fatalf("%s: redirect reached an internal address: %s", name, state)
		}
	}
	if state := hook(); target.visits.Load() == 0 || strings.Contains(state, "trouble") {
		t.Errorf("local user's webhook was not delivered: %s", state)
	}
	id, state := place("mine", target.URL)
	if id == "" || strings.Contains(state, "failure") || !strings.Contains(state, `"items":1`) {
		t.Errorf("local user's internal source is not followed: %s", state)
	}
	// A proxied change revokes the access; the local user's change restores it.
	change := func(headers ...header) int {
		return s.send("PATCH", "/places/"+id, `{"settings":{}}`, headers...).status
	}
	if got := change(header{"Via", "1.1 x"}); got != http.StatusBadRequest {
		t.Errorf("a proxied change of a place inside = %d, want 400", got)
	}
	if got := change(); got != http.StatusOK {
		t.Errorf("the local user's change = %d, want 200", got)
	}
}

// Chat clients request a title, tags and follow-up questions for a conversation in the request. Without a model,
// the title is the conversation's first question and the lists are empty: they never contain a quote of a document.
func TestClientTitleRequestsAreNotSearched(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"survey.md", "# Building survey\n\nThe roof was last repaired in 2021. A title was never found.\n"})
	for body, want := range map[string]string{
		"openwebui-title":      `{"title":"When was the roof last repaired?"}`,
		"librechat-title":      "When was the roof last repaired?",
		"openwebui-tags":       `{"tags":[]}`,
		"openwebui-follow-ups": `{"follow_ups":[]}`,
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "server", "testdata", "clients", body+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r := s.send("POST", "/v1/chat/completions", string(raw))
		got := loose[struct {
			Choices []struct{ Message struct{ Content string } }
		}](t, r.body)
		if r.status != http.StatusOK || len(got.Choices) != 1 || got.Choices[0].Message.Content != want {
			t.Errorf("%s: %d %s, want %s", body, r.status, r.body, want)
		}
	}
}
