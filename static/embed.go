// Package static embeds the page's files: styles, scripts, the icon, and the third-party scripts that "npm run
// vendor" writes to vendor/; without those the page works as plain HTML. Version identifies the content of all, so
// that browsers may cache the files indefinitely under a URL with it.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"
)

// Files contains all of them.
//
//go:embed *.js *.svg *.webmanifest app css vendor*
var Files embed.FS

// Style is the name of the style sheet: all of css/, in the order of their names.
const Style = "footnote.css"

// Read returns a file's bytes.
func Read(name string) ([]byte, error) {
	if name != Style {
		return Files.ReadFile(name)
	}
	parts, err := fs.Glob(Files, "css/*.css")
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, part := range parts {
		body, err := Files.ReadFile(part)
		if err != nil {
			return nil, err
		}
		all = append(append(all, body...), '\n')
	}
	return all, nil
}

// Scripts reports whether the third-party scripts were present at build time.
func Scripts() bool {
	_, err := fs.Stat(Files, "vendor/htmx.js")
	return err == nil
}

// Modules returns the names of the page's own JavaScript modules: all of app/.
func Modules() ([]string, error) { return fs.Glob(Files, "app/*.js") }

// Version returns a hash of the content of all files: it changes with each of them.
func Version() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := Files.ReadFile(path)
		if err != nil {
			return err
		}
		sum.Write([]byte(path))
		sum.Write(body)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))[:12], err
}

var (
	packedMu sync.Mutex
	packed   = map[string][]byte{}
)

// Packed returns a file compressed with gzip at the best level. The result is cached, so a file is compressed once.
// It is safe for concurrent use.
func Packed(name string) ([]byte, error) {
	packedMu.Lock()
	defer packedMu.Unlock()
	if body, done := packed[name]; done {
		return body, nil
	}
	plain, err := Read(name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	packed[name] = b.Bytes()
	return packed[name], nil
}
