package main_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

func TestBadFilesFailAloneAndSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "FOOTNOTE_MAX_UPLOAD_MIB=1")
	many := make([]string, 6000)
	for i := range many {
		many[i] = "p"
	}
	thousands := pdfOf(many...)
	big := serve(t, newDir(t))
	rows := []struct {
		name   string
		file   file
		server *server
		code   string
		says   string
		late   bool // taken, and fails while it is read
	}{
		{"an empty file", file{"empty.md", ""}, s, "invalid", "empty", false},
		{"a file over the limit", file{"big.txt", strings.Repeat("many words ", 1<<20/11+1)}, s, "too_large",
			"Split it", false},
		{"a ZIP named .pdf", file{"zip.pdf", "PK\x03\x04" + strings.Repeat("x", 100)}, s, "unsupported",
			"not a PDF", false},
		{"a picture of another kind", file{"a.gif", "GIF89a" + strings.Repeat("\x00", 100)}, s, "unsupported",
			"Save it as PNG", false},
		{"a broken picture", file{"a.png", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 100)}, s, "broken",
			"save it again", true},
		{"a program named .md", file{"a.md", "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00\x01\xff", 100)}, s,
			"unsupported", "is a program, which can't be read", false},
		{"a file without a name", file{"..", "words"}, s, "invalid", "name", false},
		{"a broken PDF", file{"broken.pdf", pdfOf("hello")[:60]}, s, "broken", "save it again", true},
		{"an encrypted PDF", file{"locked.pdf", lockedPDF()}, s, "encrypted", "password", true},
		{"a scanned PDF", file{"scan.pdf", scannedPDF()}, s, "no_text", "OCR", true},
		{"a PDF of 6,000 pages", file{"long.pdf", thousands}, big, "too_many_pages", "5,000", true},
		{"white space alone", file{"blank.txt", " \n\t\n"}, s, "no_text", "no text", true},
	}
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			word := fmt.Sprintf("goodword%c", 'a'+i)
			r := row.server.upload(row.file, file{word + ".md", "# Good\n\nThis good file says " + word + " once.\n"})
			if r.status != http.StatusAccepted {
				t.Fatalf("upload: %d %s, want %d", r.status, r.body, http.StatusAccepted)
			}
			answer := decode[uploadAnswer](t, r.body)
			good := answer.Documents[len(answer.Documents)-1]
			var code, detail string
			if row.late {
				if len(answer.Documents) != 2 {
					t.Fatalf("upload: %s", r.body)
				}
				d := row.server.settled(answer.Documents[0].ID)
				if d.State != "failed" || d.Error == nil {
					t.Fatalf("it became %+v, want State %q", d, "failed")
				}
				code, detail = d.Error.Code, d.Error.Detail
			} else {
				if len(answer.Rejected) != 1 || len(answer.Documents) != 1 {
					t.Fatalf("upload: %s", r.body)
				}
				code, detail = answer.Rejected[0].Code, answer.Rejected[0].Detail
			}
			if code != row.code || !strings.Contains(detail, row.says) || !plainSentence(detail) {
				t.Errorf("%s: %q, want %s with %q", code, detail, row.code, row.says)
			}
			if d := row.server.settled(good.ID); d.State != "ready" || !row.server.holds(good.ID, word) {
				t.Errorf("the good file beside it: %+v, want State %q", d, "ready")
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "blobs", "incoming", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("refused files left %v, %v; want none", left, err)
	}
}

func utf16Text(text string, bigEndian, mark bool) string {
	var b strings.Builder
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	for _, u := range units {
		low, high := byte(u), byte(u>>8)
		if bigEndian {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

func latin1(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteByte(byte(r))
	}
	return b.String()
}

func TestOtherEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	const german = "Das Mühlenwehr wurde im Frühjahr gründlich überprüft. Die Prüfer fanden größere Schäden an der " +
		"Böschung.\n"
	const japaneseText = "水車小屋の屋根は状態が悪い。北側の瓦が数枚なくなっている。修理には三千四百ポンドかかる見込みである。\n"
	shiftJIS, err := japanese.ShiftJIS.NewEncoder().String(japaneseText)
	if err != nil {
		t.Fatal(err)
	}
	eucJP, err := japanese.EUCJP.NewEncoder().String(japaneseText)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct{ name, body, word, text string }{
		{"UTF-8 with a byte order mark", "\ufeff" + german, "Böschung", german},
		{"UTF-16 little endian", utf16Text(german, false, true), "Böschung", german},
		{"UTF-16 big endian", utf16Text(german, true, true), "Böschung", german},
		{"UTF-16 without a byte order mark", utf16Text(german, false, false), "Böschung", german},
		{"Latin-1", latin1(german), "Böschung", german},
		{"Windows-1252", latin1(strings.TrimSpace(german)) + " Sie sagten: \x84Schlimm\x93.\n", "Schlimm",
			strings.TrimSpace(german) + " Sie sagten: „Schlimm“.\n"},
		{"Shift-JIS", shiftJIS, "屋根", japaneseText},
		{"EUC-JP", eucJP, "修理", japaneseText},
		{"Windows line ends", "The mill\r\nstands by the tarn, where the water is deep enough for a boat.\r\n",
			"tarn", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			id := s.add(file{row.name + ".txt", row.body})[0]
			text := s.send("GET", "/documents/"+id+"/text", nil).body
			if row.text != "" && strings.TrimSpace(text) != strings.TrimSpace(row.text) {
				t.Errorf("text %q", text)
			}
			if strings.ContainsAny(text, "\r\x00\ufeff\ufffd") {
				t.Errorf("text %q", text)
			}
			if !s.holds(id, row.word) {
				t.Errorf("%q is not found", row.word)
			}
			// the next has the same text
			if r := s.send("DELETE", "/documents/"+id, nil); r.status != http.StatusNoContent {
				t.Errorf("deleting number %d: %d %s, want %d", i, r.status, r.body, http.StatusNoContent)
			}
		})
	}
}

