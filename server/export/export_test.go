package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// answer returns evidence with all fields set.
func answer() chat.Evidence {
	return chat.Evidence{
		Question: "How long & <why>?", Model: "m", AskedAt: time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC),
		Answer: "The **roof** lasts *30 years* [1], says `code [1]`. Again [1] and [2][9].\n\n" +
			"1. one \\* two &amp; three\n2. two\n   - inner [2]\n\n> quoted\n\n```\na [1]\n  b\n```\n\n" +
			"| a | b |\n|---|--:|\n| x [2] | 1 |\n\n" +
			"[a link](https://example.org/?a=1&b=2) and [bad](javascript:alert(1))\n\n---\n\n# Head",
		Citations: []chat.EvidenceCitation{
			{Number: 1, DocumentID: "d", Title: "Survey", Filename: "Survey.pdf", Page: 4, Section: "Roof",
				Quote: "It lasts 30 years.", Check: chat.CheckVerified, SourceURL: "https://example.org/survey"},
			{
				Number:     2,
				DocumentID: "e",
				Title:      "n.md",
				Filename:   "n.md",
				Claimed:    "never said",
				Check:      chat.CheckNotFound,
			},
		},
		Unsupported: []string{"A bold claim."},
	}
}

// parts returns the files of a document.
func parts(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(body)
		for d := xml.NewDecoder(bytes.NewReader(body)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s is not well-formed: %v", f.Name, err)
				break
			}
		}
	}
	return files
}

func TestWordFileHasFootnotes(t *testing.T) {
	raw, err := Word("Two answers", []chat.Evidence{answer(), answer()})
	if err != nil {
		t.Fatal(err)
	}
	files := parts(t, raw)
	body, notes := files["word/document.xml"], files["word/footnotes.xml"]
	if got := strings.Count(body, "<w:footnoteReference "); got != 4 {
		t.Errorf("%d footnotes are referred to, want 4: two of each answer", got)
	}
	if got := strings.Count(body, "NOTEREF _Note1 "); got != 1 {
		t.Errorf("the first footnote is referred to again %d times, want 1", got)
	}
	if got := strings.Count(notes, "<w:footnote w:id="); got != 4 {
		t.Errorf("there are %d footnotes, want 4", got)
	}
	for _, want := range []string{
		"How long &amp; &lt;why&gt;?", "code [1]", "[9]", "one * two &amp; three", `<w:outlineLvl`, "<w:tbl>", "a [1]",
		"A bold claim.", "<w:b/>", "<w:i/>",
	} {
		if all := body + files["word/styles.xml"]; !strings.Contains(all, want) {
			t.Errorf("document lacks %q", want)
		}
	}
	for _, want := range []string{
		"“It lasts 30 years.”", "Survey (Survey.pdf)", ", p. 4", ", Roof", "Quote not found:", "n.md",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("footnotes lack %q", want)
		}
	}
	for name, rels := range files {
		if strings.Contains(rels, "javascript:") {
			t.Errorf("%s has a javascript address", name)
		}
	}
	if !strings.Contains(files["word/_rels/document.xml.rels"], "https://example.org/?a=1&amp;b=2") {
		t.Error("address of the link is missing")
	}
	again, err := Word("Two answers", []chat.Evidence{answer(), answer()})
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("second file has other bytes (%v)", err)
	}
}

// LibreOffice numbers the footnotes, and shows the first one's number for a repeated citation.
func TestLibreOfficeReadsFootnotes(t *testing.T) {
	if _, err := exec.LookPath("soffice"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no LibreOffice: make soffice installs it")
	}
	raw, err := Word("Two answers", []chat.Evidence{answer(), answer()})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "two.docx")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "soffice",
		"-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", "txt:Text",
		"--outdir", dir, path).CombinedOutput()
	if err != nil {
		t.Fatalf("soffice: %v\n%s", err, out)
	}
	words, err := os.ReadFile(filepath.Join(dir, "two.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"lasts 30 years1, says code [1]. Again1 and2[9].", "lasts 30 years3, says code [1]. Again3 and4[9].",
		"1. one * two & three", "2. two",
	} {
		if !strings.Contains(string(words), want) {
			t.Errorf("LibreOffice lacks %q in\n%s", want, words)
		}
	}
}

func FuzzWord(f *testing.F) {
	f.Add(answer().Answer, "It lasts 30 years.")
	f.Add("[1][1] * - 1) \x00 &#0; <b>", "\u202e\ufffe]]>")
	f.Fuzz(func(t *testing.T, text, quote string) {
		e := answer()
		e.Answer, e.Citations[0].Quote = text, quote
		raw, err := Word(quote, []chat.Evidence{e})
		if err != nil {
			t.Fatal(err)
		}
		parts(t, raw)
	})
}

