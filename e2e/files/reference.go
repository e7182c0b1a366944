package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// The first is a choice. What takes longer or is longer has no reference.
const (
	conversionTime = 2 * time.Minute // of one file
	maxReference   = 32 << 20        // bytes; a longer one, such as a million rows of separators, is none
)

// A converter makes a reference text of a file with another program: it writes plain text to out. scratch is an empty
// directory. An error means that there is no reference, and not that the measuring failed.
type converter struct {
	name string
	make func(ctx context.Context, path, scratch, out string) error
}

var (
	// LibreOffice's own text export.
	officeText = converter{"office", func(ctx context.Context, path, scratch, out string) error {
		return office(ctx, path, scratch, "txt:Text", out)
	}}
	// What LibreOffice draws, read off its pages.
	officePages = converter{"pages", func(ctx context.Context, path, scratch, out string) error {
		drawn := filepath.Join(scratch, "drawn.pdf")
		if err := office(ctx, path, scratch, "pdf", drawn); err != nil {
			return err
		}
		return run(ctx, scratch, "pdftotext", drawn, out)
	}}
	// Every sheet of a workbook as CSV, one after another.
	officeSheets = converter{"sheets", func(ctx context.Context, path, scratch, out string) error {
		return office(ctx, path, scratch, sheetsAsCSV, out)
	}}
	// Pandoc's plain text, without line breaks of its own; in its sandbox it reads no other file.
	pandocText = converter{"pandoc", func(ctx context.Context, path, scratch, out string) error {
		return run(ctx, scratch, "pandoc", "--wrap=none", "--to=plain", "--sandbox", "--output="+out, path)
	}}
	// The decoded parts of a mail or a mailbox with its four headers.
	pythonMail = converter{"python", func(ctx context.Context, path, scratch, out string) error {
		return run(ctx, scratch, "python3", "-c", mailScript, path, out)
	}}
)

// enough is the score from which on no further reference is made: another program's text has all words. It is a
// choice; the table counts files below it.
const enough = 0.97

// converters of a kind by its format's name; the nearest counts. The text export of LibreOffice leaves out headers,
// footers, text boxes and diagrams, which its pages show. Where nothing stands for a kind, such as PDF, nothing is
// compared.
var converters = map[string][]converter{
	"docx": {officeText, pandocText, officePages}, "odt": {officeText, pandocText, officePages},
	"rtf":  {officeText, pandocText},
	"epub": {pandocText}, "pptx": {officeSlides, officePages}, "odp": {officeSlides, officePages},
	"xlsx": {officeSheets}, "ods": {officeSheets},
	"eml": {pythonMail}, "mbox": {pythonMail}, "doc": {officeText}, "xls": {officeSheets}, "ppt": {officePages},
}

// Every sheet in a file of its own, UTF-8, with cells as they are shown in American English. The numbers are the
// tokens of LibreOffice's filter for CSV: 44 and 34 are comma and quote, 76 is UTF-8, 1033 is English (USA), and the
// last, -1, is all sheets.
const sheetsAsCSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,true,false,false,false,-1"

// The day and the time are written as the product writes them: what is compared is whether both read the same.
const mailScript = `
import sys, email, email.policy, mailbox, re, html
path, policy = sys.argv[1], email.policy.default
def parse(file): return email.message_from_binary_file(file, policy=policy)
with open(path, 'rb') as file:
    mails = [parse(file)] if file.read(5) != b'From ' and file.seek(0) == 0 else mailbox.mbox(path, factory=parse)
with open(sys.argv[2], 'w') as out:
    for m in mails:
        sent, subject = m['Date'] and m['Date'].datetime, m['Subject'] or ''
        out.write(f"{subject or m['From'] or ''} {sent.strftime('%-d %B %Y') if sent else ''}\n")
        for h in ('From', 'To', 'Cc', 'Date', 'Subject'):
            said = sent and sent.strftime('%a, %-d %b %Y %H:%M %z') if h == 'Date' else m[h]
            if said: out.write(f"{h} {said}\n")
        names = [a.get_filename() for a in m.iter_attachments() if a.get_filename()]
        if names: out.write('Attachments ' + ' '.join(names) + '\n')
        body = m.get_body(('plain', 'html'))
        if body is None: continue
        text = body.get_content()
        if body.get_content_subtype() == 'html':
            text = html.unescape(re.sub(r'(?s)<(style|script|head).*?</\1>|<[^>]+>', ' ', text))
        out.write(text)
`

