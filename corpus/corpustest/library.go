// Package corpustest contains the contract tests of corpus's ports. The tests of each store run them, so that the
// embedded and the server mode have the same guarantees.
//
// A port of corpus has several implementations: SQLite, PostgreSQL, Milvus, a directory, a bucket. There is one
// suite for each port, which the tests of every implementation call with a function that opens an empty store. A
// suite is independent of implementations and tests only requirements of all of them.
//
// documents.go, content.go, list.go, hiding.go (in parts), limits.go, removals.go and watched.go are the suite of
// Documents; lexical.go and completions.go that of Lexical; vectors.go and vector_models.go that of Vectors;
// queue.go and queue_deaths.go that of Queue; blobs.go and reranker.go have one each. This file has the shared
// helpers.
//
// Names of subtests are requirements, in whole sentences. Subtests run in parallel on separate stores, which also
// detects shared state of connections.
package corpustest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// alice and bob are two users; documents are alice's unless a test sets another user.
var (
	alice = chat.Scope{User: "alice"}
	bob   = chat.Scope{User: "bob"}
)

// hashOf returns the hexadecimal SHA-256 of bytes, which identifies documents and blobs.
func hashOf(bytes string) string {
	sum := sha256.Sum256([]byte(bytes))
	return hex.EncodeToString(sum[:])
}

// file returns a new document of alice's. Its bytes exist only as a hash and a length: Documents never gets the
// bytes.
func file(path, bytes string) corpus.Document {
	return corpus.Document{
		User: alice.User, Namespace: chat.DefaultNamespace, Path: path, Filename: path[strings.LastIndexByte(
			path, '/',
		)+1:],
		MIME: "text/markdown", SHA256: hashOf(bytes), Bytes: int64(len(bytes)),
	}
}

// contentOf returns content with one paragraph and one passage for each text. Terms are the lower-case words.
// Passage IDs consist of document, version and a number, so they are unique as the library's IDs: stores rely on
// this while two versions coexist.
func contentOf(d corpus.Document, texts ...string) corpus.Content {
	c := corpus.Content{
		SHA256: d.SHA256, Extracted: corpus.Extracted{Title: "About " + d.Path, Text: strings.Join(texts, "\n\n")},
	}
	start := 0
	for i, text := range texts {
		end := start + utf8.RuneCountInString(text)
		block := fmt.Sprintf("b%d", i+1)
		c.Extracted.Blocks = append(
			c.Extracted.Blocks, corpus.Block{ID: block, Kind: corpus.BlockParagraph, Start: start, End: end},
		)
		c.Passages = append(c.Passages, corpus.Passage{ID: fmt.Sprintf(
			"%s-%.8s-%d", d.ID, d.SHA256, i,
		), DocumentID: d.ID, Ordinal: i,
			Start: start, End: end, FirstBlock: block, LastBlock: block, Section: "Section", Text: text,
			Tokens: len(text) / 4})
		c.Terms = append(c.Terms, corpus.Terms{Body: strings.ToLower(text)})
		start = end + 2
	}
	return c
}

// mustPut stores a document that must not exist yet.
func mustPut(t *testing.T, ds corpus.Documents, d corpus.Document) corpus.Document {
	t.Helper()
	stored, duplicate, err := ds.Put(t.Context(), d)
	if err != nil || duplicate {
		t.Fatalf("Put(%q) = duplicate %v, %v, want a new document", d.Path, duplicate, err)
	}
	return stored
}

func mustPutContent(t *testing.T, ds corpus.Documents, id string, c corpus.Content) {
	t.Helper()
	if err := ds.PutContent(t.Context(), id, c); err != nil {
		t.Fatalf("PutContent(%s): %v", id, err)
	}
}

// ingest stores a document with one passage for each text; its bytes are the texts.
func ingest(t *testing.T, ds corpus.Documents, d corpus.Document, texts ...string) corpus.Document {
	t.Helper()
	d.SHA256 = hashOf(d.Path + "\n" + strings.Join(texts, "\n"))
	stored := mustPut(t, ds, d)
	mustPutContent(t, ds, stored.ID, contentOf(stored, texts...))
	return mustGet(t, ds, chat.Scope{User: stored.User}, stored.ID)
}

func mustGet(t *testing.T, ds corpus.Documents, s chat.Scope, id string) corpus.Document {
	t.Helper()
	d, err := ds.Get(t.Context(), s, id)
	if err != nil {
		t.Fatalf("Get(%s): %v", id, err)
	}
	return d
}

// mustText returns the text of a document of alice's.
func mustText(t *testing.T, ds corpus.Documents, id string) string {
	t.Helper()
	text, err := ds.Text(t.Context(), alice, id)
	if err != nil {
		t.Fatalf("Text(%s): %v", id, err)
	}
	return text
}

// mustVersion returns the scope's version.
func mustVersion(t *testing.T, ds corpus.Documents, s chat.Scope) int64 {
	t.Helper()
	v, err := ds.Version(t.Context(), s)
	if err != nil {
		t.Fatalf("Version: %v", err)
	}
	return v
}

// mustDo fails the test on an error, with the name of the step.
func mustDo(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// wantCode fails the test unless err has the code. Callers distinguish errors by code, never by message.
func wantCode(t *testing.T, what string, err error, want chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != want {
		t.Errorf("%s: error %v, want code %q", what, err, want)
	}
}

// wantStrings compares lists in order; nil and an empty list are equal.
func wantStrings(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}
