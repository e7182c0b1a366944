// Package documents adds files and folders to a server's library.
//
// [Collect] selects the files of a folder; the commands that follow folders use the same rules: readable formats,
// without hidden files and without the program's own. Files are uploaded one after the other; the server parses
// them concurrently.
package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/sources/folder"
)

// Ingest uploads files to a server's library. Duplicates are detected by their bytes, not parsed again, and counted
// separately.
type Ingest struct {
	Paths     []string `arg:"" name:"path" help:"Files and folders. Folders are added recursively; hidden files are skipped."`
	Namespace string   `help:"Namespace of the documents." default:"default" placeholder:"NAME"`
}

// Source is a file to add.
type Source struct {
	File string // path on disk
	Path string // path in the library, relative to the named folder
}

// Run uploads the files, waits until each is ready or has failed, and lists the failures. Any failure is an error.
// Files are sent one at a time. If the server becomes unreachable, it stops at once, and added files stay.
func (c *Ingest) Run(p *command.Program) (err error) {
	files, left, err := Collect(c.Paths, p.Settings.OwnPaths())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("nothing to add: no " + extract.Formats.Labels("or") + " file in " +
			strings.Join(c.Paths, ", ") + left.inBrackets())
	}
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	show := command.NewBar(p.Stderr, len(files))
	var failed []string
	var waiting []remote.Document
	known := 0
	for i, file := range files {
		// The bar shows the number of settled files.
		show.Draw("adding", known+len(failed), fmt.Sprintf("%d of %d %s", i+1, len(files), file.Path))
		doc, refused, err := Add(p.Ctx, server, c.Namespace, file)
		switch {
		case err != nil:
			return fmt.Errorf("add %s: %w", file.Path, err)
		case refused != nil:
			failed = append(failed, file.Path+": "+refused.Message.String())
		case doc.Of != "":
			known++
		default:
			waiting = append(waiting, doc)
		}
	}
	before := len(files) - len(waiting)
	for i, doc := range waiting {
		doc, err := server.Settled(p.Ctx, doc, func(d remote.Document) {
			show.Draw("indexing", before+i, fmt.Sprintf("%s %s", d.Filename, pageProgress(d)))
		})
		if err != nil {
			return err
		}
		if doc.State != "ready" {
			reason := doc.State
			if doc.Error != nil {
				reason = doc.Error.Detail
			}
			failed = append(failed, doc.Filename+": "+reason)
		}
	}
	show.End(fmt.Sprintf("%d added, %d already present, %d failed", len(files)-known-len(failed), known, len(failed)))
	if left.Any() {
		fmt.Fprintln(p.Stderr, left)
	}
	if len(failed) > 0 {
		return fmt.Errorf(
			"%d of %d files could not be added:\n  %s", len(failed), len(files), strings.Join(failed, "\n  "),
		)
	}
	return nil
}

// pageProgress returns a document's progress for the bar, or nothing while it is unknown. Stage is the server's
// name for it, such as “embedding”.
func pageProgress(d remote.Document) string {
	if d.Progress.Total == 0 {
		return ""
	}
	return fmt.Sprintf("(%s %d/%d)", d.Progress.Stage, d.Progress.Done, d.Progress.Total)
}

// Add uploads one file to a namespace. refused is the library's reason to reject the file. err is set only for
// errors that end the command: an unreachable server, a file that can't be opened.
func Add(
	ctx context.Context, server *remote.Server, namespace string, src Source,
) (doc remote.Document, refused *chat.Error, err error) {
	file, err := os.Open(src.File)
	if err != nil {
		return doc, nil, err
	}
	defer file.Close()
	return server.Add(ctx, [][2]string{{"namespace", namespace}}, src.Path, file)
}

// SkipCounts counts the files of folders in unsupported formats. It is not safe for concurrent use.
type SkipCounts struct {
	files int
	kinds map[string]int // count by extension
}

// NewSkipCounts returns an empty count.
func NewSkipCounts() *SkipCounts { return &SkipCounts{kinds: map[string]int{}} }

// Any reports whether a file was left out.
func (l *SkipCounts) Any() bool { return l.files > 0 }

// Count counts a skipped file by its extension, case-insensitive.
func (l *SkipCounts) Count(name string) {
	kind := strings.ToLower(filepath.Ext(name))
	if kind == "" {
		kind = "without an extension"
	}
	l.files++
	l.kinds[kind]++
}

// String returns the number of skipped files by extension, the most frequent first.
func (l *SkipCounts) String() string {
	kinds := slices.SortedFunc(maps.Keys(l.kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.kinds[b], l.kinds[a]), cmp.Compare(a, b))
	})
	parts := make([]string, 0, mostKinds+1)
	for _, kind := range kinds[:min(len(kinds), mostKinds)] {
		parts = append(parts, fmt.Sprintf("%d %s", l.kinds[kind], kind))
	}
	if more := len(kinds) - mostKinds; more > 0 {
		parts = append(parts, fmt.Sprintf("%d other kinds", more))
	}
	return fmt.Sprintf("%d skipped, with unsupported formats: %s", l.files, strings.Join(parts, ", "))
}

// inBrackets returns the skipped files in brackets, as the end of a message. It is empty if no file was skipped.
func (l *SkipCounts) inBrackets() string {
	if l.files == 0 {
		return ""
	}
	return " (" + l.String() + ")"
}

// mostKinds is the number of extensions that are listed. Eight fit into a line or two.
const mostKinds = 8

// IsReadable reports whether a file of this name is collected from a folder. A file named on the command line is
// always tried.
func IsReadable(name string) bool {
	_, ok := extract.Formats.ByExtension(name)
	return ok
}

// Collect lists the files below the paths, and counts the skipped ones. Each keeps its path relative to the named
// folder. own are files and folders of the program itself, which are skipped. A missing path and an unreadable
// folder are errors. Links below a folder are not followed.
func Collect(paths, own []string) (files []Source, left *SkipCounts, err error) {
	left, own = NewSkipCounts(), folder.RealPaths(own)
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			files = append(files, Source{File: name, Path: filepath.Base(name)})
			continue
		}
		whole := folder.RealPaths([]string{name})
		err = fs.WalkDir(os.DirFS(name), ".", func(inside string, entry fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(entry.Name(), ".") && inside != "."
			for _, folder := range whole { // one folder: links below it are not followed
				hidden = hidden || slices.Contains(own, filepath.Join(folder, inside))
			}
			switch {
			case err != nil:
				return err
			case entry.IsDir() && hidden:
				return fs.SkipDir
			case !entry.Type().IsRegular() || hidden:
			case !IsReadable(inside):
				left.Count(inside)
			default:
				files = append(files, Source{File: filepath.Join(name, inside), Path: inside})
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return files, left, nil
}
