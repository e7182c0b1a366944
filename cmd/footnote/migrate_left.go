package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"footnote/english"
)

// tellLeft says what servers need of the data directory beside the database: it is in files there, so that it is in no
// database.
func tellLeft(out io.Writer, dir *directory) error {
	var left []string
	secrets, err := fs.Glob(os.DirFS(dir.filePath(placesDir)), "*.json")
	if err != nil {
		return err
	}
	if len(secrets) > 0 {
		left = append(left, fmt.Sprintf("the passwords of %s (%s)", english.Count(len(secrets), "place"), placesDir))
	}
	if _, err := os.Stat(dir.filePath(chosenFile)); err == nil {
		left = append(left, "which folders were chosen on the page ("+chosenFile+")")
	}
	if len(left) == 0 {
		return nil
	}
	path, err := filepath.Abs(dir.path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "What is in no database stays in %s: %s. A server that is started with this data "+
		"directory uses it; into another one, copy it first (cp -rp)\n", path, strings.Join(left, ", "))
	return err
}
