package sqlite

import (
	"testing"

	"footnote/corpus"
	"footnote/corpus/corpustest"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	corpustest.TestDocuments(t, func(t *testing.T) corpus.Documents { return openNew(t).Documents() })
}

func TestLexical(t *testing.T) {
	t.Parallel()
	corpustest.TestLexical(t, func(t *testing.T) corpustest.LexicalStores {
		db := openNew(t)
		return corpustest.LexicalStores{Documents: db.Documents(), Lexical: db.Lexical()}
	})
}

func TestVectors(t *testing.T) {
	t.Parallel()
	corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t).Vectors() })
}

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		db := openNew(t)
		return db.Queue(), db.Queue()
	})
}
