package files_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// bad is a damaged or malicious file with its expected result.
type bad struct {
	name string
	file string // file name
	data string
	// fate is the start of the expected failure's message, and text a part of the expected text. Exactly one of them
	// is set.
	fate, text string
}

// fewest is the minimum number of bad files of each kind.
const fewest = 15

// Messages of failures that the tests distinguish.
const (
	damaged   = "This file is damaged."
	encrypted = "This file is password-protected."
	tooMuch   = "This file's unpacked size exceeds the limit."
	tooDeep   = "This file is nested too deeply."
	noText    = "No text found in this file."
	misnamed  = "is named "
	isEmpty   = "is empty"
)

// TestBadFilesYieldTextOrMessage reads all of them in one worker, with the limits of a real one.
func TestBadFilesYieldTextOrMessage(t *testing.T) {
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
	t.Run("truncated anywhere", func(t *testing.T) { cutAnywhere(t, pool) })
}

// cutAnywhere reads a valid file of each kind, truncated at each of many points: the result is a text or a failure
// with a message.
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

// sentenceOf returns the user-facing message of an error, "" without one.
func sentenceOf(err error) string {
	if failure, ok := errors.AsType[*corpus.Failure](err); ok {
		return failure.Detail.String()
	}
	if refused, ok := errors.AsType[*chat.Error](err); ok {
		return refused.Message.String()
	}
	return ""
}

