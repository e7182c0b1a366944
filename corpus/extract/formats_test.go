package extract

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestFormatsAreCompleteAndDistinct(t *testing.T) {
	of := map[string]string{} // name, MIME type, extension or word → format
	for i, f := range Formats {
		if f.Name == "" || f.Label == "" || f.MIME == "" || len(f.Extensions) == 0 {
			t.Errorf("format %d is %+v, want a name, a label, a MIME type and an extension", i, f)
		}
		if (f.file != nil) == (f.text != nil) || (f.file != nil) != (f.Magic != nil) {
			t.Errorf("%s: want either a recogniser and a reader of files, or a reader of text", f.Name)
		}
		if last := i == len(Formats)-1; last && (f.text == nil || f.bare != nil) {
			t.Errorf("last format %s accepts any text, want one without markup", f.Name)
		}
		for _, key := range append(append([]string{f.Name, f.MIME}, f.Aliases...),
			append(f.Extensions, f.Words...)...) {
			if before, twice := of[key]; twice || key != strings.ToLower(key) {
				t.Errorf("%q of %s: got it in %q too, or in capitals; want it once, in small letters", key,
					f.Name, before)
			}
			of[key] = f.Name
		}
	}
}

// A PDF may have data ahead of its header, and a text may mention headers or contain a whole file.
func TestPDFHeaderInTextIsNotPDF(t *testing.T) {
	const (
		object = "1 0 obj\n<< /Type /Catalog >>\nendobj\n"
		pdf    = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + object
		prose  = "A PDF begins with its header, which is %PDF-1.7 today. Then come objects, such as 1 0 obj.\n"
		sample = "# Writing a PDF\n\nThis is the smallest one:\n\n```\n%PDF-1.4\n% “a comment”\n" + object + "```\n"
	)
	for _, tt := range []struct{ what, name, head, want string }{
		{"prose", "notes.txt", prose, "text/plain"},
		{"prose in Markdown", "notes.md", "# Headers\n\n" + prose, "text/markdown"},
		{"prose without an ending", "notes", prose, "text/plain"},
		{"prose in another encoding", "notes.txt", "Pr\xfcfung: " + prose, "text/plain"},
		{"a whole one that is shown", "howto.md", sample, "text/markdown"},
		{"cut within a letter", "howto.md", sample + "\xe2\x80", "text/markdown"},
		{"a web page", "howto.html", "<!doctype html><p>" + prose, "text/html"},
		{"source code", "sniff.go", "package sniff\n\nvar magic = []string{\"%PDF-\", \"PK\"}\n", "text/x-source"},
		{"a mail", "mail.eml", "From: a@example.org\nTo: b@example.org\nSubject: headers\n\n" + prose,
			"message/rfc822"},
		{"a line of a table", "kinds.csv", "kind,bytes\npdf,%PDF-1.7\n", "text/csv"},
		{"an archive of PDFs", "bills.zip", "PK\x03\x04" + strings.Repeat("\x00", 26) + "a.pdf" + pdf,
			"application/zip"},
		{"its beginning", "scan", pdf, "application/pdf"},
		{"a mark of UTF-8 ahead", "scan", "\ufeff" + pdf, "application/pdf"},
		{"empty lines ahead", "scan.txt", "\r\n\r\n%PDF-1.4\n" + object, "application/pdf"},
		{"what a server said ahead", "scan", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + pdf,
			"application/pdf"},
		{"a printer's lines ahead", "scan.bin", "\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n" + pdf, "application/pdf"},
		{"a file system's header ahead", "scan.bin", "\x00\x05paper" + strings.Repeat("\x00", 121) + pdf,
			"application/pdf"},
		{"text ahead, and its name", "scan.PDF", "Kept by the porter.\n%PDF-1.4\n" + object, "application/pdf"},
		{"a header too far away", "scan.pdf", strings.Repeat("junk\n", 300) + pdf, ""},
	} {
		if got, err := Formats.Sniff([]byte(tt.head), tt.name); got != tt.want || (tt.want == "") != (err != nil) {
			t.Errorf("%s: Sniff(%q, %q) = %q, %v; want %q", tt.what, tt.head, tt.name, got, err, tt.want)
		}
	}
}

