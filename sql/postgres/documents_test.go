package postgres

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

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		url := server.Schema(t)
		return openURL(t, url).Queue(), openURL(t, url).Queue()
	})
}
