// Package corpustest holds the contracts of corpus's ports as tests. Each store's own test calls them: what they
// promise is what both the embedded and the server mode keep.
//
// A port of corpus is implemented more than once: by SQLite, by PostgreSQL, by Milvus, by a folder, by a bucket. There
// is one suite for each port here, which every implementation's test runs with a function that opens an empty store. A
// suite knows nothing of an implementation; what it can't ask of all of them it doesn't ask of any.
//
// documents.go, content.go, list.go, hiding.go (in parts), limits.go, removals.go and watched.go are the suite of
// Documents; lexical.go and completions.go that of Lexical; vectors.go and vector_models.go that of Vectors; queue.go
// and queue_deaths.go that of Queue; blobs.go and reranker.go have one each. This file holds what all share.
//
// Names of subtests are the promises, in whole sentences. Subtests run in parallel on stores of their own, so that they
// find what hides in a shared connection as well.
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

// alice and bob are two users; each test's documents are alice's unless it says otherwise.
var (
	alice = chat.Scope{User: "alice"}
	bob   = chat.Scope{User: "bob"}
)

// hashOf is the SHA-256 of bytes in hexadecimal, by which documents and blobs know them.
func hashOf(bytes string) string {
	sum := sha256.Sum256([]byte(bytes))
	return hex.EncodeToString(sum[:])
}

// file is a document of alice's as it comes in. Its bytes exist only as a hash and a length: Documents never sees the
// bytes themselves.
func file(path, bytes string) corpus.Document {
	return corpus.Document{
		User: alice.User, Namespace: chat.DefaultNamespace, Path: path, Filename: path[strings.LastIndexByte(
			path, '/',
		)+1:],
		MIME: "text/markdown", SHA256: hashOf(bytes), Bytes: int64(len(bytes)),
	}
}

// contentOf makes content of one paragraph and one passage for each text. Terms are the words in lower case. The
// passages' ids are made up of the document, its version and a number, as the library makes them unique: stores rely on
// that when two versions are there at once.
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

// mustPut stores a document that must not be there yet.
func mustPut(t *testing.T, ds corpus.Documents, d corpus.Document) corpus.Document {
	t.Helper()
	stored, duplicate, err := ds.Put(t.Context(), d)
	if err != nil || duplicate {
		t.Fatalf("Put(%q) = duplicate %v, %v", d.Path, duplicate, err)
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

// mustText is the text of a document of alice's.
func mustText(t *testing.T, ds corpus.Documents, id string) string {
	t.Helper()
	text, err := ds.Text(t.Context(), alice, id)
	if err != nil {
		t.Fatalf("Text(%s): %v", id, err)
	}
	return text
}

// mustVersion is the number that changes whenever a search of the scope could find something else.
func mustVersion(t *testing.T, ds corpus.Documents, s chat.Scope) int64 {
	t.Helper()
	v, err := ds.Version(t.Context(), s)
	if err != nil {
		t.Fatalf("Version: %v", err)
	}
	return v
}

// mustDo ends the test at an error that no promise allows, and says at which step.
func mustDo(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// wantCode fails the test unless err has the code. Callers tell errors apart by their codes, never by their words.
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
