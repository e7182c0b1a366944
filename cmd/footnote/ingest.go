package main

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

	"footnote/chat"
	"footnote/corpus/extract"
	"footnote/watch"
)

// ingestCommand adds files to the library of a server.
type ingestCommand struct {
	Paths     []string `arg:"" name:"path" help:"Files and folders. A folder is taken with all below it; hidden files are left out."`
	Namespace string   `help:"Namespace to add them to." default:"default" placeholder:"NAME"`
}

// source is a file to add under a relative path.
type source struct{ file, path string }

// Run adds the files, waits until each is ready or has failed, and lists the failures. Any failure is an error.
func (c *ingestCommand) Run(p *program) (err error) {
	files, left, err := collectFiles(c.Paths, p.settings.OwnPaths())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("there is nothing to add: no " + extract.Formats.Labels("or") + " file in " +
			strings.Join(c.Paths, ", ") + left.inBrackets())
	}
	server, err := p.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	show := newBar(p.stderr, len(files))
	var failed []string
	var waiting []accepted
	known := 0
	for i, file := range files {
		show.drawBar("adding", known+len(failed), fmt.Sprintf("%d of %d %s", i+1, len(files), file.path))
		doc, refused, err := c.addFile(p.ctx, server, file)
		switch {
		case err != nil:
			return fmt.Errorf("add %s: %w", file.path, err)
		case refused != nil:
			failed = append(failed, file.path+": "+refused.Message)
		case doc.Of != "":
			known++
		default:
			waiting = append(waiting, doc)
		}
	}
	before := len(files) - len(waiting)
	for i, doc := range waiting {
		doc, err := server.waitSettled(p.ctx, doc, func(d accepted) {
			show.drawBar("indexing", before+i, fmt.Sprintf("%s %s", d.Filename, pageProgress(d)))
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
	show.endBar(fmt.Sprintf("%d added, %d already there, %d failed", len(files)-known-len(failed), known, len(failed)))
	if left.files > 0 {
		fmt.Fprintln(p.stderr, left)
	}
	if len(failed) > 0 {
		return fmt.Errorf(
			"%d of %d files could not be added:\n  %s", len(failed), len(files), strings.Join(failed, "\n  "),
		)
	}
	return nil
}

// pageProgress says how far a document is, for the bar; empty before that is known.
func pageProgress(d accepted) string {
	if d.Progress.Total == 0 {
		return ""
	}
	return fmt.Sprintf("(%s %d/%d)", d.Progress.Stage, d.Progress.Done, d.Progress.Total)
}

// addFile sends one file. refused is why the library did not take it.
func (c *ingestCommand) addFile(
	ctx context.Context, server *remote, src source,
) (doc accepted, refused *chat.Error, err error) {
	file, err := os.Open(src.file)
	if err != nil {
		return doc, nil, err
	}
	defer file.Close()
	return server.addFile(ctx, [][2]string{{"namespace", c.Namespace}}, src.path, file)
}

// leftOut counts the files of folders that are of no readable kind.
type leftOut struct {
	files int
	kinds map[string]int // by ending
}

// addFile counts a file that is left out, by its extension.
func (l *leftOut) addFile(name string) {
	kind := strings.ToLower(filepath.Ext(name))
	if kind == "" {
		kind = "without an ending"
	}
	l.files++
	l.kinds[kind]++
}

// String says how many and which, the most frequent kinds first.
func (l *leftOut) String() string {
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
func (l *leftOut) inBrackets() string {
	if l.files == 0 {
		return ""
	}
	return " (" + l.String() + ")"
}

// mostKinds is how many kinds of files that were left out are named.
const mostKinds = 8

// isReadable reports whether a folder is searched for a file of this name. A file named on the command line is tried
// whatever it is called.
func isReadable(name string) bool {
	_, ok := extract.Formats.ByExtension(name)
	return ok
}

// collectFiles lists the files below the paths, and what it leaves out. Each keeps its path relative to the folder that
// was named. own are files and folders of the program itself.
func collectFiles(paths, own []string) (files []source, left *leftOut, err error) {
	left, own = &leftOut{kinds: map[string]int{}}, watch.RealPaths(own)
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			files = append(files, source{file: name, path: filepath.Base(name)})
			continue
		}
		whole := watch.RealPaths([]string{name})
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
			case !isReadable(inside):
				left.addFile(inside)
			default:
				files = append(files, source{file: filepath.Join(name, inside), path: inside})
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return files, left, nil
}
