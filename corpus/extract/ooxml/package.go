// Package ooxml opens the packages of Office files (ECMA-376): ZIP archives of XML parts that refer to each other by
// relationships. It limits unpacking, resolves no external reference, and expands no entity. The readers of Word,
// PowerPoint and Excel files are based on it.
//
// package.go opens the archive and its parts (ECMA-376 part 2, Open Packaging Conventions), relations.go resolves
// relationships, decoder.go parses XML, chart.go reads the words of charts and diagrams, which all three formats
// share. EPUB books and OpenDocument files are such archives too, and are opened here, without relationships.
//
// A file is untrusted: sizes in the archive's directory are not relied on, and names are only looked up and never
// become paths on disk. Every error of the file is a *corpus.Failure with a message for its owner.
package ooxml

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// Limits of a package. maxRatio detects ZIP bombs. XML hardly compresses 500 times; small parts may, so that they
// are exempt.
const (
	maxParts    = 20_000
	maxPart     = 256 << 20 // bytes of one unpacked part
	maxUnpacked = 768 << 20 // bytes of all parts that are read
	maxRatio    = 500       // unpacked to packed size, of a part of more than a MiB
)

// Package is an open archive. It is not safe for concurrent use. read is the number of bytes unpacked so far, in all
// parts. Parts are opened by name, as often as needed.
type Package struct {
	file  io.Closer            // nil: in memory
	parts map[string]*zip.File // by lower-case name
	read  int64
}

// Failures that readers of packages share.
var (
	Damaged = &corpus.Failure{Code: "broken",
		Detail: "This file is damaged. Open it in its original program, save it again and add the new file."}
	Encrypted = &corpus.Failure{Code: "encrypted",
		Detail: "This file is password-protected. Save a copy without the password and add the copy."}
	tooLarge = &corpus.Failure{Code: "too_large",
		Detail: "This file's unpacked size exceeds the limit. Split it and add the parts."}
)

// Open opens a file and parses the directory of the archive. It fails with a *corpus.Failure for other files. The
// caller closes the Package.
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

// open parses the directory of a file.
func open(file *os.File) (*Package, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	p, err := OpenReader(file, info.Size())
	if err == nil {
		p.file = file
	}
	return p, err
}

// OpenReader opens a package that is not a file of its own. It detects two forms of encryption: Office stores an
// encrypted package in a compound file ([MS-OFFCRYPTO]), other programs encrypt the members of the archive.
func OpenReader(r io.ReaderAt, size int64) (*Package, error) {
	head := make([]byte, 8)
	if _, err := r.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) {
		return nil, Encrypted // Office stores an encrypted package inside an OLE file
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errors.Join(Damaged, err)
	}
	if len(archive.File) > maxParts {
		return nil, tooLarge
	}
	p := &Package{parts: make(map[string]*zip.File, len(archive.File))}
	for _, f := range archive.File {
		if f.Flags&1 != 0 {
			return nil, Encrypted
		}
		p.parts[partKey(f.Name)] = f
	}
	return p, nil
}

// Close closes the file, if there is one.
func (p *Package) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// partKey normalises the name of a part for lookups. Names differ only in case in some files, and begin with a slash
// or contain backslashes in others.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Has reports whether the package has a part of that name.
func (p *Package) Has(name string) bool { return p.parts[partKey(name)] != nil }

// Size returns the declared size in bytes of a part, 0 for a missing one. It is the value in the archive's
// directory: it may be used to choose how to read the part, not to allocate memory.
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

// Part opens a part, and fails with os.ErrNotExist for a missing one. Reads fail once the total limit of the package
// is exceeded. The caller closes the part. Several parts may be open at once.
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

// partReader enforces the size limits while a part is read, regardless of the declared size.
type partReader struct {
	io.ReadCloser
	all  *Package
	left int64
}

// Read implements io.Reader. An error of the archive is a failure of the file. Beyond a limit it returns no bytes at
// all, so that a truncated part is never used as a whole one.
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

// Decode calls walk with a decoder inside the root element of an XML part. It returns nil for a missing part without
// calling walk. It reads the part to its end even if walk stops earlier, because archive/zip validates the checksum
// only there.
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
	for d.Root.Name.Local == "" && err == nil {
		var token xml.Token
		token, err = d.Next()
		d.Root, _ = token.(xml.StartElement)
	}
	if err == nil {
		err = walk(d)
	}
	if err != nil {
		return fmt.Errorf("part %s: %w", doctext.Line(name), unexpected(err))
	}
	_, err = io.Copy(io.Discard, part) // the rest after the root, for the checksum
	return err
}
