package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
	"github.com/footnote/footnote/cmd/footnote/wire"
	"github.com/footnote/footnote/corpus"
)

// retrievalCommand measures retrieval on collections with relevance judgements. It measures the text index, the
// embeddings and their fusion; no model answers. Each search mode is measured separately: lexical, and with an
// embedder semantic and hybrid.
type retrievalCommand struct {
	Collections []string `arg:"" optional:"" help:"Directories in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/test.tsv." type:"existingdir" name:"dir"`
	Questions   string   `help:"Instead of a collection: a file of questions, as for eval agent, and see at which rank the passages come that hold the expected words. Needs --documents." type:"existingfile" placeholder:"FILE"`
	Documents   string   `help:"Folder that the questions are about." type:"existingdir" placeholder:"FOLDER"`
	Runs        string   `help:"Also write each ranking into this folder as a TREC run file, for trec_eval, ranx and others." type:"path" placeholder:"FOLDER"`
	JSON        bool     `help:"Print JSON instead of tables."`
}

// measured is the result for one collection. Scripts parse its JSON, printed by --json, so field names must not
// change. IndexMiB is in MiB of 2²⁰ bytes.
type measured struct {
	Collection string            `json:"collection"`
	Documents  int               `json:"documents"`
	IndexMiB   float64           `json:"index_mib"` // size of the database, with texts and embeddings
	Modes      []judge.Retrieval `json:"modes"`
}

// Run indexes each collection in its own library and searches it in every mode.
func (e *retrievalCommand) Run(p *command.Program) error {
	var all []measured
	take := func(s searched) error {
		m, err := e.measureCollection(p, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.collection().Name, err)
		}
		all = append(all, m)
		return nil
	}
	switch {
	case (e.Questions == "") != (e.Documents == ""):
		return errors.New("--questions and --documents go together")
	case e.Questions == "" && len(e.Collections) == 0:
		return errors.New("name a collection's directory, or --questions and --documents")
	case e.Questions != "":
		s, err := openQuestions(e.Questions, e.Documents)
		if err == nil {
			err = take(s)
		}
		if err != nil {
			return err
		}
	}
	for _, dir := range e.Collections {
		c, err := judge.OpenCollection(dir)
		if err == nil {
			err = take(&collectionSearched{Collection: c})
		}
		if err != nil {
			return err
		}
	}
	if e.JSON {
		return json.NewEncoder(p.Stdout).Encode(map[string]any{"collections": all})
	}
	for i, m := range all {
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		fmt.Fprintf(p.Stdout, "%s: %d documents, %d queries, %.1f MiB\n\n",
			m.Collection, m.Documents, m.Modes[0].Queries, m.IndexMiB)
		judge.PrintRetrieval(p.Stdout, m.Modes)
	}
	return nil
}

// measureCollection searches one collection, in a temporary data directory. It uses the parts without a server, so
// that HTTP is not measured.
func (e *retrievalCommand) measureCollection(p *command.Program, s searched) (m measured, err error) {
	data, err := os.MkdirTemp("", "footnote-eval-*")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	dir, err := datadir.Claim(data)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, dir.Release()) }()
	ctx, cancel := context.WithCancel(p.Ctx)
	defer cancel()
	set := p.Settings.Evaluation("settings", data)
	set.Model = "offline" // only the embedder is needed
	a, err := wire.Open(ctx, set, p.Built.Version, dir, command.QuietLogger(p.Stderr))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	done := make(chan error, 1)
	go func() { done <- a.Library.Run(ctx) }()
	defer func() { cancel(); err = errors.Join(err, <-done) }()
	if m.Documents, err = s.add(p, a.Library); err != nil {
		return m, err
	}
	c := s.collection()
	m.Collection = c.Name
	m.IndexMiB = float64(sizeOf(data, datadir.Database)) / (1 << 20)
	// Without an embedder, hybrid equals lexical.
	modes := []corpus.SearchMode{corpus.ModeLexical}
	if a.Library.Semantic() {
		modes = append(modes, corpus.ModeSemantic, corpus.ModeHybrid)
	}
	for _, mode := range modes {
		found, took, err := searchAll(p, a.Library, s, mode)
		if err != nil {
			return m, err
		}
		r := judge.Measure(c, found)
		// Both by the nearest rank, in milliseconds.
		r.Mode, r.Median, r.P95 = string(mode), took[(len(took)-1)/2], took[(len(took)*95+99)/100-1]
		m.Modes = append(m.Modes, r)
		if e.Runs != "" {
			if err := e.writeRanking(c, found, string(mode)); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// searchAll searches for each query, one at a time. It returns the results, and the durations in milliseconds,
// ascending. It requests the maximum number of results, so that recall is that of the index and not of a page.
// Durations are those of the library's search, without HTTP.
func searchAll(
	p *command.Program, library *corpus.Library, s searched, mode corpus.SearchMode,
) (judge.Ranking, []float64, error) {
	c := s.collection()
	found, took := judge.Ranking{}, make([]float64, 0, len(c.Queries))
	show := command.NewBar(p.Stderr, len(c.Queries))
	for i, q := range c.Queries {
		show.Draw("searching, "+string(mode), i, q.Text)
		began := time.Now()
		got, err := library.Search(p.Ctx, chat.Local, corpus.Query{Text: q.Text, Mode: mode, Limit: corpus.MostResults})
		if err != nil {
			return nil, nil, fmt.Errorf("search for query %s: %w", q.ID, err)
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
		for rank, name := range s.names(i, got.Results) {
			// One distinct score for each rank: search scores may be equal.
			found[q.ID] = append(found[q.ID], judge.Ranked{Document: name, Score: 1 / float64(rank+1)})
		}
	}
	show.End("searched, " + string(mode))
	slices.Sort(took)
	return found, took, nil
}

// writeRanking writes a run file, named by collection and mode. An existing file is replaced. TREC's run files have
// a line for each result: query, document, rank and score.
func (e *retrievalCommand) writeRanking(c judge.Collection, found judge.Ranking, mode string) (err error) {
	if err := os.MkdirAll(e.Runs, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(e.Runs, c.Name+"."+mode+".run"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return c.WriteRun(file, found, "footnote-"+mode)
}

// sizeOf returns the total size in bytes of the files in a directory with a name prefix. Files that are deleted
// meanwhile count as 0.
func sizeOf(dir, begins string) (bytes int64) {
	names, _ := filepath.Glob(filepath.Join(dir, begins+"*")) // the pattern is well-formed
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !errors.Is(err, fs.ErrNotExist) {
			bytes += info.Size()
		}
	}
	return bytes
}
