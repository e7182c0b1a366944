package main_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
)

// chapter is a text of n sections. Its first and last section hold words that no other has.
func chapter(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	for i := range n {
		word := "ordinary"
		switch i {
		case 0:
			word = name + "begins"
		case n - 1:
			word = name + "ends"
		}
		fmt.Fprintf(&b,
			"## Section %d\n\nThis %s section %d tells how the miller, the tenant and the surveyor met at the weir "+
				"of number %d and what they said.\n\n", i, word, i, i*7)
	}
	return b.String()
}

type searchAnswer struct {
	TotalResults int `json:"total_results"`
	Results      []struct {
		Text     string  `json:"text"`
		Score    float64 `json:"score"`
		Metadata struct {
			DocumentID string `json:"document_id"`
			Start      int    `json:"start"`
			End        int    `json:"end"`
		} `json:"metadata"`
	} `json:"results"`
}

func (s *server) search(query string) searchAnswer {
	s.t.Helper()
	r := s.send("POST", "/search", `{"query":"`+query+`","mode":"lexical"}`)
	if r.status != http.StatusOK {
		s.t.Fatalf("search for %q: %d %s", query, r.status, r.body)
	}
	return loose[searchAnswer](s.t, r.body)
}

// holds reports whether a word is found in a document.
func (s *server) holds(id, word string) bool {
	s.t.Helper()
	for _, hit := range s.search(word).Results {
		if hit.Metadata.DocumentID == id && strings.Contains(hit.Text, word) {
			return true
		}
	}
	return false
}

// A process that is killed while it takes documents in leaves each one whole or not yet there, and the next one
// finishes them.
func TestAKilledIngestIsFinishedAndNeverHalfDone(t *testing.T) {
	t.Parallel()
	template := newDir(t)
	prepared := serve(t, template)
	old := prepared.add(file{"book0.md", chapter("oldbook", 4)})[0]
	prepared.end(os.Interrupt)
	for i, n := range []int{1, 2, 3, 4, 5, 6, 8} {
		for seed := range faultSeeds(t) {
			t.Run(fmt.Sprintf("when state %d was seen, seed %d", n, seed), func(t *testing.T) {
				dir := newDir(t)
				copyFiles(t, template, dir)
				killIngest(t, serve(t, dir), old, n, rand.New(rand.NewPCG(uint64(seed), uint64(i))))
			})
		}
	}
}

// killIngest replaces one document, adds three, and kills the process when the n-th state of one was seen.
func killIngest(t *testing.T, s *server, old string, n int, rng *rand.Rand) {
	size := 20 + rng.IntN(300)
	files := []file{
		{"book0.md", chapter("book0", size)}, {"book1.md", chapter("book1", 2*size)},
		{"book2.txt", chapter("book2", 10)},
		{"book3.pdf", pdfOf("The words book3begins and book3ends stand on this page of the survey.",
			"A second page has other words.")},
	}
	r := s.upload(files...)
	if r.status != http.StatusAccepted {
		t.Fatalf("upload: %d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	answer := decode[uploadAnswer](t, r.body)
	if len(answer.Documents) != len(files) || answer.Documents[0].ID != old {
		t.Fatalf("upload: %s", r.body)
	}
	watched := answer.Documents[n%len(files)].ID
	if st, err := s.open("GET", "/documents/"+watched+"/events", nil); err == nil {
		for range n {
			if _, err := st.next(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
		}
		st.close()
	}
	s.kill()

	again := s.restart()
	for i, doc := range answer.Documents {
		name := fmt.Sprintf("book%d", i)
		again.whole(t, doc.ID, name, false)
		if state := again.settled(doc.ID); state.State != "ready" {
			t.Errorf("%s became %+v, want State %q", name, state, "ready")
		}
		again.whole(t, doc.ID, name, true)
	}
	if again.holds(old, "oldbookbegins") {
		t.Error("the replaced text is still found")
	}
}

// whole fails when only one end of a document is found, or when it must be there and is not.
func (s *server) whole(t *testing.T, id, name string, must bool) {
	t.Helper()
	begins := s.holds(id, name+"begins")
	ends := s.holds(id, name+"ends")
	if begins && !ends || must && !(begins && ends) {
		t.Errorf("%s: its beginning is found: %v, its end: %v", name, begins, ends)
	}
}