// read reads a file in the worker, and checks the result.
func (b bad) read(t *testing.T, pool *worker.Pool) {
	began := time.Now()
	x, err := b.extract(t, pool)
	t.Logf("%d bytes, %d blocks in %v: %.60q %v", len(x.Text), len(x.Blocks), time.Since(began).Round(time.Millisecond),
		x.Text, err)
	if err == nil {
		if err := doctext.Check(x); err != nil {
			t.Errorf("text violates an invariant: %v", err)
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

// extract stores and reads a file like the library.
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
		t.Errorf("got files beside the members: %q, want none", beside)
	}
	return x, err
}

const slideList = `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>@@</p:sldIdLst></p:presentation>`

var slides = pack{"bad.pptx", []string{
	"_rels/.rels", ooxmltest.Relations("m", "officeDocument", "ppt/presentation.xml"),
	"ppt/presentation.xml", strings.Replace(slideList, "@@", `<p:sldId id="256" r:id="s"/>`, 1),
	"ppt/_rels/presentation.xml.rels", ooxmltest.Relations("s", "slide", "slides/slide1.xml"),
	"ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>` +
		`<a:t>@</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
}, "ppt/slides/slide1.xml"}

func badSlides(t testing.TB) []bad {
	made := func(name, text string, parts ...string) bad {
		return bad{name, slides.file, slides.with(t, parts...), "", text}
	}
	refuses := func(name, fate string, parts ...string) bad {
		return bad{name, slides.file, slides.with(t, parts...), fate, ""}
	}
	const rels = "ppt/slides/_rels/slide1.xml.rels"
	const end, begin = `</a:t></a:r></a:p></p:txBody></p:sp>`, `<p:sp><p:txBody><a:p><a:r><a:t>`
	tree := func(s string) string { return slides.saying("The roof is dry." + end + s + begin) }
	shape := func(inside string) string { return `<p:sp>` + inside + `<p:txBody><a:p><a:r><a:t>x` + end }
	times := func(n int) string {
		return strings.Replace(slideList, "@@", strings.Repeat(`<p:sldId r:id="s"/>`, n), 1)
	}
	return append(badPackages(t, slides),
		made("a slide that is its own layout, notes and chart", "roof", rels, ooxmltest.Relations("l", "slideLayout",
			"slide1.xml", "n", "notesSlide", "slide1.xml", "c", "chart", "slide1.xml"), slides.main,
			tree(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic>`+
				`</p:graphicFrame>`)),
		made("a slide that is there 20,000 times", "roof", "ppt/presentation.xml", times(20_000)),
		refuses("a slide of 2 MB that is there 10,000 times", tooMuch, "ppt/presentation.xml", times(10_000),
			slides.main, slides.saying("a"+strings.Repeat(" <x>1</x>", 250_000))),
		refuses("slides that are not there", noText, "ppt/presentation.xml",
			strings.Replace(slideList, "@@", `<p:sldId r:id="t"/>`, 1)),
		refuses("a presentation that is a slide of itself", noText, "ppt/_rels/presentation.xml.rels",
			ooxmltest.Relations("s", "slide", "presentation.xml")),
		refuses("groups in groups", tooDeep, slides.main, tree(strings.Repeat("<p:grpSp>", 50_000))),
		made("300 groups that shrink each other", "roof", slides.main,
			tree(strings.Repeat(`<p:grpSp><p:grpSpPr><a:xfrm>`+
				`<a:ext cx="1" cy="1"/><a:chExt cx="1e300" cy="0.0001"/></a:xfrm></p:grpSpPr>`, 300)+shape("")+
				strings.Repeat("</p:grpSp>", 300))),
		made("places that are no numbers", "roof", slides.main, tree(shape(`<p:spPr><a:xfrm><a:off x="NaN" y="Inf"/>`+
			`<a:ext cx="-1e308" cy="1e309"/></a:xfrm></p:spPr>`)), "ppt/presentation.xml",
			strings.Replace(slides.parts[3], "<p:sldIdLst>", `<p:sldSz cx="NaN" cy="-Inf"/><p:sldIdLst>`, 1)),
		made("a list of level 2³¹ that begins with 2³¹", "roof", slides.main, tree(`<p:sp><p:txBody><a:p><a:pPr `+
			`lvl="2147483647"><a:buAutoNum type="alphaLcPeriod" startAt="2147483647"/></a:pPr><a:r><a:t>x`+end)),
		made("a row of 100,000 cells", "roof", slides.main,
			tree(`<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>`+
				strings.Repeat(`<a:tc/>`, 100_000)+`</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`)),
		made("a chart of 100,000 series of nothing", "roof", rels, ooxmltest.Relations("c", "chart", "c.xml"),
			slides.main, tree(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData><`+
				`/a:graphic>`+
				`</p:graphicFrame>`), "ppt/slides/c.xml", `<c><chart><plotArea><barChart>`+
				strings.Repeat(`<ser/>`, 100_000)+`</barChart></plotArea></chart></c>`),
		made("a chart that is there 300 times", "roof", rels, ooxmltest.Relations("c", "chart", "c.xml"),
			slides.main, tree(strings.Repeat(`<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/><`+
				`/a:graphicData>`+
				`</a:graphic></p:graphicFrame>`, 300)), "ppt/slides/c.xml", `<c><chart><plotArea><barChart><ser><val>`+
				strings.Repeat(`<v>1</v>`, 5000)+`</val></ser></barChart></plotArea></chart></c>`),
	)
}

func badRTF() []bad {
	read := func(name, text, body string) bad { return bad{name, "bad.rtf", `{\rtf1\ansi ` + body, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.rtf", data, fate, ""} }
	return []bad{
		fails("nothing", misnamed, ""),
		fails("words", misnamed, "The roof is dry."),
		fails("its first bytes alone", noText, `{\rtf1`),
		fails("groups without end", tooDeep, `{\rtf1 `+strings.Repeat("{", 1_000_000)),
		read("ends without groups", "roof", strings.Repeat("}", 100_000)+"The roof"),
		read("a binary part longer than the file", "roof", `The roof}{\bin2147483647 abc`),
		fails("a binary part of everything", noText, `{\rtf1 \bin99999999999 The roof}`),
		read("a binary part of less than nothing", "roof", `{\pict\bin-5 ab}The roof}`),
		read("numbers that no number holds", "roof", `\u99999999999999 ?\uc999999999999999\f-99999999999 The roof`),
		read("half of a character beyond U+FFFF", "roof", `\u-10179?\u65?\u-8704?\u-8704?\u-10179 The roof}`),
		read("a thousand skipped characters behind each", "a", `\uc1000 a\u945`+strings.Repeat("x", 500)),
		read("a control word of 1 MB", "roof", `The roof\`+strings.Repeat("a", 1<<20)+` }`),
		read("a font that is its own", "roof", `{\fonttbl{\f0\fcharset999{\f0\fonttbl}}}\f0 The roof}`),
		read("a code page that nobody knows", "roof", `\ansicpg99999 The roof\'ff\'zz\'}`),
		read("a field in itself", "roof", strings.Repeat(`{\field{\*\fldinst HYPERLINK "a"}{\fldrslt `, 300)+
			"The roof"),
		read("rows that never end", "roof", strings.Repeat(`\trowd\intbl a\cell`, 20_000)+`\row\pard The roof}`),
		read("notes in notes", "roof", strings.Repeat(`{\footnote a`, 900)+strings.Repeat("}", 900)+"The roof}"),
		read("objects and templates from elsewhere", "roof",
			`{\*\template http://127.0.0.1:1/x}{\object\objocx{\*\objdata `+
				strings.Repeat("01", 1<<20)+`}}{\field{\*\fldinst INCLUDEPICTURE "http://127.0.0.1:1/x"}{\fldrslt The `+
				`roof}}}`),
		fails("a picture alone", noText, `{\rtf1{\pict\pngblip `+strings.Repeat("ff", 1<<20)+`}}`),
		read("cut in the middle of a character", "roof", `The roof \'f`),
		read("zero bytes", "The roof", "T\x00h\x00e\x00 \x00r\x00o\x00o\x00f\x00}"),
		read("20,000 styles", "roof", `{\stylesheet`+strings.Repeat(`{\s2147483647\outlinelevel2147483647 x;}`, 20_000)+
			`}\s2147483647 The roof}`),
	}
}

