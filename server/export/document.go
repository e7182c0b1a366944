// Package export encodes answers as files for other programs: a Word document with native footnotes, and the sources
// as BibTeX, CSL-JSON or RIS. Equal answers give equal bytes. Text of documents, models and users is always escaped
// in these files.
//
// document.go and parts.go write the Word document, markdown.go parses an answer's Markdown for it, plain.go writes
// Markdown and HTML, inset.go inserts footnotes into Markdown, sources.go writes lists of sources, and table.go
// writes grids. Input is chat.Evidence and chat.Grid, output is bytes; nothing is read from a store or the network.
// Word documents are encoded here, because the maintained free library has no footnotes (docs/decisions/page.md).
package export

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
)

// MediaTypes are the media types of the formats, by their names in requests.
var MediaTypes = map[string]string{
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"bib":  "application/x-bibtex; charset=utf-8", "csl": "application/vnd.citationstyles.csl+json",
	"ris": "application/x-research-info-systems; charset=utf-8",
}

// Extension returns the file name extension of a format.
func Extension(format string) string {
	if format == "csl" {
		return "csl.json"
	}
	return format
}

// Word encodes answers as one document of Office Open XML (ECMA-376). Each footnote is a native one, numbered
// through the document, with the quote, its document and its place. A repeated citation is a cross-reference to the
// first footnote's number. The file's time is that of the first answer, and parts have a fixed order and no times,
// so that equal answers give equal bytes.
//
// An answer's Markdown is converted to Word's headings, lists, tables and runs; HTML in it is shown as text. Only
// web links become hyperlinks. title is that of the file's properties. It fails only if the archive can't be
// written, which does not happen in memory.
func Word(title string, answers []chat.Evidence) ([]byte, error) {
	d := &document{body: &strings.Builder{}, links: map[string]string{}}
	for _, e := range answers {
		d.addAnswer(e)
	}
	var created time.Time
	if len(answers) > 0 {
		created = answers[0].AskedAt.UTC()
	}
	return writePackage([]part{
		{"[Content_Types].xml", contentTypes},
		{"_rels/.rels", packageRelations},
		{"docProps/core.xml", coreProperties(title, created)},
		{"word/document.xml", documentOpen + d.body.String() + documentClose},
		{"word/footnotes.xml", footnotesOpen + d.notes.String() + "</w:footnotes>"},
		{"word/styles.xml", styles},
		{"word/settings.xml", settings},
		{"word/numbering.xml", d.numbering()},
		{"word/_rels/document.xml.rels", d.relations(documentRelations)},
		{"word/_rels/footnotes.xml.rels", d.relations("")},
	})
}

// part is a file of an Office Open XML package: its name and its XML without the declaration.
type part struct{ name, body string }

// writePackage returns a package of Office Open XML. Parts keep their order and have no times, so that equal parts
// give equal bytes.
func writePackage(groups ...[]part) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, p := range slices.Concat(groups...) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write([]byte(xmlHead + p.body))
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", p.name, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write the package: %w", err)
	}
	return out.Bytes(), nil
}

// document is a Word document during encoding.
//
// It is filled by one goroutine and used once. Ids of relations, bookmarks and footnotes are counted in order, so
// equal answers give equal ids.
type document struct {
	body      *strings.Builder // the current target: the text, or a footnote
	notes     strings.Builder
	links     map[string]string // ids of relations by address
	addresses []string          // the addresses in the order of their ids
	footnotes int               // written so far
	lists     []bool            // whether each list is numbered
	starts    []int             // the first number of each
	first     map[int]int       // of the current answer: footnotes by citation number
	cited     map[int]chat.EvidenceCitation
}

// addAnswer adds a question with its answer and its sources.
//
// Sentences without a source are listed under “Without support”, since the file has no marks for them. Each document
// is listed once among the sources, in the order of citation.
func (d *document) addAnswer(e chat.Evidence) {
	d.first, d.cited = map[int]int{}, map[int]chat.EvidenceCitation{}
	for _, c := range e.Citations {
		d.cited[c.Number] = c
	}
	d.paragraph("Heading1", "", func() { d.run(e.Question, style{}) })
	about := "Asked " + e.AskedAt.UTC().Format("2 January 2006, 15:04 UTC")
	if e.Model != "" {
		about += " · answered by " + e.Model
	}
	d.paragraph("Quiet", "", func() { d.run(about, style{}) })
	d.markdown(e.Answer)
	if len(e.Unsupported) > 0 {
		d.paragraph("Heading2", "", func() { d.run("Without support", style{}) })
		list := d.newList(false, 1)
		for _, sentence := range e.Unsupported {
			d.paragraph("", listProperties(list, 0), func() { d.run(sentence, style{}) })
		}
	}
	if len(e.Citations) == 0 {
		return
	}
	d.paragraph("Heading2", "", func() { d.run("Sources", style{}) })
	seen := map[string]bool{}
	list := d.newList(false, 1)
	for _, c := range e.Citations {
		if seen[c.DocumentID] {
			continue
		}
		seen[c.DocumentID] = true
		d.paragraph("", listProperties(list, 0), func() {
			d.run(sourceName(c), style{link: chat.WebLink(c.SourceURL)})
		})
	}
}

// sourceName returns a document's title, with its file name if that differs.
func sourceName(c chat.EvidenceCitation) string {
	if c.Title == "" || c.Title == c.Filename {
		return c.Filename
	}
	if c.Filename == "" {
		return c.Title
	}
	return c.Title + " (" + c.Filename + ")"
}

