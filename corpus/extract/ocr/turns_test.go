package ocr_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// heldLetters is a recogniser whose pages wait until the test releases them. The first two documents are of one user,
// and the third of another.
type heldLetters struct {
	count atomic.Int64
	begun chan int      // documents whose page begins
	goOn  chan struct{} // lets one page go on
}

// Begin implements ocr.Letters.
func (l *heldLetters) Begin(context.Context) (ocr.Document, error) {
	return heldDocument{l, int(l.count.Add(1))}, nil
}

type heldDocument struct {
	*heldLetters
	number int
}

// Page implements ocr.Document.
func (d heldDocument) Page(context.Context, func(int) ([]byte, error)) (corpus.ReadPage, error) {
	d.begun <- d.number
	<-d.goOn
	return corpus.ReadPage{}, nil
}

func TestPagesOfAScanTakeTurnsWithAnotherUsersPicture(t *testing.T) {
	l := &heldLetters{begun: make(chan int), goOn: make(chan struct{})}
	reader, _ := newReader(t, l)
	picture := asJPEG(t, written(t, "a page in German", "deu", german).picture)
	sheets := slices.Repeat([]pdftest.Sheet{{Box: "0 0 595 842", Picture: picture}}, 6)
	scan, single := pdftest.Write(t, pdftest.Document("", sheets...)), pdftest.Write(t, pdftest.Document("", sheets[0]))
	scan.User, single.User = "many", "one"
	var all sync.WaitGroup
	read := func(f corpus.File) {
		all.Go(func() { _, _ = reader.Extract(t.Context(), f, nil) }) // nothing is found in the pages
	}
	read(scan)
	read(scan)
	order := []int{<-l.begun, <-l.begun} // both recognisers are at work
	read(single)
	untilOneWaits(t)
	for range 11 {
		l.goOn <- struct{}{}
		order = append(order, <-l.begun)
	}
	l.goOn <- struct{}{}
	l.goOn <- struct{}{}
	all.Wait()
	if at := slices.Index(order, 3); at < 0 || at > 4 {
		t.Errorf("pages were read of documents %v, want the third one's among the next three", order)
	}
}

// untilOneWaits returns when a page waits for its turn, which only the stacks of goroutines show.
func untilOneWaits(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stacks.String(), "fair.(*Slots).Enter(") {
			return
		}
	}
	t.Fatal("no page waits for its turn")
}
