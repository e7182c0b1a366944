package folder

import (
	"maps"
	"slices"
)

// Document is what the library has of a file.
type Document struct {
	ID     string
	SHA256 string
	// Path is where the file was below the folder. Ours is false for what came another way: it is never changed.
	Path string
	Ours bool
}

// Step is one thing to do.
type Step struct {
	Delete string // id of the document that goes first; empty: none
	Add    string // path of the file to add after that; empty: none
}

// Plan lists what makes the library hold each content of the folder once. files has the SHA-256 of each file by path;
// keep reports the paths of which nothing is known or nothing better can be had: their documents stay. A file that was
// renamed is deleted and added, which gives the document back under its new path, as long as its bytes are there. Order
// matters: paths are freed before others take them. Doing all of it, or a part and planning anew, ends alike. It is a
// pure function: it reads no file, and equal input gives equal steps. It works by content: each SHA-256 that the folder
// has needs one document, whichever path it is at.
func Plan(files map[string]string, documents []Document, keep func(path string) bool) []Step {
	held := map[string]bool{}       // contents with a document that stays where it is
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
		case len(wanted[d.SHA256]) > 0 && !held[d.SHA256]: // it is elsewhere now
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
		if leaving[s.Add] { // the documents may change places
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

// hasContent reports whether one of the documents has these bytes.
func hasContent(documents []Document, sha256 string) bool {
	return slices.ContainsFunc(documents, func(d Document) bool { return d.SHA256 == sha256 })
}
