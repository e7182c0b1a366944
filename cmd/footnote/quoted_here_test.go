package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// requests are what is asked of each document, by its file's name.
var requests = []string{
	"Summarise %s in three sentences", "What does %s say?", "List the points of %s", "Compare %s with the lease",
	"What does %s say about the costs? → Tell me more → What else?", "Give me an overview of %s → Explain that",
	"List what is in %s", "What is %s about? → What does [1] say?",
}

// What the offline mode quotes stands in the documents: none of it is ever said to have no source, each sentence is
// quoted as it is shown, and no number is quoted for itself. FOOTNOTE_TEST_QUOTES=all asks everything of all documents
// here; else a part of it is asked.
func TestWhatIsQuotedIsNeverSaidToHaveNoSource(t *testing.T) {
	t.Parallel()
	all := os.Getenv("FOOTNOTE_TEST_QUOTES") == "all"
	libraries := []struct{ documents, questions string }{
		{filepath.Join(root, "e2e", "eval", "everyday", "open", "*"), filepath.Join(root, "e2e", "eval", "everyday", "open.tsv")},
		{filepath.Join("testdata", "signs", "*"), ""},
		{filepath.Join(root, "docs", "handbook", "*.md"), ""},
	}
	if all {
		libraries = append(libraries, []struct{ documents, questions string }{
			{filepath.Join("eval", "testdata", "library", "*"), filepath.Join("eval", "judge", "questions.tsv")},
			{filepath.Join(root, ".cache", "documents", "*.*"), ""},
			{filepath.Join(root, ".cache", "real", "documents", "*"), filepath.Join(root, "e2e", "eval", "real", "open.tsv")},
		}...)
	}
	for i, l := range libraries {
		t.Run(filepath.Base(filepath.Dir(l.documents)), func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			questions := append(lastColumns(t, l.questions), "Which documents do I have?")
			names := s.addAll(l.documents)
			for k, name := range names {
				for n, request := range requests {
					if all || i == 1 || n == k%len(requests) {
						questions = append(questions, strings.ReplaceAll(request, "%s", name))
					}
				}
			}
			asked, cited := 0, 0
			for _, question := range questions {
				session := ""
				for ask := range strings.SplitSeq(question, " → ") {
					log := s.runIn(session, ask)
					session = log.start.SessionID
					asked++
					if log.answer == nil {
						t.Errorf("%s: %+v", ask, log.done)
						continue
					}
					cited += len(log.answer.Citations)
					for _, wrong := range wrongQuotes(log.answer) {
						t.Errorf("%s\n%s\n%s", ask, wrong, log.answer.Markdown)
					}
				}
			}
			t.Logf("%d documents, %d questions, %d quotes", len(names), asked, cited)
			if len(names) > 0 && cited < asked {
				t.Errorf("%d quotes in %d answers, want as many at least", cited, asked)
			}
		})
	}
}

// wrongQuotes says what an answer of quotes says wrong of itself.
func wrongQuotes(a *chat.Answer) (wrong []string) {
	if len(a.Unsupported) > 0 {
		wrong = append(wrong, fmt.Sprintf("has sentences without a source: %q, want none", a.Unsupported))
	}
	for _, c := range a.Citations {
		shown := strings.Contains(bareText(a.Markdown), bareText(c.Quote)+fmt.Sprintf("[%d]", c.Number))
		if c.Check != chat.CheckVerified || !strings.ContainsFunc(c.Quote, unicode.IsLetter) || !shown {
			wrong = append(wrong, fmt.Sprintf("footnote %d is %s, is shown %v: %q; want %s, true and a letter in it",
				c.Number, c.Check, shown, c.Quote, chat.CheckVerified))
		}
	}
	return wrong
}

// bareText is a text without white space and without the signs that set it as a quotation, a table or an escape.
func bareText(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", "|", "", ">", "").Replace(s)), "")
}

// runIn asks in a conversation, a new one when session is empty, and follows to the end.
func (s *server) runIn(session, question string) transcript {
	s.t.Helper()
	body := map[string]string{"message": question}
	if session != "" {
		body["session_id"] = session
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.send("POST", "/chat", string(raw))
	if r.status != http.StatusAccepted {
		s.t.Fatalf("POST /chat: %d %s", r.status, r.body)
	}
	return s.follow(decode[started](s.t, r.body).RunID)
}

// addAll adds the files that a pattern names, and returns their names.
func (s *server) addAll(pattern string) (names []string) {
	s.t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		s.t.Fatal(err)
	}
	var files []file
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		files, names = append(files, file{filepath.Base(path), string(raw)}), append(names, filepath.Base(path))
	}
	for part := range slices.Chunk(files, 20) {
		s.add(part...)
	}
	return names
}

// lastColumns are the questions of a file of eval; none without one.
func lastColumns(t *testing.T, path string) (questions []string) {
	t.Helper()
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if line[0] != '#' && len(fields) > 1 {
			questions = append(questions, fields[len(fields)-1])
		}
	}
	return questions
}
