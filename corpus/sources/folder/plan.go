package folder

import (
	"maps"
	"slices"
)

// Document is a library document of a file.
type Document struct {
	ID     string
	SHA256 string
	// Path is the file's path below the folder. Ours is false for a document from another source, which is never
	// changed.
	Path string
	Ours bool
}

// Step is one change of the library.
type Step struct {
	Delete string // ID of the document to delete first; empty: no deletion
	Add    string // path of the file to add afterwards; empty: no addition
}

// Plan returns the steps after which the library holds each content of the folder once. files has the SHA-256 of
// each file by path. keep reports paths that could not be read, whose documents stay. Contents are matched by
// SHA-256: each needs one document, at any of its paths.
//
// A renamed file is deleted and added, which restores the document under its new path while its bytes are stored.
// The order matters: paths are freed before other files take them. Plan is a pure function. Executing all steps, or
// some of them and planning again, has the same result.
func Plan(files map[string]string, documents []Document, keep func(path string) bool) []Step {
	held := map[string]bool{}       // contents with a document that stays at its path
	wanted := map[string][]string{} // paths by content
	for _, path := range slices.Sorted(maps.Keys(files)) {
		wanted[files[path]] = append(wanted[files[path]], path)
	}
	var open []Document
	settled := map[string]bool{} // paths with a document that stays
	for _, d := range documents {
		sha, there := files[d.Path]
		switch {
		case !d.Ours, there && sha == d.SHA256 && !settled[d.Path], !there && keep(d.Path):
			held[d.SHA256] = true
			settled[d.Path] = settled[d.Path] || d.Ours
		default:
			open = append(open, d)
		}
	}
	var freed, moved, changed []Step
	for _, d := range open {
		sha, there := files[d.Path]
		switch {
		case len(wanted[d.SHA256]) > 0 && !held[d.SHA256]: // the file was renamed
			held[d.SHA256] = true
			moved = append(moved, Step{d.ID, wanted[d.SHA256][0]})
		case there && !held[sha] && !settled[d.Path] && !hasContent(open, sha): // a new version
			held[sha], settled[d.Path] = true, true
			changed = append(changed, Step{Add: d.Path})
		default:
			freed = append(freed, Step{Delete: d.ID})
		}
	}
	leaving := map[string]bool{}
	for _, d := range open {
		leaving[d.Path] = true
	}
	var direct, after []Step
	for _, s := range moved {
		if leaving[s.Add] { // two documents may swap paths
			freed = append(freed, Step{Delete: s.Delete})
			after = append(after, Step{Add: s.Add})
			continue
		}
		direct = append(direct, s)
	}
	steps := slices.Concat(freed, direct, after, changed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !held[files[path]] {
			held[files[path]] = true
			steps = append(steps, Step{Add: path})
		}
	}
	return steps
}

// hasContent reports whether a document has this SHA-256.
func hasContent(documents []Document, sha256 string) bool {
	return slices.ContainsFunc(documents, func(d Document) bool { return d.SHA256 == sha256 })
}
