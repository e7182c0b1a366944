// Package static holds the page's files inside the program: styles, scripts, the icon, and the third-party scripts that
// "npm run vendor" writes to vendor/; without those the page works as plain HTML. Version names the content of all, so
// that browsers may keep the files for ever under an address with it.
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

// Files are all of them.
//
//go:embed *.js *.svg *.webmanifest app css vendor*
var Files embed.FS

// Style is the name of the one style sheet: all of css/, in the order of their names.
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

// Scripts reports whether the third-party scripts were there at build time.
func Scripts() bool {
	_, err := fs.Stat(Files, "vendor/htmx.js")
	return err == nil
}

// Modules are the names of the page's own scripts that import one another: all of app/.
func Modules() ([]string, error) { return fs.Glob(Files, "app/*.js") }

// Version is a name for the content of all files together: it changes when any of them does.
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

// Packed returns a file's bytes in gzip's form, as small as it makes them: a file is packed once, however many fetch
// it. It is safe for concurrent use.
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