var book = pack{"bad.epub", []string{
	"mimetype", "application/epub+zip",
	"META-INF/container.xml", `<c><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></c>`,
	"OPS/book.opf", `<package><metadata><dc:title>@</dc:title></metadata><manifest><item id="a" href="a.xhtml"/>` +
		`</manifest><spine><itemref idref="a"/></spine></package>`,
	"OPS/a.xhtml", `<html><body><p>The roof is dry.</p></body></html>`,
}, "OPS/book.opf"}

func badBooks(t testing.TB) []bad {
	made := func(name, text string, parts ...string) bad {
		return bad{name, book.file, book.with(t, parts...), "", text}
	}
	refuses := func(name, fate string, parts ...string) bad {
		return bad{name, book.file, book.with(t, parts...), fate, ""}
	}
	about := func(manifest, spine string) string {
		return `<package><manifest><item id="a" href="a.xhtml"/>` + manifest + `</manifest><spine>` + spine +
			`</spine></package>`
	}
	return append(badPackages(t, book),
		refuses("a book that is its container", noText, "META-INF/container.xml",
			`<c><rootfile full-path="META-INF/container.xml"/></c>`),
		refuses("a book that is not there", damaged, "META-INF/container.xml",
			`<c><rootfile full-path="../../x"/></c>`),
		made("a spine that names its book", "roof", book.main,
			about(`<item id="b" href="book.opf"/>`, `<itemref idref="b"/><itemref idref="a"/>`)),
		made("a spine that leaves the archive", "roof", book.main, about(`<item id="b" href="../../../etc/passwd"/>`+
			`<item id="c" href="file:///etc/passwd"/><item id="d" href="http://127.0.0.1:1/x"/>`,
			`<itemref idref="b"/><itemref idref="c"/><itemref idref="d"/><itemref idref="a"/>`)),
		made("one chapter 20,000 times", "roof", book.main, about("", strings.Repeat(`<itemref idref="a"/>`, 20_000))),
		made("contents that contain themselves", "roof", book.main,
			about(`<item id="n" href="book.opf" properties="nav"/>`, `<itemref idref="a"/>`)),
		made("a chapter of elements 100,000 deep", "roof", "OPS/a.xhtml", "<p>The roof</p>"+
			strings.Repeat("<div>", 100_000)),
		made("a chapter with an entity of a file", "roof", "OPS/a.xhtml", `<!DOCTYPE x [<!ENTITY x SYSTEM `+
			`"file:///etc/passwd">]><html><body><p>The roof &x;</p></body></html>`),
		made("a chapter in no encoding", "roof", "OPS/a.xhtml",
			`<?xml version="1.0" encoding="x-none"?><p>The roof</p>`),
		made("a chapter in a table of a million columns", "roof", "OPS/a.xhtml",
			`<p>The roof</p><table><tr><td colspan="1000000000">a<td rowspan="1000000000">b</table>`),
		refuses("a book that is protected", "protected by DRM", "META-INF/encryption.xml", "<x/>",
			"META-INF/rights.xml", "<x/>"),
	)
}

