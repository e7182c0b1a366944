package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// searched is the input of a retrieval measurement: documents, and queries with relevance judgements. Collections
// and questions over a folder both implement it.
type searched interface {
	collection() judge.Collection
	// add indexes the documents, waits until they are searchable, and returns their number.
	add(p *command.Program, library *corpus.Library) (int, error)
	// names returns the ids that the results of query i are judged by, best first.
	names(i int, results []corpus.Result) []string
}

// collectionSearched is a collection in BEIR's layout (github.com/beir-cellar/beir). Its results are documents,
// ranked by their best passages. Documents with equal text are one document in the library.
type collectionSearched struct {
	judge.Collection
	named map[string][]string // the collection's ids by document of the library
}

// collection implements searched.
func (c *collectionSearched) collection() judge.Collection { return c.Collection }

// add adds each document of the collection to the library as a Markdown file, and keeps the ids of duplicates. It
// returns the number of documents.
func (c *collectionSearched) add(p *command.Program, library *corpus.Library) (int, error) {
	c.named = map[string][]string{}
	show := command.NewBar(p.Stderr, len(c.Documents))
	for i, d := range c.Documents {
		show.Draw("adding", i, d.ID)
		// The texts are plain: a line that looks like a heading must be escaped.
		body := text.EscapeMarkdown(d.Text)
		if d.Title != "" {
			body = "# " + text.EscapeMarkdown(strings.Join(strings.Fields(d.Title), " ")) + "\n\n" + body
		}
		if strings.TrimSpace(body) == "" {
			continue
		}
		doc, _, err := library.Add(p.Ctx, corpus.Upload{
			User: chat.LocalUser, Filename: fmt.Sprintf("%d.md", i+1), Body: strings.NewReader(body),
		})
		if err != nil {
			return 0, fmt.Errorf("add %s: %w", d.ID, err)
		}
		c.named[doc.ID] = append(c.named[doc.ID], d.ID)
	}
	show.End(fmt.Sprintf("%s: %d documents", c.Name, len(c.Documents)))
	return len(c.Documents), awaitSearchable(p, library, c.named)
}

// names returns the collection's ids of the retrieved documents, best first, without duplicates.
func (c *collectionSearched) names(_ int, results []corpus.Result) (names []string) {
	seen := map[string]bool{}
	for _, hit := range results {
		if !seen[hit.Document.ID] {
			seen[hit.Document.ID] = true
			names = append(names, c.named[hit.Document.ID]...)
		}
	}
	return names
}

// questionsSearched is a set of questions over a folder. Its results are passages. A passage is relevant if it is
// in an expected document and contains the expected words. A passage that matches two questions counts for each.
type questionsSearched struct {
	name, folder string
	questions    []judge.Question
	paths        map[string][]string // by document of the library
}

// openQuestions reads the answerable questions without a conversation. Follow-ups are skipped: a search has no
// conversation.
func openQuestions(file, folder string) (*questionsSearched, error) {
	raw, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	all, err := judge.Parse(raw)
	if err != nil {
		return nil, err
	}
	s := &questionsSearched{name: filepath.Base(file), folder: folder, paths: map[string][]string{}}
	for _, q := range all {
		if len(q.Passages) > 0 && len(q.Before) == 0 {
			s.questions = append(s.questions, q)
		}
	}
	if len(s.questions) == 0 {
		return nil, fmt.Errorf("no question of %s has an expected document and stands by itself", file)
	}
	return s, nil
}

// collection builds a collection from the questions: its relevant "documents" are the expected passages.
func (s *questionsSearched) collection() judge.Collection {
	c := judge.Collection{Name: s.name}
	for i, q := range s.questions {
		relevant := map[string]int{}
		for k := range q.Passages {
			relevant[strconv.Itoa(k)] = 1
		}
		c.Queries = append(c.Queries, judge.CollectionQuery{ID: strconv.Itoa(i + 1), Text: q.Text, Relevant: relevant})
	}
	return c
}

// add adds the files of the folder to the library.
func (s *questionsSearched) add(p *command.Program, library *corpus.Library) (int, error) {
	files, _, err := documents.Collect([]string{s.folder}, nil)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		body, err := os.Open(f.File)
		if err != nil {
			return 0, err
		}
		doc, _, err := library.Add(p.Ctx, corpus.Upload{
			User: chat.LocalUser, Filename: filepath.Base(f.Path), Body: body,
		})
		if err = errors.Join(err, body.Close()); err != nil {
			return 0, fmt.Errorf("add %s: %w", f.Path, err)
		}
		s.paths[doc.ID] = append(s.paths[doc.ID], filepath.ToSlash(f.Path))
	}
	return len(files), awaitSearchable(p, library, s.paths)
}

// names returns the numbers of the expected passages that a result is the first to contain, or a unique name for an
// irrelevant result.
func (s *questionsSearched) names(i int, results []corpus.Result) (names []string) {
	found := map[int]bool{}
	for rank, hit := range results {
		before := len(names)
		for k, want := range s.questions[i].Passages {
			if !found[k] && want.In(s.paths[hit.Document.ID], hit.Passage.Text) {
				found[k] = true
				names = append(names, strconv.Itoa(k))
			}
		}
		// It takes its rank, as an irrelevant result.
		if len(names) == before {
			names = append(names, fmt.Sprintf("result %d", rank+1))
		}
	}
	return names
}

// awaitSearchable waits until documents, by their ids, are searchable in the text index and, with an embedder, by
// embeddings. A document that failed to parse is an error. It polls every 20 ms.
func awaitSearchable(p *command.Program, library *corpus.Library, named map[string][]string) error {
	show := command.NewBar(p.Stderr, len(named))
	ready := 0
	for id, names := range named {
		show.Draw("indexing", ready, names[0])
		ready++
		for {
			doc, err := library.Document(p.Ctx, chat.Local, id)
			if err != nil {
				return err
			}
			if doc.State == corpus.StateFailed {
				return fmt.Errorf("%s can't be read: %s", names[0], doc.Error.Detail)
			}
			if doc.State == corpus.StateReady && doc.Semantic != corpus.SemanticPending {
				break
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-p.Ctx.Done():
				return context.Cause(p.Ctx)
			}
		}
	}
	show.End(fmt.Sprintf("%d documents can be searched", len(named)))
	return nil
}
