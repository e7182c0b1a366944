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

// Limits of one run, enforced by the context, the kernel, and the output buffer.
const (
	pageTime   = 2 * time.Minute // timeout for one page
	maxAnswer  = 16 << 20        // bytes of output for one page
	maxSaid    = 4 << 10         // bytes of standard error that are kept
	memoryPage = 1 << 30         // bytes that it may allocate
)

// Tesseract recognises text with the program of that name on the PATH. It looks the program up for each document, so
// that a later installation is found. It is stateless and safe for concurrent use.
type Tesseract struct {
	// Languages are the languages to recognise, by tesseract's names; empty: the installed ones and the text's
	// detected one.
	Languages []string
	// Hide lists files and directories of the server that are hidden from tesseract, wherever they are.
	Hide []string
}

// needsOCR is the failure of a file of images only, if no recogniser is installed.
var needsOCR = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file contains text only as images and requires OCR. Install tesseract on the server, or set " +
		"FOOTNOTE_OCR=model to use a vision model. Then try again."}

var noLanguages = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file contains text only as images, and tesseract has no language installed. Install one on the " +
		"server, such as the package tesseract-ocr-eng. Then try again."}

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

// scan is a document that tesseract reads. chosen is set when a page's language is detected.
type scan struct {
	tesseract *Tesseract
	program   string
	installed []string
	chosen    []string // languages of the document; empty until they are detected
}

// Page implements Document. A page that seems to be turned is recognised in both orientations, and the one with the
// higher confidence is used.
func (s *scan) Page(ctx context.Context, draw func(turn int) ([]byte, error)) (corpus.ReadPage, error) {
	upright, err := draw(0)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	found, err := s.detectOrientation(ctx, upright)
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
	return s.detectLanguage(ctx, picture, languages, best)
}

// detectLanguage detects the language of the document from the first page where that is possible. It recognises that
// page again if its language was not the first one before. The first pages may be read in English only because that
// is the default. Later pages use the document's language at once.
func (s *scan) detectLanguage(
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

// languages returns the languages for the next page.
func (s *scan) languages(script string) []string {
	if s.chosen != nil {
		return s.chosen
	}
	return s.candidates(script)
}

// recognise recognises a page. Segmentation mode 3 is tesseract's default: it detects columns and paragraphs.
func (s *scan) recognise(ctx context.Context, picture []byte, languages []string) (reading, error) {
	answer, err := s.tesseract.run(
		ctx, s.program, picture, "stdin", "stdout", "-l", strings.Join(languages, "+"), "--psm", "3", "hocr",
	)
	if err != nil {
		return reading{}, err
	}
	return parseHOCR(answer)
}

// orientation is the orientation and script of a page. Its zero value means unknown.
type orientation struct {
	known  bool
	turn   int // clockwise quarters that make it upright
	script string
}

// detectOrientation detects the orientation of a page with tesseract. It uses segmentation mode 0 with the data osd,
// which outputs lines such as "Rotate: 90". Exit code 1 means too few characters, and returns the zero value.
func (s *scan) detectOrientation(ctx context.Context, picture []byte) (orientation, error) {
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

// turns returns the turns to try, as clockwise quarters. asItLies is the reading without a turn. If that has a high
// confidence, there is nothing to try.
func (o orientation) turns(asItLies reading) []int {
	switch {
	case o.known && o.turn != 0:
		return []int{o.turn}
	case !o.known && asItLies.doubtful():
		return []int{1, 2, 3}
	}
	return nil
}

// run runs tesseract on an image and returns its output. Where the system supports it, the process is confined to
// its program and its languages. It has a minimal environment, limited memory and a timeout, and ends with ctx. The
// image is standard input and the output standard output, so that it needs no file. It uses one thread, because
// pages of several documents are read concurrently.
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
			Detail: "A page of this file contains too much text for OCR. Split the page and add the parts."}
	case ctx.Err() == context.DeadlineExceeded:
		return nil, &corpus.Failure{Code: "timeout",
			Detail: "OCR of a page timed out. Save it smaller or with more contrast and add the new file."}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("tesseract: %w (%s)", err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}
