// Package docs carries Footnote's own handbook, which is also the sample documents of an empty library.
//
// To add a page of the handbook, write docs/handbook/*.md.
package docs

import "embed"

// Handbook holds the chapters as Markdown, under "handbook". Chapters in other languages are in directories named as
// the languages.
//
// Paths in it have slashes and are relative, such as “handbook/01-….md”. It is in the binary, so a library is never
// without something to ask.
//
//go:embed handbook
var Handbook embed.FS
