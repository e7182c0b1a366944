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

// entry is a file of a package. name is its path in the package, content its bytes in memory.
type entry struct {
	name    string // with slashes
	content []byte
	program bool // executable
}

// mode returns the file's permissions: 755 for programs, 644 for others.
func (e entry) mode() os.FileMode {
	if e.program {
		return 0o755
	}
	return 0o644
}

// writeTarball packs entries in order, with one timestamp and without an owner.
//
// It writes gzip and tar in the USTAR format, which has no metadata of the build machine, so the output is
// reproducible. The whole package is buffered in memory before it is written.
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

// writeZip packs entries in order, with one timestamp.
//
// Timestamps in a zip start with 1980, which madeAt ensures. File modes are stored, so that programs are executable
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

// writeFile writes a world-readable file, and creates its folder.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