func badZIPs(t testing.TB) []bad {
	plain := pack{"bad.zip", []string{"a.txt", "@", "b.txt", "b"}, "a.txt"}
	whole := plain.with(t)
	bomb := zipped(t, false, "a", "", "zeros", strings.Repeat("\x00", 100<<20))
	const brokenZIP = "This archive is damaged."
	read := func(name, text, data string) bad { return bad{name, plain.file, data, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, plain.file, data, fate, ""} }
	many := []string{}
	for i := range 20_001 {
		many = append(many, fmt.Sprintf("%d.txt", i), "")
	}
	protectedOnce := entry(whole, "a.txt", 8, []byte{1, 0})
	return []bad{
		fails("nothing", misnamed, ""),
		fails("words", misnamed, "The roof is dry."),
		fails("half of it", brokenZIP, whole[:len(whole)/2]),
		fails("without its last bytes", brokenZIP, whole[:len(whole)-10]),
		fails("an archive of nothing", "This archive is empty.", zipped(t, false, "a/", "")),
		read("a wrong checksum", "a.txt (damaged)", entry(whole, "a.txt", 16, uint32s(1))),
		read("a file that says it has 4 GB", "a.txt (damaged)", entry(whole, "a.txt", 24, uint32s(1<<32-2))),
		read("a file that says it has one byte", "a.txt (damaged)", entry(whole, "a.txt", 24, uint32s(1))),
		read("a file outside the archive", "a.txt (damaged)", entry(whole, "a.txt", 42, uint32s(1<<31))),
		read("files on top of each other", "b.txt", entry(whole, "b.txt", 42, uint32s(0))),
		read("one file that is protected", "protected by a password", protectedOnce),
		fails("all files protected", "This archive is password-protected.",
			entry(protectedOnce, "b.txt", 8, []byte{1, 0})),
		read("a file packed in an unknown way", "a.txt (damaged)", entry(whole, "a.txt", 10, []byte{99, 0})),
		read("a file of 100 MB of zeros", "left out: too large", bomb),
		read("an archive in an archive", "bomb.zip", zipped(t, true, "bomb.zip", bomb, "a.txt", "a")),
		fails("20,001 files", "This archive contains too many files.", zipped(t, true, many...)),
		read("3,000 files", "one too many", zipped(t, true, many[:6000]...)),
		read("paths that lead outside", "slip", zipped(t, false, "../../../slip", "x", `..\..\slip`, "x", "/slip", "x",
			"C:\\slip", "x", "a/../../slip", "x")),
		read("names of no encoding and of 60,000 bytes", "long", zipped(t, false, "\xff\xfe\x00", "x",
			"\u202etxt.exe", "x",
			strings.Repeat("long", 15_000), "x")),
		read("two files of one name", "a.txt", zipped(t, false, "a.txt", "one", "a.txt", "two")),
	}
}