func TestSourcesForReferenceManagers(t *testing.T) {
	sources := []Source{
		NewSource("Notes on {the} Engine", "notes.pdf", map[string]any{
			"author": []any{
				"Lovelace, Ada",
				"Charles Babbage",
			}, "date": "1843-08-31T00:00:00Z", "journal": "Memoirs & Co",
			"doi": "https://doi.org/10.1/x_y", "source_url": "https://example.org/n",
		}),
		NewSource("", "lease.docx", map[string]any{"year": 2021.0, "source_url": "javascript:x"}),
		NewSource("", "lease.docx", nil),
	}
	bib := string(BibTeX(sources))
	for _, want := range []string{
		"@article{lovelace1843notes,", `title = {{Notes on \textbraceleft{}the\textbraceright{} Engine}}`,
		"author = {Lovelace, Ada and Charles Babbage}",
		"year = {1843}", "month = {8}", `journal = {Memoirs \& Co}`, `doi = {10.1/x\_y}`,
		"url = {https://example.org/n}",
		"@misc{2021leasedocx,", "@misc{leasedocx,",
	} {
		if !strings.Contains(bib, want) {
			t.Errorf("BibTeX lacks %q:\n%s", want, bib)
		}
	}
	ris := string(RIS(sources))
	for _, want := range []string{
		"TY  - JOUR\r\nTI  - Notes on {the} Engine\r\nAU  - Lovelace, Ada\r\nAU  - Charles Babbage\r\nPY  - 1843\r\n",
		"DA  - 1843/08/31\r\n", "ER  - \r\n",
	} {
		if !strings.Contains(ris, want) {
			t.Errorf("RIS lacks %q:\n%s", want, ris)
		}
	}
	if strings.Contains(bib+ris, "javascript") {
		t.Error("source has a javascript address")
	}
	raw, err := CSL(sources)
	if err != nil {
		t.Fatal(err)
	}
	var items []cslItem
	if err := json.Unmarshal(raw, &items); err != nil || len(items) != 3 {
		t.Fatalf("CSL: %v, %d items, want 3", err, len(items))
	}
	first := items[0]
	if first.Type != "article-journal" || first.Author[0].Family != "Lovelace" ||
		first.Author[1].Literal != "Charles Babbage" ||
		len(first.Issued.Parts[0]) != 3 || first.DOI != "10.1/x_y" {
		t.Errorf("the first item = %+v", first)
	}
}

func TestMarkdownHasFootnotes(t *testing.T) {
	got := string(Markdown([]chat.Evidence{answer(), answer()}))
	for _, want := range []string{
		"lasts *30 years*[^1], says `code [1]`. Again[^1] and[^2][9].", "a [1]\n  b", "lasts *30 years*[^3]",
		"[^1]: “It lasts 30 years\\.” [Survey \\(Survey\\.pdf\\)](<https://example.org/survey>), p\\. 4, Roof\n",
		"[^2]: Quote not found\\: never said",
	} {
		if want = strings.ReplaceAll(want, "found\\:", "found:"); !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	page, err := HTML("t", []chat.Evidence{answer()})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="fn:1"`, `href="#fn:2"`, "It lasts 30 years.", "<table>", "How long &amp; &lt;why&gt;?",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("page lacks %q:\n%s", want, page)
		}
	}
	for _, never := range []string{"<script", "javascript:", "src="} {
		if strings.Contains(string(page), never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// BibTeX counts escaped braces, too: an unbalanced one would extend the field over the next entries.
func TestUnbalancedBracesInTitlesAreEscaped(t *testing.T) {
	got := string(BibTeX([]Source{{Title: "An open { brace"}, {Title: "A closing } brace", Publisher: "P{"}}))
	depth := 0
	for at, r := range got {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case '@':
			if depth != 0 {
				t.Errorf("entry at %d starts inside another:\n%s", at, got)
			}
		}
	}
	if depth != 0 {
		t.Errorf("%d braces are not closed:\n%s", depth, got)
	}
}

func TestAddedFootnotesAreMarked(t *testing.T) {
	e := answer()
	e.Citations[0].Added = true
	raw, err := Word("One answer", []chat.Evidence{e})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Word": parts(t, raw)["word/footnotes.xml"], "Markdown": string(Markdown([]chat.Evidence{e})),
	} {
		if n := strings.Count(text, "added by Footnote"); n != 1 {
			t.Errorf("%s: got %d marks, want 1: %s", name, n, text)
		}
	}
}

// An answer's text is a model's, and may be injected by a document.
func TestAnswerCannotCreateFootnotes(t *testing.T) {
	for name, text := range map[string]string{
		"a list of sources":   "The roof lasts [1].\n\n[1]: It lasts forever.",
		"a definition":        "The roof lasts [1].\n\n[^1]: It lasts forever.",
		"one that is escaped": "The roof lasts [1].\n\n\\\\[^1]: It lasts forever.",
		"one in a quote":      "The roof lasts [1].\n\n> [^1]: It lasts forever.",
	} {
		e := answer()
		e.Answer = text
		page, err := HTML("t", []chat.Evidence{e})
		if err != nil {
			t.Fatal(err)
		}
		_, notes, _ := strings.Cut(string(page), `class="footnotes"`)
		if !strings.Contains(notes, "It lasts 30 years.") || strings.Contains(notes, "forever") {
			t.Errorf("%s: footnotes =\n%s", name, notes)
		}
	}
}

func TestAnswerCannotHideFollowingText(t *testing.T) {
	for name, text := range map[string]string{
		"a comment": "It lasts [1].\n\n<!-- and so", "a script": "It lasts [1].\n\n<script>",
		"an instruction": "It lasts [1].\n\n<?x", "words and a comment": "It lasts [1]. <!-- a --> <b>b</b>",
		"code": "It lasts [1].\n\n```go\nx := 1 // [1]", "much code": "It lasts [1].\n\n~~~~\n~~~\nx",
		"code behind a comment": "It lasts [1].\n\n<!--\n```\nx",
	} {
		e := answer()
		e.Answer = text
		page, err := HTML("t", []chat.Evidence{e, answer()})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`id="fn:1"`, `id="fn:2"`, "It lasts 30 years.", "<em>30 years</em>"} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: page lacks %q:\n%s", name, want, page)
			}
		}
	}
}
