// Package documents adds files and folders to the library of a server.
//
// What of a folder is taken ([Collect]) holds for the commands that follow folders too: kinds that can be read,
// without hidden files and without this program's own. Files go to the server one after the other; it reads them side
// by side.
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

// Ingest adds files to the library of a server. Files that the library has already are not read in a second time; they
// are counted apart.
type Ingest struct {
	Paths     []string `arg:"" name:"path" help:"Files and folders. A folder is taken with all below it; hidden files are left out."`
	Namespace string   `help:"Namespace to add them to." default:"default" placeholder:"NAME"`
}

// Source is a file to add.
type Source struct {
	File string // where it is
	Path string // its path in the library, relative to the folder that was named
}

// Run adds the files, waits until each is ready or has failed, and lists the failures. Any failure is an error. One
// file at a time is sent. When the server goes away, it ends at once, and what was added stays.
func (c *Ingest) Run(p *command.Program) (err error) {
	files, left, err := Collect(c.Paths, p.Settings.OwnPaths())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("there is nothing to add: no " + extract.Formats.Labels("or") + " file in " +
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
		show.Draw("adding", known+len(failed), fmt.Sprintf("%d of %d %s", i+1, len(files), file.Path))
		doc, refused, err := Add(p.Ctx, server, c.Namespace, file)
		switch {
		case err != nil:
			return fmt.Errorf("add %s: %w", file.Path, err)
		case refused != nil:
			failed = append(failed, file.Path+": "+refused.Message)
		// The bar shows how many files are settled of all.
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
	show.End(fmt.Sprintf("%d added, %d already there, %d failed", len(files)-known-len(failed), known, len(failed)))
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

// pageProgress says how far a document is, for the bar; empty before that is known. Stage is what the server calls it,
// such as “embedding”.
func pageProgress(d remote.Document) string {
	if d.Progress.Total == 0 {
		return ""
	}
	return fmt.Sprintf("(%s %d/%d)", d.Progress.Stage, d.Progress.Done, d.Progress.Total)
}

// Add sends one file to a namespace. refused is why the library did not take it.
// Only what ends everything is err: a server that is away, a file that can't be opened.
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

// LeftOut counts the files of folders that are of no readable kind. One belongs to one call of Collect and is used by
// one goroutine.
type LeftOut struct {
	files int
	kinds map[string]int // by ending
}

// NewLeftOut counts from none on.
func NewLeftOut() *LeftOut { return &LeftOut{kinds: map[string]int{}} }

// Any reports whether a file was left out.
func (l *LeftOut) Any() bool { return l.files > 0 }

// Count counts a file that is left out, by its extension. Endings are compared without regard to case.
func (l *LeftOut) Count(name string) {
	kind := strings.ToLower(filepath.Ext(name))
	if kind == "" {
		kind = "without an ending"
	}
	l.files++
	l.kinds[kind]++
}

// String says how many and which, the most frequent kinds first.
func (l *LeftOut) String() string {
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
	return fmt.Sprintf("%d left out, of kinds that can't be read: %s", l.files, strings.Join(parts, ", "))
}

// inBrackets is what was left out, to stand behind a message; empty for nothing.
func (l *LeftOut) inBrackets() string {
	if l.files == 0 {
		return ""
	}
	return " (" + l.String() + ")"
}

// mostKinds is how many kinds of files that were left out are named. Eight is a choice: they fit into a line or two.
const mostKinds = 8

// IsReadable reports whether a folder is searched for a file of this name. A file named on the command line is tried
// whatever it is called.
func IsReadable(name string) bool {
	_, ok := extract.Formats.ByExtension(name)
	return ok
}

// Collect lists the files below the paths, and what it leaves out. Each keeps its path relative to the folder that was
// named. own are files and folders of the program itself. A path that is not there is an error, and so is a folder
// that can't be read. A link below a folder is not followed.
func Collect(paths, own []string) (files []Source, left *LeftOut, err error) {
	left, own = NewLeftOut(), folder.RealPaths(own)
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
			for _, folder := range whole { // one: links below it are not followed
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
