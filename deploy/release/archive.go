package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is a file of a package. name is where it lies in the package, content all of it in memory.
type entry struct {
	name    string // with slashes
	content []byte
	program bool // it may be started
}

// mode is what the file gets when it is unpacked: 755 for programs, 644 for others.
func (e entry) mode() os.FileMode {
	if e.program {
		return 0o755
	}
	return 0o644
}

// writeTarball packs entries in their order; all have one time and belong to nobody.
//
// It is a gzip of a tar of the kind USTAR, which has no room for anything of the machine that made it. So the same
// entries make the same bytes. The whole package is made in memory before anything is written.
func writeTarball(path string, entries []entry, made time.Time) error {
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.content)), Mode: int64(e.mode()), ModTime: made,
			Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return writeFile(path, packed.Bytes())
}

// writeZip packs entries in their order; all have one time.
//
// Times in a zip begin with 1980; madeAt sees to that. A kind of file's mode is kept, so that programs may be started
// on Unix.
func writeZip(path string, entries []entry, made time.Time) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, e := range entries {
		head := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: made}
		head.SetMode(e.mode())
		w, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return writeFile(path, packed.Bytes())
}

// writeFile writes a file that everybody may read, and makes its folder.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