// hostileNames are file names that should lead nowhere.
func hostileNames() []string {
	names := []string{
		"../up.md", "../../up.md", "../../../../../../etc/passwd", "..\\..\\up.md", "..\\up.md", "/etc/passwd",
		"/absolute.md", "//server/share/a.md",
		"\\\\server\\share\\a.md", "C:\\Windows\\system.ini", "C:/Windows/a.md", "c:a.md", "a/../../b.md", "a/./b.md",
		"./a.md", "a//b.md", ".../a.md", ". ./a.md",
		"..", ".", "...", "/", "\\", "", " ", "~", "~/a.md", "$HOME/a.md", "%2e%2e%2fa.md", "..%2f..%2fa.md", "%00.md",
		"a\x00b.md", "a\x00../b.md", "\x00",
		"a\nb.md", "a\r\nX-Evil: 1.md", "a\tb.md", "a\x1b[31mred.md", "a\x7fb.md", "\u202ecod.md", "a\u202efdp.md",
		"a\u2066b\u2069.md", "a\u200bb.md", "\ufeffa.md",
		"a\u2028b.md", "CON", "con.md", "NUL.txt", "COM1.md", "LPT1", "AUX.md", "a.md.", "a.md ", " a.md", "a:b.md",
		"a:stream:$DATA", "a*b?.md", "<script>alert(1)</script>.md",
		"\"><img src=x onerror=alert(1)>.md", "a'b\"c.md", "a;b&c|d.md", "`id`.md", "$(id).md", "-rf.md", "--help",
		"\xff\xfe.md", "a\xc0\xaeb.md", "\xc0\xae\xc0\xae/a.md",
		strings.Repeat("x", 5000) + ".md", strings.Repeat("d/", 2000) + "a.md", strings.Repeat("ä", 300) + ".md",
		strings.Repeat("../", 500) + "a.md",
	}
	return names
}

func TestHostileFileNamesStayNames(t *testing.T) {
	t.Parallel()
	names := hostileNames()
	if len(names) < 60 {
		t.Fatalf("%d names, want 60", len(names))
	}
	dir := newDir(t)
	s := serve(t, dir)
	for i, name := range names {
		word := fmt.Sprintf("hostile%c%c", 'a'+i/26, 'a'+i%26)
		r := s.upload(file{name, "This file has the word " + word + " in it.\n"})
		if p := loose[problem](t, r.body); r.status == http.StatusBadRequest &&
			strings.ContainsFunc(name, unicode.IsControl) && plainSentence(p.Detail) {
			continue // a form can't have such a name
		}
		if r.status != http.StatusAccepted && r.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", name, r.status, r.body)
			continue
		}
		answer := decode[uploadAnswer](t, r.body)
		if len(answer.Rejected) == 1 {
			if rejected := answer.Rejected[0]; rejected.Code != "invalid" || !plainSentence(rejected.Detail) ||
				r.status != http.StatusBadRequest {
				t.Errorf("%q was refused as %+v, want Code %q", name, rejected, "invalid")
			}
			continue
		}
		d := s.settled(answer.Documents[0].ID)
		if d.State != "ready" || !s.holds(d.ID, word) {
			t.Errorf("%q became %+v, want State %q", name, d, "ready")
		}
		checkName(t, name, d.Filename, false)
		checkName(t, name, d.Path, true)
		got := s.send("GET", "/documents/"+d.ID+"/file", nil)
		if disposition := got.header.Get("Content-Disposition"); !strings.HasPrefix(disposition, "attachment") ||
			strings.ContainsAny(disposition, "\r\n\x00") {
			t.Errorf("%q is offered as %q, want %q at its beginning", name, disposition, "attachment")
		}
		page := s.send("GET", "/d/"+d.ID, nil, header{"Accept", "text/html"})
		if page.status != http.StatusOK || strings.Contains(page.body, "<script>alert(1)") ||
			strings.Contains(page.body, "<img src=x") {
			t.Errorf("%q on its page: %d, want %d", name, page.status, http.StatusOK)
		}
	}
	list := s.send("GET", "/documents?limit=1000", nil, header{"Accept", "text/html"})
	if list.status != http.StatusOK || strings.Contains(list.body, "<script>alert(1)") ||
		strings.Contains(list.body, "<img src=x") {
		t.Errorf("the list: %d, or it holds a file's name as markup, want %d", list.status, http.StatusOK)
	}
	if err := filepath.WalkDir(filepath.Dir(dir), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == filepath.Dir(dir) {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(inside, string(os.PathSeparator))
		switch top {
		case ".", "blobs", "cache", "lock", "server.json", "footnote.db", "footnote.db-wal", "footnote.db-shm":
			return nil
		}
		t.Errorf("there is a file %s", name)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func checkName(t *testing.T, given, name string, path bool) {
	t.Helper()
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) || strings.Contains(name, "\\") ||
		utf8.RuneCountInString(name) > 1000 {
		t.Errorf("%q became %q; want something and no %q in it", given, name, "\\")
	}
	if !path && strings.Contains(name, "/") || strings.HasPrefix(name, "/") {
		t.Errorf("%q became %q", given, name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." || part == "" {
			t.Errorf("%q became %q", given, name)
		}
	}
}
