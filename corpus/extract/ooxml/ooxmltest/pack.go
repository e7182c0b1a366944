// Package ooxmltest creates Office files for tests from their parts.
package ooxmltest

import (
	"archive/zip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Parts maps part names to their contents.
type Parts map[string]string

// Write creates a file of that name in a temporary directory and returns its path. It adds a package relation to
// main, if main is not empty.
func Write(t testing.TB, name, main string, parts Parts) string {
	t.Helper()
	all := maps.Clone(parts)
	if _, own := all["_rels/.rels"]; !own && main != "" {
		all["_rels/.rels"] = Relations("rId1", "officeDocument", main)
	}
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	for _, part := range slices.Sorted(maps.Keys(all)) {
		w, err := archive.Create(part)
		if err == nil {
			_, err = w.Write([]byte(all[part]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Relations returns a relations part. Each relation is three words: the id, the last segment of the type and the
// target. A target with "://" is external.
func Relations(words ...string) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for words := range slices.Chunk(words, 3) {
		mode := ""
		if strings.Contains(words[2], "://") {
			mode = ` TargetMode="External"`
		}
		b.WriteString(`<Relationship Id="` + words[0] +
			`" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + words[1] +
			`" Target="` + words[2] + `"` + mode + `/>`)
	}
	b.WriteString(`</Relationships>`)
	return b.String()
}
