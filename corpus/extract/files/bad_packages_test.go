package files_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// A pack is a file that is a ZIP archive of parts. Its main part has "@" where its text stands.
type pack struct {
	file  string
	parts []string // name, content, name, content…; the first two may be the name and content of "mimetype"
	main  string   // name of the main part
}

// zipped is a ZIP archive of parts: name, content, name, content… All are stored as they are when stored says so.
func zipped(t testing.TB, stored bool, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for i, part := range slices.Collect(slices.Chunk(parts, 2)) {
		method := zip.Deflate
		if stored || i == 0 {
			method = zip.Store
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: part[0], Method: method})
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// with is the file with the parts changed or added: name, content, name, content…
func (p pack) with(t testing.TB, parts ...string) string {
	return zipped(t, false, p.changed(parts...)...)
}

func (p pack) changed(parts ...string) []string {
	all := slices.Clone(p.parts)
	for change := range slices.Chunk(parts, 2) {
		if i := slices.Index(all, change[0]); i >= 0 && i%2 == 0 {
			all[i+1] = change[1]
		} else {
			all = append(all, change...)
		}
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "@", "The roof is dry.")
	}
	return all
}

// saying is the main part with other text than its own.
func (p pack) saying(text string) string {
	return strings.ReplaceAll(p.parts[slices.Index(p.parts, p.main)+1], "@", text)
}

// entry changes what the archive's directory says of a part: at is where in its entry of 46 bytes.
func entry(file, part string, at int, value []byte) string {
	b := []byte(file)
	for i := 0; ; {
		found := bytes.Index(b[i:], []byte("PK\x01\x02"))
		if found < 0 {
			panic("no such part: " + part)
		}
		i += found
		name := int(binary.LittleEndian.Uint16(b[i+28:]))
		if string(b[i+46:i+46+name]) == part {
			copy(b[i+at:], value)
			return string(b)
		}
		i += 46
	}
}

func uint32s(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// badPackages are the files that hurt every kind of ZIP archive of XML parts.
func badPackages(t testing.TB, p pack) []bad {
	whole := p.with(t)
	xml := p.saying("The roof is dry.")
	laughs := `<!DOCTYPE x [<!ENTITY a "ha">`
	for c := 'b'; c <= 'z'; c++ {
		laughs += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	head := `<?xml version="1.0" encoding="%s"?>`
	many := slices.Clone(p.parts)
	for i := range 20_001 {
		many = append(many, fmt.Sprintf("a/%d", i), "")
	}
	random, letters := rand.New(rand.NewPCG(1, 2)), make([]byte, 2<<20)
	for i := range letters {
		letters[i] = 'a' + byte(random.IntN(26))
	}
	made := func(name, data, fate, text string) bad { return bad{name, p.file, data, fate, text} }
	main := func(name, content, fate, text string) bad { return made(name, p.with(t, p.main, content), fate, text) }
	return []bad{
		made("nothing", "", misnamed, ""),
		made("words", "The roof is dry.", misnamed, ""),
		made("half of it", whole[:len(whole)/2], damaged, ""),
		made("without its last bytes", whole[:len(whole)-10], damaged, ""),
		made("its first bytes alone", whole[:100], damaged, ""),
		made("a wrong checksum", entry(whole, p.main, 16, uint32s(1)), damaged, ""),
		made("a part that says it has 4 GB", entry(whole, p.main, 24, uint32s(1<<32-2)), tooMuch, ""),
		made("a part that says it has one byte", entry(whole, p.main, 24, uint32s(1)), damaged, ""),
		made("a part outside the file", entry(whole, p.main, 42, uint32s(1<<31)), damaged, ""),
		made("parts on top of each other", entry(whole, p.main, 42, uint32s(0)), damaged, ""),
		made("a part that is protected", entry(whole, p.main, 8, []byte{1, 0}), encrypted, ""),
		made("a part packed in an unknown way", entry(whole, p.main, 10, []byte{99, 0}), damaged, ""),
		main("4 MB of blanks", strings.Replace(xml, "<", strings.Repeat(" ", 4<<20)+"<", 1), tooMuch, ""),
		made("20,001 parts", zipped(t, true, many...), tooMuch, ""),
		made("parts that lead outside", p.with(t, "../../../slip", "x", `..\..\slip`, "x", "/slip", "x"), "", "roof"),
		main("an entity that is another file", `<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>`+p.saying("&x;"),
			damaged, ""),
		main("a billion laughs", laughs+"]>"+p.saying("&z;"), damaged, ""),
		main("elements 100,000 deep", p.saying(strings.Repeat("<x>", 100_000)), tooDeep, ""),
		main("an end that is missing", xml[:len(xml)-8], damaged, ""),
		main("ends alone", "</x></x></x>", damaged, ""),
		main("zero bytes", p.saying("a\x00b"), damaged, ""),
		main("XML 2.0", `<?xml version="2.0"?>`+xml, damaged, ""),
		main("UTF-7", fmt.Sprintf(head, "utf-7")+xml, damaged, ""),
		main("a character set that nobody knows", fmt.Sprintf(head, "x-nonsense")+xml, damaged, ""),
		main("UTF-16 without a mark", inUTF16(fmt.Sprintf(head, "utf-16")+xml), "", "roof"),
		main("UTF-16 that says it is UTF-8", fmt.Sprintf(head, "utf-8")+inUTF16(xml), damaged, ""),
		main("bytes that are no UTF-8", p.saying("\xff\xfe\xc0\x80"), damaged, ""),
		main("an attribute of 2 MB", p.saying(`The roof is dry.<x a="`+string(letters)+`"/>`), "", "roof"),
		main("100,000 attributes", p.saying(`The roof is dry.<x`+strings.Repeat(` a=""`, 100_000)+`/>`), "", "roof"),
	}
}

func inUTF16(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}