// cite writes the footnote of a citation, or a cross-reference to an existing one. ok is false for a number without
// a citation. A NOTEREF field refers to the bookmark around the first reference; \f formats it as a footnote, \h
// makes it a link.
func (d *document) cite(number int) (ok bool) {
	c, ok := d.cited[number]
	if !ok {
		return false
	}
	// A repeated citation refers to the existing footnote.
	if at, before := d.first[number]; before {
		fmt.Fprintf(d.body, `<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:fldChar `+
			`w:fldCharType="begin"/></w:r><w:r>`+
			`<w:instrText xml:space="preserve"> NOTEREF _Note%d \f \h </w:instrText></w:r>`+
			`<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>`+
			`<w:t>%d</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`, at, at)
		return true
	}
	d.footnotes++
	n := d.footnotes
	d.first[number] = n
	fmt.Fprintf(d.body, `<w:bookmarkStart w:id="%[1]d" w:name="_Note%[1]d"/><w:r><w:rPr><w:rStyle `+
		`w:val="FootnoteReference"/></w:rPr><w:footnoteReference w:id="%[1]d"/></w:r><w:bookmarkEnd w:id="%[1]d"/>`, n)
	d.footnote(n, c)
	return true
}

// footnote writes a footnote: the quote, the document and the quote's place. It temporarily replaces the pointer
// body by a buffer of its own.
func (d *document) footnote(n int, c chat.EvidenceCitation) {
	// The footnote is written into another buffer, so that paragraph and run serve both.
	outside := d.body
	d.body = &strings.Builder{}
	d.paragraph("FootnoteText", "", func() {
		d.body.WriteString(`<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>`)
		switch {
		// A quote is in quotation marks; quotes that were not found are struck through, so that they are not
		// mistaken for the document's text.
		case c.Quote != "":
			d.run(" “"+strings.Join(strings.Fields(c.Quote), " ")+"” ", style{})
		case c.Claimed != "":
			d.run(" Quote not found: ", style{})
			d.run(strings.Join(strings.Fields(c.Claimed), " ")+" ", style{strike: true})
		default:
			d.run(" ", style{})
		}
		d.run(sourceName(c), style{italic: true, link: chat.WebLink(c.SourceURL)})
		for _, place := range []string{placeOf(c), c.Section} {
			if place != "" {
				d.run(", "+place, style{})
			}
		}
		if c.Check != chat.CheckVerified && c.Quote != "" {
			d.run(" ("+strings.ReplaceAll(string(c.Check), "_", " ")+")", style{})
		}
		if c.Added {
			d.run(" (added by Footnote)", style{})
		}
	})
	fmt.Fprintf(&d.notes, `<w:footnote w:id="%d">%s</w:footnote>`, n, d.body.String())
	d.body = outside
}

// placeOf returns the page or the place as text.
func placeOf(c chat.EvidenceCitation) string {
	if c.Page > 0 {
		return fmt.Sprintf("p. %d", c.Page)
	}
	return c.Place
}

// style is the formatting of text.
//
// Code takes precedence over a link's formatting. Styles are comparable, so that runs can be merged.
type style struct {
	bold, italic, strike, code bool
	link                       string // a web address; empty: none
}

// paragraph writes a paragraph with a style and further properties, both of which may be empty.
func (d *document) paragraph(styleID, properties string, inside func()) {
	d.body.WriteString("<w:p>")
	if styleID != "" {
		properties = `<w:pStyle w:val="` + styleID + `"/>` + properties
	}
	if properties != "" {
		d.body.WriteString("<w:pPr>" + properties + "</w:pPr>")
	}
	inside()
	d.body.WriteString("</w:p>")
}

// run writes text. Line feeds become Word's line breaks. In WordprocessingML the hyperlink encloses the run.
func (d *document) run(text string, s style) {
	if s.link != "" {
		d.body.WriteString(`<w:hyperlink r:id="` + d.link(s.link) + `">`)
		defer d.body.WriteString("</w:hyperlink>")
	}
	d.body.WriteString("<w:r>")
	var props strings.Builder
	switch {
	case s.code:
		props.WriteString(`<w:rStyle w:val="CodeWords"/>`)
	case s.link != "":
		props.WriteString(`<w:rStyle w:val="Hyperlink"/>`)
	}
	for _, mark := range []struct {
		on  bool
		tag string
	}{{s.bold, "<w:b/>"}, {s.italic, "<w:i/>"}, {s.strike, "<w:strike/>"}} {
		if mark.on {
			props.WriteString(mark.tag)
		}
	}
	if props.Len() > 0 {
		d.body.WriteString("<w:rPr>" + props.String() + "</w:rPr>")
	}
	// A line break within a run is an element of its own in WordprocessingML.
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			d.body.WriteString("<w:br/>")
		}
		if line != "" {
			d.body.WriteString(`<w:t xml:space="preserve">` + escape(line) + "</w:t>")
		}
	}
	d.body.WriteString("</w:r>")
}

// link returns the id of an address's relation. Equal addresses share one relation.
func (d *document) link(address string) string {
	id, known := d.links[address]
	if !known {
		d.addresses = append(d.addresses, address)
		id = fmt.Sprintf("link%d", len(d.addresses))
		d.links[address] = id
	}
	return id
}

// relations returns a part's relations: its own and all links. Text and footnotes are two parts, and an id is
// resolved in its own part's relations, so both have all links.
func (d *document) relations(own string) string {
	var b strings.Builder
	b.WriteString(relationsOpen + own)
	for i, address := range d.addresses {
		fmt.Fprintf(&b, `<Relationship Id="link%d" Type="%s/hyperlink" Target="%s" TargetMode="External"/>`,
			i+1, relationTypes, escape(address))
	}
	b.WriteString("</Relationships>")
	return b.String()
}
