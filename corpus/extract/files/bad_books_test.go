package files_test

import (
	"fmt"
	"strings"
	"testing"
)

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
		refuses("a book that is protected", "protected against copying", "META-INF/encryption.xml", "<x/>",
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
		fails("all files protected", "This archive is protected by a password.",
			entry(protectedOnce, "b.txt", 8, []byte{1, 0})),
		read("a file packed in an unknown way", "a.txt (damaged)", entry(whole, "a.txt", 10, []byte{99, 0})),
		read("a file of 100 MB of zeros", "left out: too large", bomb),
		read("an archive in an archive", "bomb.zip", zipped(t, true, "bomb.zip", bomb, "a.txt", "a")),
		fails("20,001 files", "This archive holds more files than can be read.", zipped(t, true, many...)),
		read("3,000 files", "one too many", zipped(t, true, many[:6000]...)),
		read("paths that lead outside", "slip", zipped(t, false, "../../../slip", "x", `..\..\slip`, "x", "/slip", "x",
			"C:\\slip", "x", "a/../../slip", "x")),
		read("names of no encoding and of 60,000 bytes", "long", zipped(t, false, "\xff\xfe\x00", "x",
			"\u202etxt.exe", "x",
			strings.Repeat("long", 15_000), "x")),
		read("two files of one name", "a.txt", zipped(t, false, "a.txt", "one", "a.txt", "two")),
	}
}
