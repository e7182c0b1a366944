package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/footnote/footnote/docs/docstest"
)

const root = "../.."

// The requests of the documents are answered: those of curl are sent as they are written, and of each route that is
// named the server knows the address and the method.
func TestTheRequestsOfTheDocumentsAreAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	run := s.begin("What is the condition of the roof?").RunID
	s.follow(run)
	export := s.send("GET", "/agent/runs/"+run+"/export?format=json", nil)
	dir := docstest.Workplace(t, root)
	if err := os.WriteFile(filepath.Join(dir, "answer.json"), []byte(export.body), 0o600); err != nil {
		t.Fatal(err)
	}
	route := regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/(?:\{[^}]*\}|[^\s?…])*)`)
	names := regexp.MustCompile(`\{[^}]*\}|<[^>]*>`)
	sent, named := 0, map[string]bool{}
	for _, doc := range docstest.Read(t, root) {
		for _, call := range doc.Calls(t, dir) {
			if call.Program == "curl" && sendAsCurl(t, s, dir, doc.Name, call) {
				sent++
			}
		}
		for _, span := range doc.Spans {
			found := route.FindStringSubmatch(span)
			if found == nil || named[found[0]] {
				continue
			}
			named[found[0]] = true
			got := s.send("OPTIONS", names.ReplaceAllString(found[2], "x"), nil)
			if got.status != 204 || !strings.Contains(got.header.Get("Allow"), found[1]) {
				t.Errorf("%s: there is no %s: %d, Allow %q", doc.Name, found[0], got.status, got.header.Get("Allow"))
			}
		}
	}
	if sent < 2 || len(named) < 20 {
		t.Errorf("%d requests and %d routes were found, want 2 and 20 or more", sent, len(named))
	}
}

// sendAsCurl sends what curl would, and reports whether the call had an address.
func sendAsCurl(t *testing.T, s *server, dir, doc string, call docstest.Call) bool {
	t.Helper()
	method, path, body := "GET", "", any(nil)
	headers := []header{{"Accept", "*/*"}}
	for i := 0; i < len(call.Args); i++ {
		arg, value := call.Args[i], ""
		if i+1 < len(call.Args) {
			value = call.Args[i+1]
		}
		switch arg {
		case "-N", "-s":
			continue
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			headers = append(headers, header{name, text})
		case "-X":
			method = value
		case "-d", "--data-binary":
			if name, ok := strings.CutPrefix(value, "@"); ok {
				raw, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Errorf("%s: %s: %v", doc, call, err)
				}
				value = string(raw)
			}
			method, body = "POST", value // as a form, unless a header says otherwise
			headers = append([]header{{"Content-Type", "application/x-www-form-urlencoded"}}, headers...)
		default:
			address := strings.TrimPrefix(arg, "http://")
			rest, ok := strings.CutPrefix(address, "localhost:8080")
			if !ok {
				t.Errorf("%s: %s: the test does not know %q: teach it", doc, call, arg)
			}
			path = rest
			continue
		}
		i++
	}
	if path == "" {
		return false
	}
	if got := s.send(method, path, body, headers...); got.status >= 300 {
		t.Errorf("%s: %s: %d %s, want less than 300", doc, call, got.status, got.body)
	}
	return true
}