func badLines() []bad {
	read := func(name, file, text, data string) bad { return bad{name, file, data, "", text} }
	deep := strings.Repeat("[", 1_000_000)
	laughs := "a: &a [x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		laughs += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",",
			10), ",") + "]\n"
	}
	cell := func(source string) string { return `{"cells":[{"cell_type":"code","source":` + source + `}]}` }
	return []bad{
		{"a JSON of nothing", "bad.json", "", isEmpty, ""},
		{"a JSON of blanks", "bad.json", strings.Repeat(" \n", 100_000), noText, ""},
		read("a JSON that breaks off", "bad.json", "roof", `{"roof": "dry`),
		read("a JSON of brackets", "bad.json", "[[[", deep),
		read("a JSON of one line of 16 MB", "bad.json", "roof", `{"roof": "`+strings.Repeat("x", 16<<20)+`"}`),
		read("a JSON with zero bytes", "bad.json", "roof", "{\"roof\": \"a\x00b\"}"),
		read("a JSON in UTF-16 without a mark", "bad.json", "roof",
			inUTF16(`{"roof": "dry", "walls": "damp", "door": "oak"}`)),
		read("lines of JSON of which none is one", "bad.jsonl", "{", strings.Repeat("{\n", 200_000)),
		read("2 million lines of one number", "bad.jsonl", "1", strings.Repeat("1\n", 2_000_000)),
		read("an XML of a billion laughs", "bad.xml", "lol", `<!DOCTYPE x [<!ENTITY lol "&lol;&lol;">]><x>&lol;</x>`),
		read("an XML with another file", "bad.xml", "passwd",
			`<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]><x>&x;</x>`),
		read("an XML of elements a million deep", "bad.xml", "<x>", strings.Repeat("<x>", 1_000_000)),
		read("a YAML of a billion laughs", "bad.yaml", "*y", laughs),
		read("a YAML of blanks that get deeper", "bad.yaml", "a:", strings.Repeat("a:\n ", 100_000)),
		read("a notebook of brackets", "bad.ipynb", "[[[", `{"cells":`+deep),
		read("a notebook of other types", "bad.ipynb", "cells", `{"cells":{"a":1}}`),
		read("a notebook whose source is a number", "bad.ipynb", "ran", `{"cells":[{"cell_type":"code","source":1},`+
			`{"cell_type":"code","source":"ran"}]}`),
		read("a notebook of 200,000 empty cells", "bad.ipynb", "last", `{"cells":[`+strings.Repeat(`{},`, 200_000)+
			`{"cell_type":"code","source":"last"}]}`),
		read("a notebook whose text is nested", "bad.ipynb", "q", `{"cells":[{"cell_type":"markdown","source":"`+
			strings.Repeat(">", 100_000)+` q"}]}`),
		read("a notebook with a picture of 8 MB", "bad.ipynb", "ran", `{"cells":[{"cell_type":"code","source":"ran",`+
			`"outputs":[{"data":{"image/png":"`+strings.Repeat("A", 8<<20)+`"}}]}]}`),
		read("a notebook whose lines are half characters", "bad.ipynb", "ran", cell(`"ran \ud800 \udc00 \u0000"`)),
	}
}

