// Package ooxml opens the packages of Office files (ECMA-376): ZIP archives of XML parts that refer to each other by
// relationships. It limits what is unpacked, resolves no external reference, and expands no entity. The readers of
// Word, PowerPoint and Excel files stand on it.
//
// package.go opens the archive and its parts (ECMA-376 part 2, Open Packaging Conventions), relations.go finds out
// which part is which, decoder.go reads XML, chart.go reads the words of charts and diagrams, which all three kinds of
// files have. EPUB books and OpenDocument files are such archives too, and are opened here, without relationships.
//
// A file is a stranger's: sizes in the archive's directory are not believed, names are looked up and never become paths
// on disk, and whatever is wrong with the file comes back as a *corpus.Failure with a sentence for its owner.
package ooxml

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// Limits of a package. maxRatio ends zip bombs. XML compresses well, but hardly 500 times; small parts may, so that
// they are not asked.
const (
	maxParts    = 20_000
	maxPart     = 256 << 20 // bytes of one part, unpacked
	maxUnpacked = 768 << 20 // bytes of all parts that are read
	maxRatio    = 500       // of a part of more than a MiB to what it takes in the file
)

// Package is an open file. It is not safe for concurrent use. read counts the bytes that were unpacked so far, for all
// parts together. Parts are opened by name, as often as needed.
type Package struct {
	file  *os.File
	parts map[string]*zip.File // by lower-case name
	read  int64
}

// Failures that readers of packages share.
var (
	Damaged = &corpus.Failure{Code: "broken",
		Detail: "This file is damaged. Open it in the program it was made with, save it again and add that."}
	Encrypted = &corpus.Failure{Code: "encrypted",
		Detail: "This file is protected by a password. Save a copy without the password and add that."}
	tooLarge = &corpus.Failure{Code: "too_large",
		Detail: "This file unpacks to more than can be read. Split it and add the parts."}
)

// Open opens a file. It fails with a *corpus.Failure for one that is no package. The caller closes it. Only the
// directory of the archive is read here.
func Open(name string) (*Package, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	p, err := open(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

// open reads the directory. A password is told in two ways: Office puts an encrypted package into a compound file
// ([MS-OFFCRYPTO]), other programs encrypt the members of the archive.
func open(file *os.File) (*Package, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	head := make([]byte, 8)
	if _, err := file.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) {
		return nil, Encrypted // Office encrypts a package inside an OLE file
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, errors.Join(Damaged, err)
	}
	if len(archive.File) > maxParts {
		return nil, tooLarge
	}
	p := &Package{file: file, parts: make(map[string]*zip.File, len(archive.File))}
	for _, f := range archive.File {
		if f.Flags&1 != 0 {
			return nil, Encrypted
		}
		p.parts[partKey(f.Name)] = f
	}
	return p, nil
}

// Close closes the file.
func (p *Package) Close() error { return p.file.Close() }

// partKey is the name that a part is found by: names differ only in case in some files, and begin with a slash or hold
// backslashes in others.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Has reports whether there is a part of that name.
func (p *Package) Has(name string) bool { return p.parts[partKey(name)] != nil }

// Size returns how many bytes a part says that it has, 0 for a missing one. It is what the archive's directory says,
// good for choosing how to read the part, not for making room for it.
func (p *Package) Size(name string) uint64 {
	if f := p.parts[partKey(name)]; f != nil {
		return f.UncompressedSize64
	}
	return 0
}

// Names returns the names of the parts that begin with prefix, in lower case and in no order.
func (p *Package) Names(prefix string) (names []string) {
	for name := range p.parts {
		if strings.HasPrefix(name, strings.ToLower(prefix)) {
			names = append(names, name)
		}
	}
	return names
}

// Part opens a part. A missing one is fs.ErrNotExist. Reading it fails once the package has given out more than is read
// of one file. The caller closes it. One reader may be open beside another.
func (p *Package) Part(name string) (io.ReadCloser, error) {
	f := p.parts[partKey(name)]
	if f == nil {
		return nil, fmt.Errorf("part %s: %w", doctext.Line(name), os.ErrNotExist)
	}
	if f.UncompressedSize64 > maxPart ||
		f.UncompressedSize64 > 1<<20 && f.UncompressedSize64/max(f.CompressedSize64, 1) > maxRatio {
		return nil, tooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, errors.Join(Damaged, err)
	}
	return &partReader{ReadCloser: r, all: p, left: maxPart}, nil
}

// partReader reads a part within the limits, whatever the archive's directory says.
type partReader struct {
	io.ReadCloser
	all  *Package
	left int64
}

// Read implements io.Reader. An error of the archive is a failure of the file. At a limit no bytes come back at all, so
// that nobody takes half a part for a whole one.
func (r *partReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.left -= int64(n)
	r.all.read += int64(n)
	switch {
	case r.left < 0 || r.all.read > maxUnpacked:
		return 0, tooLarge
	case err != nil && err != io.EOF:
		return n, errors.Join(Damaged, err)
	}
	return n, err
}

// Decode has walk read the tokens of an XML part. A missing part is no error: walk is not called. It reads the part to
// its end even if walk stops at the root's end: only there archive/zip compares the checksum.
func (p *Package) Decode(name string, walk func(*Decoder) error) error {
	if !p.Has(name) {
		return nil
	}
	part, err := p.Part(name)
	if err != nil {
		return err
	}
	defer part.Close()
	d := NewDecoder(part)
	if err := walk(d); err != nil {
		return fmt.Errorf("part %s: %w", doctext.Line(name), err)
	}
	_, err = io.Copy(io.Discard, part) // what follows the root: only at its end the checksum is known
	return err
}
