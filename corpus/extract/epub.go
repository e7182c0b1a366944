package extract

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// maxChapter is the maximum size in bytes of a chapter that is parsed as HTML. Of a longer one only the text is
// kept. Each chapter is a file in the archive, and most are far below a megabyte.
const maxChapter = maxHTML

// book is the state of parsing an EPUB. Paths are relative to the archive's root, and lookups ignore case.
type book struct {
	pack     *ooxml.Package
	base     string            // directory of the package document
	files    map[string]string // of the manifest, by id
	spine    []string          // ids in reading order
	contents string            // id of the table of contents: "nav" or NCX
	titles   map[string]string // of chapters, by file
	about    map[string]string
	w        doctext.Writer
}

// readEPUB parses a book (EPUB 2 and 3) in the order of its spine. A chapter without a heading gets its title from
// the table of contents. An encryption.xml alone may only obfuscate fonts, which is harmless here. With a rights.xml
// as well, the chapters are encrypted and the file fails. The book is not validated against EPUB 3.3: missing parts
// are skipped.
func readEPUB(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	pack, err := ooxml.Open(f.Path)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer pack.Close()
	if pack.Has("META-INF/encryption.xml") && pack.Has("META-INF/rights.xml") {
		return corpus.Extracted{}, &corpus.Failure{Code: "encrypted",
			Detail: "This book is protected by DRM. Add a copy without DRM."}
	}
	b := book{pack: pack, files: map[string]string{}, titles: map[string]string{}, about: map[string]string{}}
	if err := errors.Join(b.readPackage(), b.readContents()); err != nil {
		return corpus.Extracted{}, err
	}
	for _, id := range b.spine {
		if ctx.Err() != nil {
			return corpus.Extracted{}, ctx.Err()
		}
		if err := b.readChapter(b.files[id]); err != nil {
			return corpus.Extracted{}, err
		}
	}
	x := b.w.Result()
	x.Title, x.Language = b.about["title"], b.about["language"]
	for from, to := range map[string]string{"creator": "author", "date": "date", "subject": "subject"} {
		if b.about[from] != "" {
			x.Meta[to] = b.about[from]
		}
	}
	return x, nil
}

// readPackage parses the manifest, the spine and the metadata. META-INF/container.xml names the package document,
// the first "rootfile" of several (EPUB 3.3, "Container file"). The package document holds the metadata, the
// manifest, which lists files by id, and the spine, which lists ids in reading order (EPUB 3.3, "Package document").
// Of repeated metadata, such as several authors, the first value is used. The contents are the manifest's item with
// the property "nav", or the NCX of EPUB 2.
func (b *book) readPackage() error {
	document := ""
	err := b.pack.Decode("META-INF/container.xml", func(d *ooxml.Decoder) error {
		return walkXML(d, func(e xml.StartElement) error {
			if e.Name.Local == "rootfile" {
				document = cmp.Or(document, ooxml.Attr(e, "full-path"))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if !b.pack.Has(document) {
		return ooxml.Damaged
	}
	b.base = path.Dir(document)
	return b.pack.Decode(document, func(d *ooxml.Decoder) error {
		return d.Children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "metadata":
				return d.Children(func(e xml.StartElement) error {
					text, err := d.Text()
					b.about[e.Name.Local] = cmp.Or(b.about[e.Name.Local], doctext.Line(text))
					return err
				})
			case "manifest":
				return d.Children(func(e xml.StartElement) error {
					id := ooxml.Attr(e, "id")
					b.files[id] = b.resolve(b.base, ooxml.Attr(e, "href"))
					if strings.Contains(ooxml.Attr(e, "properties"), "nav") ||
						ooxml.Attr(e, "media-type") == "application/x-dtbncx+xml" && b.contents == "" {
						b.contents = id
					}
					return d.Skip()
				})
			case "spine":
				return d.Children(func(e xml.StartElement) error {
					b.spine = append(b.spine, ooxml.Attr(e, "idref"))
					return d.Skip()
				})
			}
			return d.Skip()
		})
	})
}

// resolve returns the path that a reference in a directory points to. References are relative to the file that
// contains them, and percent-encoded. The fragment is dropped.
func (b *book) resolve(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return path.Join(dir, href)
}

// readContents parses the titles of the table of contents. Each entry of an NCX is a text followed by a content
// element; a navigation document has links. One walk handles both.
func (b *book) readContents() error {
	file := b.files[b.contents]
	if !b.pack.Has(file) {
		return nil
	}
	title := ""
	return b.pack.Decode(file, func(d *ooxml.Decoder) error {
		var walk func() error
		walk = func() error {
			return d.Children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "text": // NCX: the label precedes the target
					text, err := d.Text()
					title = doctext.Line(text)
					return err
				case "content":
					b.nameChapter(b.resolve(path.Dir(file), ooxml.Attr(e, "src")), title)
					return d.Skip()
				case "a":
					text, err := d.Text()
					b.nameChapter(b.resolve(path.Dir(file), ooxml.Attr(e, "href")), doctext.Line(text))
					return err
				}
				return walk()
			})
		}
		return walk()
	})
}

// nameChapter stores the first title of a file. Later entries for the same file name sections inside it.
func (b *book) nameChapter(file, title string) {
	b.titles[file] = cmp.Or(b.titles[file], title)
}

// readChapter writes one file of the spine. A missing file is skipped, so that the rest of the book is still read. A
// chapter without a heading gets its title from the table of contents, as context for its passages.
func (b *book) readChapter(file string) error {
	if !b.pack.Has(file) {
		return nil
	}
	part, err := b.pack.Part(file)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(part)
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	src, err := decodeText(data, declaredCharset(data))
	if err != nil {
		return err
	}
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil || len(src) > maxChapter || strings.Count(src, "<") > maxTags {
		b.w.LeaveHeadings()
		stripTags(&b.w, src, invisible, 0)
		b.w.End()
		return nil
	}
	if !hasHeading(doc) {
		if title := b.titles[file]; title != "" && strings.TrimSpace(textOf(doc)) != "" {
			b.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
			b.w.Text(title)
		}
	}
	walk := htmlWalk{w: &b.w}
	walk.walkNode(doc, place{})
	b.w.End()
	return nil
}

// hasHeading reports whether n has a descendant heading outside of navigation.
func hasHeading(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if headingLevel(c) > 0 || c.DataAtom != atom.Nav && hasHeading(c) {
			return true
		}
	}
	return false
}

// walkXML calls visit for each element of a part in document order, parents first. It reads to the end of the part.
// visit must not read from the decoder.
func walkXML(d *ooxml.Decoder, visit func(xml.StartElement) error) error {
	for {
		token, err := d.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
}
