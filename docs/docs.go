// Package docs embeds Footnote's own handbook, which is also the sample documents of an empty library.
//
// To add a page of the handbook, write docs/handbook/*.md.
package docs

import "embed"

// Handbook contains the chapters as Markdown, under "handbook". Chapters in other languages are in directories
// named after the language.
//
// Paths are relative with slashes, such as “handbook/01-….md”. It is embedded in the binary, so a new library is
// never empty.
//
//go:embed handbook
var Handbook embed.FS