// office converts with LibreOffice, with a profile of its own, and moves or joins what it wrote to out.
func office(ctx context.Context, path, scratch, to, out string) error {
	if err := runOffice(ctx, scratch, to, scratch, path); err != nil {
		return err
	}
	ending, _, _ := strings.Cut(to, ":")
	made, err := filepath.Glob(filepath.Join(scratch, "*."+ending))
	if err != nil || len(made) == 0 {
		return errors.Join(err, errors.New("LibreOffice wrote nothing"))
	}
	var all []byte
	for _, name := range made {
		text, err := readReference(name)
		if err != nil {
			return err
		}
		own := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		sheet := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), own)
		if word.Match(text) {
			all = append(append(append(all, sheet...), '\n'), append(text, '\n')...) // a sheet's name is its file's end
		}
	}
	return os.WriteFile(out, all, 0o600)
}

// runOffice has LibreOffice write a file in another format into the directory out. The profile is one for all calls,
// so that LibreOffice is not set up anew for each, and not the user's own.
func runOffice(ctx context.Context, scratch, to, out, path string) error {
	return run(ctx, scratch, "soffice", "-env:UserInstallation=file:///tmp/footnote-files-office", "--headless",
		"--convert-to", to, "--outdir", out, path)
}

// run runs a program in a directory. It is killed when conversionTime is over, or with ctx. What it prints is thrown
// away.
func run(ctx context.Context, dir, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, conversionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	return cmd.Run()
}

// referenceName is the name of a file's text: unlike for any other file. Slashes and spaces become underscores, so all
// can lie in one directory.
func referenceName(path string) string {
	return strings.NewReplacer("/", "_", " ", "_").Replace(strings.Trim(path, "./")) + ".txt"
}

// compareAll returns the word F1 of each file that has a reference with words: of several, the nearest. Of a file that
// was refused it is 0. F1 is from 0 to 1. A kind's converters are tried one after the other until one is near enough.
func compareAll(ctx context.Context, dir string, readings []reading) (map[string]float64, error) {
	scores := map[string]float64{}
	for _, r := range readings {
		text := r.text
		if r.kind == "xlsx" || r.kind == "ods" {
			text = r.cells // LibreOffice's CSV has no boxes and no charts
		}
		for _, c := range converters[r.kind] {
			if scores[r.path] >= enough {
				break
			}
			reference, err := referenceText(ctx, c, dir, r.path)
			if err != nil {
				return scores, err
			}
			if word.MatchString(reference) {
				scores[r.path] = max(scores[r.path], wordF1(text, reference))
			}
		}
	}
	return scores, nil
}

// referenceText is empty where the other program reads nothing or fails.
//
// What was made is kept below dir by the converter's name, also when it is empty, so the next run does not try again.
func referenceText(ctx context.Context, c converter, dir, path string) (text string, err error) {
	name := filepath.Join(dir, c.name, referenceName(path))
	if raw, err := readReference(name); err == nil {
		return string(raw), nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp("", "footnote-reference-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	out := filepath.Join(scratch, "reference.text")
	var raw []byte
	if c.make(ctx, absolute, scratch, out) == nil {
		raw, _ = readReference(out) // none: the reference is empty
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(raw), os.WriteFile(name, raw, 0o600)
}

// readReference fails for a text that is too long.
func readReference(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || info.Size() > maxReference {
		return nil, errors.Join(err, errors.New("no reference of that length"))
	}
	return os.ReadFile(name)
}

// word is a run of letters, marks, digits and underscores: what is compared, whatever stands between.
var word = regexp.MustCompile(`[\p{L}\p{M}\p{N}_]+`)

// wordF1 compares two texts as bags of words: twice the shared words over all words, 0 to 1. A word that is in both
// counts as often as in the one that has it less often. Two texts without words are equal, 1.
func wordF1(a, b string) float64 {
	inA, all := countWords(a)
	inB, more := countWords(b)
	shared := 0
	for w, n := range inA {
		shared += min(n, inB[w])
	}
	if all+more == 0 {
		return 1
	}
	return 2 * float64(shared) / float64(all+more)
}

// countWords counts words without regard to case, and returns their number in all.
func countWords(text string) (count map[string]int, all int) {
	count = map[string]int{}
	for _, w := range word.FindAllString(strings.ToLower(norm.NFKC.String(text)), -1) {
		count[w]++
		all++
	}
	return count, all
}
