package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// bad is a file that is broken, or made to hurt, and what has to become of it.
type bad struct {
	name string
	file string // its name
	data string
	// fate is what its failure's sentence begins with, and text what is read of it. Exactly one of them is said.
	fate, text string
}

// fewest is how many bad files of each kind there are at least.
const fewest = 15

// Sentences that files are refused with, as far as tests tell them apart.
const (
	damaged   = "This file is damaged."
	encrypted = "This file is protected by a password."
	tooMuch   = "This file unpacks to more than can be read."
	tooDeep   = "This file is nested too deep to be read."
	noText    = "This file holds no text."
	misnamed  = "is named "
	isEmpty   = "is empty"
)

// TestBadFilesOfEveryKindEndInTextOrASentence reads all of them in one worker, with the limits of a real one.
func TestBadFilesOfEveryKindEndInTextOrASentence(t *testing.T) {
	pool := workertest.Open(t, worker.Config{
		Command: workertest.Command(workertest.Plain(t)), CacheDir: t.TempDir(), BatchLimit: 20 * time.Second,
	})
	for kind, all := range map[string][]bad{
		"Word": badWord(t), "PowerPoint": badSlides(t), "Excel": badExcel(t), "OpenDocument sheets": badOpenSheets(t),
		"OpenDocument text": badOpenTexts(t), "OpenDocument slides": badOpenSlides(t), "rich text": badRTF(),
		"mail": badMails(), "mailbox": badMailboxes(), "Outlook": badOutlook(), "EPUB": badBooks(t), "ZIP": badZIPs(t),
		"lines": badLines(), "cards": badCards(),
	} {
		t.Run(kind, func(t *testing.T) {
			if len(all) < fewest {
				t.Errorf("%d bad files, want at least %d", len(all), fewest)
			}
			for _, one := range all {
				t.Run(one.name, func(t *testing.T) { one.read(t, pool) })
			}
		})
	}
	t.Run("cut anywhere", func(t *testing.T) { cutAnywhere(t, pool) })
}

// cutAnywhere reads a good file of each kind up to each of many points: it ends in text or in a sentence.
func cutAnywhere(t *testing.T, pool *worker.Pool) {
	const points = 25
	whole := []bad{
		{file: "cut.rtf", data: `{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\listtext 1.\tab}The \u8220?roof\'94 ` +
			`{\field{\*\fldinst HYPERLINK "https://a.example"}{\fldrslt is}} dry{\footnote so}.\par\trowd a\cell\row}`},
		{file: "cut.eml", data: "Subject: =?utf-8?q?R=C3=B6of?=\nContent-Type: multipart/mixed; boundary=x\n\n--x\n" +
			"Content-Transfer-Encoding: base64\n\nVGhlIHJvb2YgaXMgZHJ5Lg==\n--x\nContent-Disposition: attachment; " +
			"filename=a\n\nx\n--x--\n"},
		{file: "cut.msg", data: compound(nil, "__substg1.0_1000001F", inUTF16("The roof is dry."))},
		{file: "cut.zip", data: zipped(t, false, "a.txt", "The roof is dry.", "b.txt", "b")},
		{file: "cut.ipynb", data: `{"cells":[{"cell_type":"markdown","source":["# Roof"]},{` +
			`"cell_type":"code","source":"1"}]}`},
		{file: "cut.ics", data: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Roof\nEND:VEVENT\nEND:VCALENDAR\n"},
	}
	for _, p := range fuzzed {
		whole = append(whole, bad{file: p.file, data: p.with(t)})
	}
	for _, one := range whole {
		for i := range points {
			cut := one
			cut.data = one.data[:len(one.data)*i/points]
			x, err := cut.extract(t, pool)
			if err == nil {
				err = doctext.Check(x)
			} else if strings.HasSuffix(sentenceOf(err), ".") {
				continue
			}
			if err != nil {
				t.Errorf("the first %d bytes of %s: %v, want text or a sentence", len(cut.data), cut.file, err)
			}
		}
	}
}

// sentenceOf is what people are told of an error, empty if they are told nothing.
func sentenceOf(err error) string {
	if failure, ok := errors.AsType[*corpus.Failure](err); ok {
		return failure.Detail
	}
	if refused, ok := errors.AsType[*chat.Error](err); ok {
		return refused.Message
	}
	return ""
}

// read has the worker read a file, and looks at what becomes of it.
func (b bad) read(t *testing.T, pool *worker.Pool) {
	began := time.Now()
	x, err := b.extract(t, pool)
	t.Logf("%d bytes, %d blocks in %v: %.60q %v", len(x.Text), len(x.Blocks), time.Since(began).Round(time.Millisecond),
		x.Text, err)
	if err == nil {
		if err := doctext.Check(x); err != nil {
			t.Errorf("its text breaks a promise: %v", err)
		}
		if b.text == "" || !strings.Contains(x.Text, b.text) {
			t.Errorf("it was read, %.80q; want text with %q, or a failure %q", x.Text, b.text, b.fate)
		}
		return
	}
	said := sentenceOf(err)
	if !strings.HasSuffix(said, ".") || b.fate == "" || !strings.Contains(said, b.fate) {
		t.Errorf("failed with %q (%v); want a sentence with %q, or text with %q", said, err, b.fate, b.text)
	}
}

// extract stores and reads a file as the library does.
func (b bad) extract(t *testing.T, pool *worker.Pool) (corpus.Extracted, error) {
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, []byte(b.data), 0o600); err != nil {
		t.Fatal(err)
	}
	mime, err := extract.Formats.Sniff([]byte(b.data[:min(len(b.data), corpus.SniffBytes)]), b.file)
	if err != nil {
		return corpus.Extracted{}, err
	}
	inside := t.TempDir()
	x, err := pool.Extract(t.Context(), corpus.File{
		Path: path, Filename: b.file, MIME: mime, Bytes: int64(len(b.data)), Members: inside,
	}, nil)
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(inside), "*slip*"))
	if len(beside) > 0 {
		t.Errorf("files were written beside the members': %q", beside)
	}
	return x, err
}
