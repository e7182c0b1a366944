// Command files reads every file of a directory as a server reads it, in the program's own worker, and says by kind how
// many were read and how fast, which sentences the others got, and, with -references, how far the words are those that
// LibreOffice, pandoc, poppler and Python's own reader of mails find. docs/quality.md has what it found.
//
//	make files                                         on the documents that it fetches
//	go run ./e2e/files -texts OUT DIR …               keeps what was read, to look at
//	go run ./e2e/files -references REF DIR …          compares the words; needs the other programs
//
// It prints a table by kind; below it each sentence that refused files, the files whose words fit worst, and each
// number of a list that is another than LibreOffice's. It exits with 1 only when the measuring fails: a file that
// can't be read is a result.
//
// report.go prints. reference.go and slides.go have other programs make reference texts, which are kept below REF and
// made only once. labels.go compares the numbers of lists. Files are only read, and what is written goes to OUT, REF
// and temporary directories.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/worker"
)

func main() {
	program := flag.String("binary", "bin/footnote", "the program whose worker reads")
	texts := flag.String("texts", "", "a directory for the texts that were read")
	references := flag.String("references", "", "a directory for reference texts, made if they are not there")
	low := flag.Float64("list", 0.8, "list the files whose word F1 is below this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureFiles(ctx, *program, *texts, *references, *low, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// reading is what became of one file. Without an error, text has what was read; members is how many files an archive
// or a mail has inside it.
type reading struct {
	path    string
	kind    string // the format's name, else the ending
	bytes   int64
	took    time.Duration
	text    string
	cells   string // of its tables, with the headings over them
	lines   []line // its headings, list items and paragraphs
	members int
	failure string // the sentence, empty if it was read
}

// measureFiles reads all files below roots, compares if references is not empty, and prints.
func measureFiles(ctx context.Context, program, texts, references string, low float64, roots []string) error {
	paths, err := listFiles(roots)
	if err != nil {
		return err
	}
	readings, err := readAll(ctx, program, paths)
	if err != nil {
		return err
	}
	if texts != "" {
		if err := writeTexts(texts, readings); err != nil {
			return err
		}
	}
	var scores map[string]float64
	var numbers map[string]labels
	if references != "" {
		if scores, err = compareAll(ctx, references, readings); err != nil {
			return err
		}
		if numbers, err = compareAllLabels(ctx, references, readings); err != nil {
			return err
		}
	}
	printTable(os.Stdout, readings, scores, numbers)
	printSentences(os.Stdout, readings)
	printLow(os.Stdout, readings, scores, low)
	printLabels(os.Stdout, readings, numbers)
	return nil
}

// listFiles returns the files below the roots, without those whose name begins with a dot. The order is that of the
// names, root by root. A root that can't be read is an error, beside which the others are still listed.
func listFiles(roots []string) (paths []string, err error) {
	for _, root := range roots {
		err = errors.Join(err, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") {
				paths = append(paths, path)
			}
			return err
		}))
	}
	return paths, err
}

// readAll reads one file after another, each once before that, so that no figure has the start of a process in it.
//
// The reader is the one that servers use: a process of the program, with its limits. Only a failure of the measuring
// itself ends it early.
func readAll(ctx context.Context, program string, paths []string) (readings []reading, err error) {
	cache, err := os.MkdirTemp("", "footnote-files-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	self, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	pool, err := worker.New(worker.Config{
		Command: []string{self, "extract-worker"}, CacheDir: cache, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	for _, path := range paths {
		r, err := readOne(ctx, pool, cache, path)
		if err != nil {
			return readings, err
		}
		readings = append(readings, r)
	}
	return readings, nil
}

// readOne fails only if the measuring does; what the product says of a file is in the reading.
//
// The kind is found as a server finds it, by the first bytes and the name. took is of the second reading, of a process
// that is warm.
func readOne(ctx context.Context, pool *worker.Pool, cache, path string) (r reading, err error) {
	r = reading{path: path, kind: strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")}
	file, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	head := make([]byte, corpus.SniffBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return r, err
	}
	info, err := file.Stat()
	if err != nil {
		return r, err
	}
	r.bytes = info.Size()
	mime, err := extract.Formats.Sniff(head[:n], filepath.Base(path))
	if err != nil {
		r.failure = sentence(err)
		return r, nil
	}
	if format, ok := extract.Formats.ByMIME(mime); ok {
		r.kind = format.Name
	}
	for range 2 { // the second time is measured
		members, err := os.MkdirTemp(cache, "members-")
		if err != nil {
			return r, err
		}
		began := time.Now()
		e, err := pool.Extract(ctx, corpus.File{
			Path: path, Filename: filepath.Base(path), MIME: mime, Bytes: r.bytes, Members: members,
		}, func(int, int) {})
		r.took, r.text, r.members = time.Since(began), e.Text, len(e.Members)
		r.cells, r.lines = cellsOf(e), linesOf(e)
		if err != nil {
			r.failure = sentence(err)
			// Nothing to search in is no success, although it is no failure of the reader.
		} else if strings.TrimSpace(e.Text) == "" && len(e.Members) == 0 {
			r.failure = "(no text)"
		}
		if err := errors.Join(os.RemoveAll(members), ctx.Err()); err != nil {
			return r, err
		}
		if r.failure != "" {
			break
		}
	}
	return r, nil
}

// cellsOf is the text of a document's tables, with the headings over them. A heading is taken with the first table
// below it.
func cellsOf(x corpus.Extracted) string {
	var b strings.Builder
	heading := ""
	for _, block := range x.Blocks {
		said := doctext.Slice(x.Text, block.Start, block.End) + "\n"
		if block.Kind == corpus.BlockHeading {
			heading = said
		}
		if block.Kind == corpus.BlockTable {
			b.WriteString(heading + said)
			heading = ""
		}
	}
	return b.String()
}

// sentence is what the product says of a file that it doesn't read. What is no sentence for users shows as “NO
// SENTENCE”, for that would be a fault of the product.
func sentence(err error) string {
	if failure, ok := errors.AsType[*corpus.Failure](err); ok {
		return failure.Detail
	}
	if refused, ok := errors.AsType[*chat.Error](err); ok {
		_, detail, _ := strings.Cut(refused.Message, "” ") // without the file's name
		return "This file " + detail
	}
	return "NO SENTENCE: " + err.Error()
}

// writeTexts writes what was read of each file into dir, under the names that references have.
func writeTexts(dir string, readings []reading) error {
	for _, r := range readings {
		if r.failure != "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, referenceName(r.path)), []byte(r.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