func TestSniffReturnsMIMEType(t *testing.T) {
	for _, tt := range []struct{ name, head, want, says string }{
		{"a.txt", "%PDF-1.7", "application/pdf", ""},
		{"a", "words", "text/plain", ""},
		{"a.MKD", "words", "text/markdown", ""},
		{"a.xhtml", "words", "text/html", ""},
		{"a.txt", "\ufeff \n<!DOCTYPE HTML><p>", "text/html", ""},
		{"a.md", "<html><p>", "text/markdown", ""},
		{"a.csv", "a,b", "text/csv", ""},
		{"a.pdf", "words", "", "“a.pdf” is named .pdf but is not a PDF. Open it"},
		{"a.pdf", "PK\x03\x04", "", "“a.pdf” is named .pdf but is not a PDF: it is a ZIP archive. Unpack it"},
		{"a.pages", "PK\x03\x04", "", "“a.pages” is a Pages file, which is not supported. Save it as PDF"},
		{"a.docx", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ""},
		{"a.zip", "PK\x03\x04 word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.d" +
			"ocument", ""},
		{"a.docx", "PK\x03\x04 " +
			"xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ""},
		{"a.docx", "words", "", "“a.docx” is named .docx but is not a Word file"},
		{"a.txt", "{\\rtf1 words", "application/rtf", ""},
		{"a.docx", "\xd0\xcf\x11\xe0", "", "“a.docx” is password-protected. Save a copy"},
		{"a.doc", "\xd0\xcf\x11\xe0", "", "“a.doc” is a file from an old Office version, which is not supported. " +
			"Save it as .docx"},
		{"a.txt", "a\x00\x01\x02\x03b\x00\x00", "", "“a.txt” contains binary data, not text. Save it as PDF"},
	} {
		got, err := Formats.Sniff([]byte(tt.head), tt.name)
		if got != tt.want || (tt.says == "") != (err == nil) {
			t.Errorf("Sniff(%q, %q) = %q, %v; want %q", tt.head, tt.name, got, err, tt.want)
		} else if err != nil &&
			(chat.CodeOf(err) != chat.CodeUnsupported || !strings.Contains(chat.MessageOf(err).String(), tt.says)) {
			t.Errorf("Sniff(%q, %q) fails with %q, want %s and %q", tt.head, tt.name, chat.MessageOf(err).String(),
				chat.CodeUnsupported, tt.says)
		}
	}
}

func TestFormatNames(t *testing.T) {
	for word, want := range map[string]string{
		".MD": "md", "markdown": "md", "Web page": "html", "htm": "html", "plain text": "txt", "PDF": "pdf",
		"pages": "",
	} {
		if f, _ := Formats.ByWord(word); f.Name != want {
			t.Errorf("ByWord(%q) = %q, want %q", word, f.Name, want)
		}
	}
	for file, want := range map[string]string{
		"a.markdown": "MD", "a.htm": "HTML", "a.log": "LOG", "a.d": "D", "a.2024": "TXT", ".hidden": "TXT", "a": "TXT",
	} {
		if got := Formats.Badge(file, "text/plain; charset=utf-8"); got != want {
			t.Errorf("Badge(%q) = %q, want %q", file, got, want)
		}
	}
	few := Registry{{Label: "PDF"}, {Label: "Word"}, {Label: "Text"}}
	if got, want := few.Labels("or"), "PDF, Word or Text"; got != want {
		t.Errorf("Labels = %q, want %q", got, want)
	}
	some := Registry{
		{Label: "Word", Extensions: []string{".docx"}}, {Label: "PNG", Kind: "images", Extensions: []string{".png"}},
		{Label: "JPEG", Kind: "images", Extensions: []string{".jpg", ".jpeg"}}, {Label: "Text", Kind: "text"},
	}
	if got, want := some.Kinds(), "Word, images and text"; got != want {
		t.Errorf("Kinds = %q, want %q", got, want)
	}
	if got, want := some.Extensions(), []string{".docx", ".png", ".jpg", ".jpeg"}; !slices.Equal(got, want) {
		t.Errorf("Extensions = %q, want %q", got, want)
	}
}
