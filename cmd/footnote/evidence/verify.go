package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/wire"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/views"
)

// maxEvidence is the largest file that verify reads. The server's own check has the same limit.
const maxEvidence = 32 << 20

// Verify verifies the quotes of an exported answer against the library or the originals.
//
// A quote is verified if it is in its document word for word, at the offset in the file. With --documents, neither
// the server nor its library is used, so its provider need not be trusted.
type Verify struct {
	File      string `arg:"" help:"An exported answer: Markdown, HTML or JSON."`
	Documents string `help:"Verify against the originals in this folder instead of the library." type:"existingdir" placeholder:"FOLDER"`
	JSON      bool   `help:"Print the report as JSON."`
}

// Run verifies each quote and prints the results. Anything not verified is an error. The report is printed in
// either case.
func (v *Verify) Run(p *command.Program) error {
	file, err := readEvidence(v.File)
	if err != nil {
		return err
	}
	check := fromLibrary
	if v.Documents != "" {
		check = v.fromFolder
	}
	report, err := check(p, file)
	if err != nil {
		return err
	}
	if v.JSON {
		if err := json.NewEncoder(p.Stdout).Encode(report); err != nil {
			return err
		}
	} else {
		printReport(p.Stdout, report)
	}
	if !report.OK {
		return errors.New("the file has unverified quotes")
	}
	return nil
}

// readEvidence reads an exported answer, up to maxEvidence bytes.
func readEvidence(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the evidence: %w", err)
	}
	defer file.Close()
	// One byte over the limit distinguishes a file that is too large from one that just fits.
	raw, err := io.ReadAll(io.LimitReader(file, maxEvidence+1))
	if err == nil && len(raw) > maxEvidence {
		err = errors.New("the file is larger than 32 MiB")
	}
	return raw, err
}

// fromLibrary sends the whole file to the server that has the documents, for verification there.
func fromLibrary(p *command.Program, file []byte) (report chat.EvidenceReport, err error) {
	server, err := p.Connect()
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	err = server.JSON(p.Ctx, http.MethodPost, "/evidence/verify", map[string]string{"file": string(file)}, &report)
	return report, err
}

// fromFolder verifies against originals: each file is identified by its hash, and parsed like an upload. A document
// that was modified is reported as changed: its name is known and its hash differs.
func (v *Verify) fromFolder(p *command.Program, file []byte) (report chat.EvidenceReport, err error) {
	e, problems, err := views.ReadEvidence(file)
	if err != nil {
		return report, err
	}
	originals, byName, err := hashFiles(v.Documents)
	if err != nil {
		return report, err
	}
	reader, err := newReader(p)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, reader.close()) }()
	// By hash: an answer often quotes one document many times, and parsing it takes seconds.
	texts := map[string]corpus.Extracted{}
	var results []chat.EvidenceResult
	for _, c := range e.Citations {
		hash := c.SHA256
		path, found := originals[hash]
		if !found { // another version with the same name is a change
			hash, found = byName[c.Filename]
			path = originals[hash]
		}
		text, known := texts[hash]
		if found && !known {
			if text, err = reader.readFile(p.Ctx, path, c.Filename); err != nil {
				return report, fmt.Errorf("read %s: %w", path, err)
			}
			texts[hash] = text
		}
		results = append(results, corpus.CheckEvidence(c, found, hash, text.Text, text.Blocks))
	}
	return e.Report(problems, results), nil
}

// hashFiles returns the files below a folder by their SHA-256, and the hashes by file name. Of two files with one
// name the last one by path wins; both are known by their hashes. Links are not followed, and only regular files
// are read.
func hashFiles(folder string) (paths, byName map[string]string, err error) {
	paths, byName = map[string]string{}, map[string]string{}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return err
		}
		hash := hex.EncodeToString(sum.Sum(nil))
		paths[hash], byName[entry.Name()] = path, hash
		return nil
	})
	return paths, byName, err
}

// fileReader parses originals in worker processes. It must be closed. It is safe for concurrent use.
type fileReader struct {
	files     *worker.Pool
	reader    corpus.Extractor // of the files, with OCR
	temporary string           // a temporary directory; empty: none
}

// newReader starts a file reader like a server's, with worker processes.
func newReader(p *command.Program) (_ *fileReader, err error) {
	r := &fileReader{}
	cache := datadir.At(p.Settings.Data).Path("cache", "pdf") // compiled code is cached
	if _, err := os.Stat(cache); err != nil {                 // evidence can be verified without a library
		if cache, err = os.MkdirTemp("", "footnote-verify-"); err != nil {
			return nil, err
		}
		r.temporary = cache
	}
	if r.files, err = wire.Workers(cache, command.QuietLogger(p.Stderr)); err != nil {
		return nil, errors.Join(err, r.removeTemporary())
	}
	r.reader = wire.PictureReader(p.Settings, r.files, nil)
	return r, nil
}

// readFile parses an original like an upload. The format is detected from its first bytes and its name, as for an
// upload: the text depends on the parser.
func (r *fileReader) readFile(ctx context.Context, path, filename string) (corpus.Extracted, error) {
	info, err := os.Stat(path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	head := make([]byte, corpus.SniffBytes)
	file, err := os.Open(path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer file.Close()
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return corpus.Extracted{}, err
	}
	kind, err := extract.Formats.Sniff(head[:n], filename)
	if err != nil {
		return corpus.Extracted{}, err
	}
	return r.reader.Extract(
		ctx, corpus.File{Path: path, Filename: filename, MIME: kind, Bytes: info.Size()}, func(int, int) {},
	)
}

// close stops the workers and removes the temporary files.
func (r *fileReader) close() error { return errors.Join(r.files.Close(), r.removeTemporary()) }

// removeTemporary removes the compile cache if it was created for this command.
func (r *fileReader) removeTemporary() error {
	if r.temporary == "" {
		return nil
	}
	return os.RemoveAll(r.temporary)
}

// printReport prints the result of each quote. The file's text is untrusted and stays on one line each, so that it
// can't imitate results. ✓ or ✕ precedes each footnote's number.
func printReport(w io.Writer, r chat.EvidenceReport) {
	fmt.Fprintf(w, "%s\n", command.OneLine(r.Question))
	for _, problem := range r.Problems {
		fmt.Fprintf(w, "✕ %s\n", problem)
	}
	for _, c := range r.Citations {
		sign := "✓"
		if c.State != chat.EvidenceVerified {
			sign = "✕"
		}
		fmt.Fprintf(w, "%s [%d] %s: %s", sign, c.Number, command.OneLine(c.Title), c.State)
		if c.Detail != "" {
			fmt.Fprintf(w, " — %s", c.Detail)
		}
		fmt.Fprintln(w)
	}
	if len(r.Citations) == 0 {
		fmt.Fprintln(w, "This answer has no footnotes.")
	}
}