func badCards() []bad {
	event := func(name, text, inside string) bad {
		return bad{name, "bad.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Roof\n" + inside, "", text}
	}
	const end = "END:VEVENT\nEND:VCALENDAR\n"
	card := func(name, text, inside string) bad {
		return bad{name, "bad.vcf", "BEGIN:VCARD\nFN:Roof\n" + inside, "", text}
	}
	return []bad{
		{"a calendar of nothing", "bad.ics", "", isEmpty, ""},
		event("an entry that never ends", "Roof", ""),
		event("alarms in alarms", "Roof", strings.Repeat("BEGIN:VALARM\n", 100_000)+strings.Repeat("END:VALARM\n",
			100_000)+end),
		event("ends without beginnings", "Roof", strings.Repeat("END:VALARM\n", 100_000)+end),
		event("entries in entries", "Roof", strings.Repeat("BEGIN:VEVENT\nSUMMARY:Roof\n", 50_000)+
			strings.Repeat("END:VEVENT\n", 50_000)),
		event("a line that goes on for 500,000", "Roof", "DESCRIPTION:a\n"+strings.Repeat(" b\n", 500_000)+end),
		event("a value of 8 MB", "Roof", "DESCRIPTION:"+strings.Repeat("x", 8<<20)+"\n"+end),
		event("days that are none", "Roof", "DTSTART:99999999T999999Z\nDTEND:0\nDTSTART;TZID=../../etc:1\n"+end),
		event("a rule that repeats for ever", "Roof", "RRULE:FREQ=SECONDLY;COUNT=2147483647\n"+end),
		event("parameters without end", "Roof", "ATTENDEE"+strings.Repeat(";X=Y", 1_000_000)+":mailto:a\n"+end),
		event("zero bytes", "Roof", "DESCRIPTION:a\x00b\n"+end),
		event("bytes of no encoding", "Roof", "DESCRIPTION:\xff\xfe\xc0\n"+end),
		event("a file from elsewhere", "Roof", "ATTACH:file:///etc/passwd\nURL:http://127.0.0.1:1/x\n"+end),
		card("quoted-printable that breaks off", "Roof", "NOTE;ENCODING=QUOTED-PRINTABLE:=\n=Z=\nEND:VCARD\n"),
		card("a photograph of 8 MB", "Roof", "PHOTO;ENCODING=b:"+strings.Repeat("A", 8<<20)+"\nEND:VCARD\n"),
		card("a thousand groups", "Roof", strings.Repeat("a.", 1000)+"EMAIL:a@example.com\nEND:VCARD\n"),
		card("separators alone", "Roof", "ADR:"+strings.Repeat(";", 1_000_000)+"\nN:"+strings.Repeat(`\`,
			100_000)+"\nEND:VCARD\n"),
		card("100,000 people", "Roof", "END:VCARD\n"+strings.Repeat("BEGIN:VCARD\nFN:x\nEND:VCARD\n", 100_000)),
		{"an address book of ends", "bad.vcf", "BEGIN:VCARD\n" + strings.Repeat("END:VCARD\n", 100_000), "", "END"},
	}
}

const (
	sector     = 512
	endOfChain = 0xFFFFFFFE
	noEntry    = 0xFFFFFFFF
)

// compound encodes an OLE compound file ([MS-CFB]) with streams in the root: name, content, name, content… change
// may corrupt its sectors: the first is the file allocation table, the directory follows.
func compound(change func(header, table []byte, directory [][]byte), streams ...string) string {
	content, table := []byte{}, []uint32{0xFFFFFFFD, endOfChain}
	names := len(streams)/2 + 1
	for i := 1; i < (names+3)/4; i++ { // the directory has four entries in a sector
		table[len(table)-1] = uint32(len(table))
		table = append(table, endOfChain)
	}
	directory := make([][]byte, 0, names)
	entry := func(name string, kind byte, child, right, start uint32, size int) {
		e := make([]byte, 128)
		units := utf16.Encode([]rune(name))
		for i, u := range units {
			binary.LittleEndian.PutUint16(e[2*i:], u)
		}
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(units)+2))
		e[66], e[67] = kind, 1
		for i, at := range []uint32{noEntry, right, child} {
			binary.LittleEndian.PutUint32(e[68+4*i:], at)
		}
		binary.LittleEndian.PutUint32(e[116:], start)
		binary.LittleEndian.PutUint32(e[120:], uint32(size))
		directory = append(directory, e)
	}
	entry("Root Entry", 5, 1, noEntry, endOfChain, 0)
	for i := 0; i < len(streams); i += 2 {
		data := streams[i+1] + strings.Repeat("\x00", max(0, 4096-len(streams[i+1]))) // no stream is a small one
		right, start := uint32(i/2+2), uint32(len(table))
		if i+2 == len(streams) {
			right = noEntry
		}
		for at := 0; at < len(data); at += sector {
			piece := make([]byte, sector)
			copy(piece, data[at:])
			content, table = append(content, piece...), append(table, uint32(len(table)+1))
		}
		table[len(table)-1] = endOfChain
		entry(streams[i], 2, noEntry, right, start, len(data))
	}
	header := make([]byte, sector)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for at, v := range map[int]uint16{24: 0x3E, 26: 3, 28: 0xFFFE, 30: 9, 32: 6} {
		binary.LittleEndian.PutUint16(header[at:], v)
	}
	for at, v := range map[int]uint32{44: 1, 48: 1, 56: 4096, 60: endOfChain, 68: endOfChain} {
		binary.LittleEndian.PutUint32(header[at:], v)
	}
	for at := 80; at < sector; at += 4 {
		binary.LittleEndian.PutUint32(header[at:], noEntry)
	}
	chains := make([]byte, sector)
	for i := range sector / 4 {
		next := uint32(noEntry)
		if i < len(table) {
			next = table[i]
		}
		binary.LittleEndian.PutUint32(chains[4*i:], next)
	}
	if change != nil {
		change(header, chains, directory)
	}
	all := append(append([]byte{}, header...), chains...)
	for _, e := range directory {
		all = append(all, e...)
	}
	for (len(all)-sector)%sector != 0 {
		all = append(all, 0)
	}
	return string(append(all, content...))
}

func badOutlook() []bad {
	const damagedMessage = "This message is damaged."
	letter := []string{
		"__substg1.0_0037001F", inUTF16("Roof"), "__substg1.0_1000001F", inUTF16("The roof is dry."),
		"__properties_version1.0", "",
	}
	read := func(name, text, data string) bad { return bad{name, "bad.msg", data, "", text} }
	fails := func(name, fate, data string) bad { return bad{name, "bad.msg", data, fate, ""} }
	whole := compound(nil, letter...)
	put := binary.LittleEndian.PutUint32
	spoilt := func(change func(header, table []byte, directory [][]byte)) string { return compound(change, letter...) }
	return []bad{
		read("a whole one", "The roof is dry.", whole),
		fails("nothing", misnamed, ""),
		fails("words", misnamed, "The roof is dry."),
		fails("its first bytes alone", damagedMessage, whole[:8]),
		fails("its header alone", damagedMessage, whole[:sector]),
		fails("without its directory", damagedMessage, whole[:2*sector]),
		read("without its last streams", "Roof", whole[:4*sector+4096]),
		read("a chain that comes back", "oof", spoilt(func(_, table []byte, _ [][]byte) { put(table[4*2:], 2) })),
		read("a chain that leads outside", "oof", spoilt(func(_, table []byte, _ [][]byte) {
			put(table[4*4:],
				1<<30)
		})),
		fails("a directory whose chain comes back", damagedMessage, spoilt(func(_, table []byte,
			_ [][]byte) {
			put(table[4:], 1)
		})),
		fails("a storage that is its own child", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			d[1][66] = 1
			put(d[1][76:], 1)
		})),
		fails("a stream whose sibling is itself", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			put(d[1][72:], 1)
		})),
		fails("the root among its own children", damagedMessage, spoilt(func(_, _ []byte,
			d [][]byte) {
			put(d[1][72:], 0)
		})),
		fails("a sibling outside", damagedMessage, spoilt(func(_, _ []byte, d [][]byte) { put(d[1][72:], 1<<20) })),
		read("a stream of 4 GB", "oof", spoilt(func(_, _ []byte, d [][]byte) { put(d[1][120:], 1<<32-1) })),
		fails("sectors of 2⁶⁴ bytes", damagedMessage, spoilt(func(h, _ []byte, _ [][]byte) { h[30] = 64 })),
		read("a table of 4 billion sectors", "oof", spoilt(func(h, _ []byte, _ [][]byte) { put(h[44:], 1<<32-1) })),
		fails("a table of tables that is its own", damagedMessage, spoilt(func(h, _ []byte,
			_ [][]byte) {
			put(h[68:], 0)
			put(h[72:], 1<<31)
		})),
		read("a name longer than its place", "oof", spoilt(func(_, _ []byte, d [][]byte) {
			d[1][64],
				d[1][65] = 0xFF, 0xFF
		})),
		fails("another kind of old file", "This is not an Outlook message", compound(nil, "WordDocument", "x")),
		read("text of half characters", "Roof", compound(nil, "__substg1.0_0037001F", inUTF16("Roof"),
			"__substg1.0_1000001F",
			strings.Repeat("\x00\xd8", 5000)+"\x41")),
		read("a number that is cut", "Roof", compound(nil, "__substg1.0_0037001F", inUTF16("Roof"),
			"__properties_version1.0",
			strings.Repeat("\xff", 4097))),
	}
}

// openDocument returns a file of one of the three kinds with inside in its body.
func openDocument(file, kind, inside string) pack {
	return pack{file, []string{
		"mimetype", "application/vnd.oasis.opendocument." + kind,
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d">` +
			`<office:automatic-styles/><office:body><office:` + kind + `>` + inside + `</office:` + kind + `>` +
			`</office:body></office:document-content>`,
	}, "content.xml"}
}

var (
	openSheet = openDocument("bad.ods", "spreadsheet",
		`<table:table table:name="Roof"><table:table-row><table:table-cell><text:p>@</text:p></table:table-cell>`+
			`</table:table-row></table:table>`)
	openText   = openDocument("bad.odt", "text", `<text:p>@</text:p>`)
	openSlides = openDocument("bad.odp", "presentation",
		`<draw:page><draw:frame><draw:text-box><text:p>@</text:p></draw:text-box></draw:frame></draw:page>`)
)

const protected = `<manifest><file-entry><encryption-data/></file-entry></manifest>`

func badOpenSheets(t testing.TB) []bad {
	cells := func(name, text, s string) bad {
		const end, begin = `</text:p></table:table-cell></table:table-row>`,
			`<table:table-row><table:table-cell><text:p>`
		return bad{name, openSheet.file, openSheet.with(t, "content.xml", openSheet.saying("The roof is dry."+end+
			s+begin)),
			"", text}
	}
	row := func(times, inside string) string {
		return `<table:table-row table:number-rows-repeated="` + times + `">` + inside + `</table:table-row>`
	}
	cell := func(times, text string) string {
		return `<table:table-cell table:number-columns-repeated="` + times + `"><text:p>` + text +
			`</text:p></table:table-cell>`
	}
	const billion, most = "1000000000", "9223372036854775807"
	return append(badPackages(t, openSheet),
		cells("a cell that is there a billion times", "wide", row("1", cell(billion, "wide"))),
		cells("a row that is there a billion times", "high", row(billion, cell("1", "high"))),
		cells("a billion rows of a billion cells", "roof", row(billion, cell(billion, "x"))),
		cells("200 times a billion rows of a billion cells", "roof", strings.Repeat(row(billion, cell(billion,
			"x")), 200)),
		cells("counts that no number holds", "roof", strings.Repeat(row(most, cell(most, "")+cell(most, "x")), 3)+
			row("99999999999999999999999", cell("-5", "y"))),
		cells("tables in tables", "roof", strings.Repeat("<table:table>", 200)+strings.Repeat("</table:table>", 200)),
		cells("an object that is the document", "roof", row("1",
			`<table:table-cell><draw:frame><draw:object href="."/>`+
				`<draw:object href="../../.."/><draw:object href="http://127.0.0.1:1/x"/></draw:frame><`+
				`/table:table-cell>`)),
		bad{"a spreadsheet that is protected", openSheet.file, openSheet.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
	)
}

func badOpenTexts(t testing.TB) []bad {
	body := func(name, text, s string) bad {
		return bad{name, openText.file, openText.with(t, "content.xml",
			openText.saying("The roof is dry.</text:p>"+s+"<text:p>")), "", text}
	}
	return append(badPackages(t, openText),
		bad{"a text that is protected", openText.file, openText.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
		body("a billion blanks", "a b", `<text:p>a<text:s text:c="1000000000"/>b</text:p>`),
		body("lists 300 deep", "deep", strings.Repeat("<text:list><text:list-item>", 300)+"<text:p>deep</text:p>"+
			strings.Repeat("</text:list-item></text:list>", 300)),
		body("a cell that is there a billion times", "wide", `<table:table><table:table-row><table:table-cell `+
			`table:number-columns-repeated="1000000000"><text:p>wide</text:p></table:table-cell></table:table-row>`+
			`</table:table>`),
		body("items that begin with 2⁶³", "item", `<text:list><text:list-item text:start-value="9223372036854775807">`+
			`<text:p>item</text:p></text:list-item><text:list-item><text:p>next</text:p></text:list-item></text:list>`),
		body("notes in notes", "roof", strings.Repeat(`<text:p><text:note><text:note-body>`, 200)+
			strings.Repeat(`</text:note-body></text:note></text:p>`, 200)),
		body("an object that is the document", "roof", `<text:p><draw:frame><draw:object href="."/></draw:frame><`+
			`/text:p>`),
		bad{"styles based on each other", openText.file, openText.with(t, "content.xml", strings.Replace(
			openText.saying("The roof is dry."), "<office:automatic-styles/>",
			`<office:automatic-styles><style name="a" `+
				`parent-style-name="b"/><style name="b" parent-style-name="a"/></office:automatic-styles>`, 1)),
			"", "roof"},
	)
}

func badOpenSlides(t testing.TB) []bad {
	body := func(name, text, s string) bad {
		return bad{name, openSlides.file, openSlides.with(t, "content.xml", openSlides.saying(
			"The roof is dry.</text:p></draw:text-box></draw:frame></draw:page>"+s+
				"<draw:page><draw:frame><draw:text-box><text:p>")), "", text}
	}
	return append(badPackages(t, openSlides),
		bad{"slides that are protected", openSlides.file, openSlides.with(t, "META-INF/manifest.xml", protected),
			encrypted, ""},
		body("200,000 empty slides", "roof", strings.Repeat("<draw:page/>", 200_000)),
		body("groups 300 deep", "roof", "<draw:page>"+strings.Repeat("<draw:g>", 300)+strings.Repeat("</draw:g>", 300)+
			"</draw:page>"),
		body("a chart in itself", "roof", `<draw:page><draw:frame><draw:object href="./"/></draw:frame></draw:page>`),
	)
}
