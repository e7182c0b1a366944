package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/child"
)

// The limits are enforced from outside: by the context, by the kernel, and by how much of its output is kept.
const (
	pageTime   = 2 * time.Minute // that tesseract may take for one page
	maxAnswer  = 16 << 20        // bytes of what it says of one page
	maxSaid    = 4 << 10         // bytes of its complaints that are kept
	memoryPage = 1 << 30         // bytes that it may allocate
)

// Tesseract reads pictures with the program of that name, if it is on the PATH: it is looked for each time, so that one
// that is installed later is found. It is safe for concurrent use. It has no state: each document begins with what is
// installed at that moment.
type Tesseract struct {
	// Languages are the languages to read, as tesseract calls them; none: what is installed and the text's own.
	Languages []string
	// Hide are files and directories of the server that tesseract never sees, wherever they are.
	Hide []string
}

// needsOCR is the failure of a file that is all pictures where nothing reads pictures.
var needsOCR = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file shows text only in pictures: it needs text recognition (OCR). Install tesseract on the server " +
		"or set FOOTNOTE_OCR to model for a model that sees, and have it read again."}

var noLanguages = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file shows text only in pictures, and tesseract has no language to read them in. Install one on " +
		"the server, such as the package tesseract-ocr-eng, and have it read again."}

// Begin implements Letters.
func (t *Tesseract) Begin(ctx context.Context) (Document, error) {
	program, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, needsOCR
	}
	installed, err := t.installedLanguages(ctx, program)
	if err != nil {
		return nil, err
	}
	if len(installed) == 0 {
		return nil, noLanguages
	}
	return &scan{tesseract: t, program: program, installed: installed}, nil
}

// scan is a document that tesseract reads. chosen are those of the document, once a page told its language.
type scan struct {
	tesseract *Tesseract
	program   string
	installed []string
	chosen    []string // languages of the pages that were read; none before the first
}

// Page implements Document. A page that lies on its side or upside down is read both ways, and the way that tesseract
// is surer of is the right one.
func (s *scan) Page(ctx context.Context, draw func(turn int) ([]byte, error)) (corpus.ReadPage, error) {
	upright, err := draw(0)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	found, err := s.lookAt(ctx, upright)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	languages := s.languages(found.script)
	picture := upright
	best, err := s.recognise(ctx, picture, languages)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	for _, turn := range found.turns(best) {
		turned, err := draw(turn)
		if err != nil {
			return corpus.ReadPage{}, err
		}
		other, err := s.recognise(ctx, turned, languages)
		if err != nil {
			return corpus.ReadPage{}, err
		}
		if other.sure > best.sure {
			best, picture = other, turned
			best.page.Turn = turn
		}
	}
	return s.inItsLanguage(ctx, picture, languages, best)
}

// inItsLanguage notes the language of the document once a page tells it, and reads that page again if it was read in
// others before it. The first pages may be read in English only because that comes first. Later pages are read in the
// document's language at once.
func (s *scan) inItsLanguage(
	ctx context.Context, picture []byte, languages []string, got reading,
) (corpus.ReadPage, error) {
	own := s.ownLanguage(got.text())
	if s.chosen != nil || own == "" {
		return got.page, nil
	}
	s.chosen = append([]string{own}, without(languages, own)...)
	s.chosen = s.chosen[:min(len(s.chosen), mostLanguages)]
	if own == languages[0] {
		return got.page, nil
	}
	again, err := s.recognise(ctx, picture, s.chosen)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	again.page.Turn = got.page.Turn
	return again.page, nil
}

// languages are those to read the next page in.
func (s *scan) languages(script string) []string {
	if s.chosen != nil {
		return s.chosen
	}
	return s.candidates(script)
}

// recognise reads a page. Segmentation mode 3 is tesseract's own default: it finds columns and paragraphs by itself.
func (s *scan) recognise(ctx context.Context, picture []byte, languages []string) (reading, error) {
	answer, err := s.tesseract.run(
		ctx, s.program, picture, "stdin", "stdout", "-l", strings.Join(languages, "+"), "--psm", "3", "hocr",
	)
	if err != nil {
		return reading{}, err
	}
	return parseHOCR(answer)
}

// orientation is how a page lies and what it is written in. Its zero value says nothing.
type orientation struct {
	known  bool
	turn   int // quarters clockwise that set it upright
	script string
}

// lookAt asks tesseract how a page lies. A page with few letters does not tell. That is segmentation mode 0 with the
// data osd, which answers in lines such as "Rotate: 90". Exit code 1 is how it says that there are too few characters.
func (s *scan) lookAt(ctx context.Context, picture []byte) (orientation, error) {
	if !slices.Contains(s.installed, osd) {
		return orientation{}, nil
	}
	answer, err := s.tesseract.run(ctx, s.program, picture, "stdin", "stdout", "-l", osd, "--psm", "0")
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == 1 {
		return orientation{}, nil // too few characters
	}
	if err != nil {
		return orientation{}, err
	}
	var o orientation
	for line := range strings.Lines(string(answer)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "Rotate":
			degrees, err := strconv.Atoi(value)
			o.known, o.turn = err == nil, degrees/90&3
		case "Script":
			o.script = value
		}
	}
	return o, nil
}

// turns are the quarters, clockwise, by which the page may have to be turned, given how it reads as it lies. Nothing is
// turned if the page reads well as it lies.
func (o orientation) turns(asItLies reading) []int {
	switch {
	case o.known && o.turn != 0:
		return []int{o.turn}
	case !o.known && asItLies.doubtful():
		return []int{1, 2, 3}
	}
	return nil
}

// run gives a picture to tesseract and returns what it writes. The process is confined to its program and its
// languages where the system can confine programs, sees nothing else of our environment, has bounded memory and time,
// and ends with ctx. The picture goes in on standard input and the answer comes on standard output, so that it needs no
// file. One thread is used: pages of several documents are read side by side.
func (t *Tesseract) run(ctx context.Context, program string, picture []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	out := child.Output{Most: maxAnswer, Full: cancel}
	said := child.Output{Most: maxSaid}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(
		child.Environ("PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH", "SystemRoot", "TEMP", "TMP"),
		"OMP_THREAD_LIMIT=1", "LC_ALL=C",
	)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(picture), &out, &said
	cmd.WaitDelay = time.Second
	programs := child.Programs(program)
	for _, name := range []string{"TESSDATA_PREFIX", "LD_LIBRARY_PATH"} {
		programs = append(programs, filepath.SplitList(os.Getenv(name))...)
	}
	child.Confine(cmd, child.Bounds{Programs: programs, Hide: t.Hide, Memory: memoryPage})
	err := cmd.Run()
	switch {
	case out.Over:
		return nil, &corpus.Failure{Code: "too_large",
			Detail: "A page of this file holds more text than can be read from one picture. Cut it into parts and " +
				"add those."}
	case ctx.Err() == context.DeadlineExceeded:
		return nil, &corpus.Failure{Code: "timeout",
			Detail: "Reading the picture of a page takes too long. Save it smaller or with more contrast, and add " +
				"that."}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("tesseract: %w (%s)", err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}
