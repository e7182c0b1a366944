package watch

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/folder"
	"github.com/footnote/footnote/server/api"
)

// refusedFile is a file that the library rejected. stamp identifies its version: a changed file is retried.
type refusedFile struct {
	stamp  folder.Stamp
	reason string
}

// reportSkipped sends the list of skipped files with reasons to the server's documents page, after a change and every
// compareEvery. If an older server does not have the route, that is logged once.
func (f *Folder) reportSkipped(ctx context.Context, listing *folder.Listing) error {
	told := f.describe(listing)
	if reflect.DeepEqual(told, f.described) && time.Since(f.describedAt) < compareEvery {
		return nil
	}
	err := f.server.JSON(ctx, http.MethodPut, "/watched", told, nil)
	if chat.CodeOf(err) == chat.CodeNotFound {
		f.logOnce("the server is an older version: its documents page does not list skipped files")
	} else if err != nil {
		return err
	}
	f.described, f.describedAt = told, time.Now()
	return nil
}

// describe returns the counts of a followed folder and its skipped files.
//
// At most corpus.MaxLeftOut are listed and the rest are counted. Files with an error come before those skipped on
// purpose, and each group is sorted by path.
func (f *Folder) describe(listing *folder.Listing) api.WatchedFolder {
	var broken, meant []api.FileLeftOut
	add := func(list *[]api.FileLeftOut, name, reason string) {
		*list = append(*list, api.FileLeftOut{
			Path: clip(name, corpus.MaxFolder), Reason: clip(reason, corpus.MaxReason),
		})
	}
	for name, file := range f.refused {
		if stamp, there := listing.Files[name]; there && stamp.Equal(file.stamp) {
			add(&broken, name, asSentence(file.reason))
		}
	}
	for name, err := range f.unread {
		add(&broken, name, "It can't be read: "+cause(err)+".")
	}
	kept := len(listing.Files) - len(broken)
	for _, file := range listing.Unread {
		add(&broken, file.Path, "It can't be looked at: "+cause(file.Err)+".")
	}
	for _, file := range listing.Skipped {
		add(&meant, file.Path, file.Why)
	}
	for _, name := range listing.Left {
		add(&meant, name, unreadableKind(name))
	}
	for _, list := range [][]api.FileLeftOut{broken, meant} {
		slices.SortFunc(list, func(a, b api.FileLeftOut) int { return cmp.Compare(a.Path, b.Path) })
	}
	all := slices.Concat(broken, meant)
	first := all[:min(len(all), corpus.MaxLeftOut)]
	return api.WatchedFolder{
		Namespace: f.namespace, Folder: f.folder.Dir, Files: kept, LeftOut: first, More: len(all) - len(first),
	}
}

// unreadableKind returns the reason for an unsupported file, as a sentence for the page.
func unreadableKind(name string) string {
	if ending := strings.ToLower(path.Ext(name)); ending != "" {
		return "Files that end with " + ending + " can't be read."
	}
	return "Files without an ending are not read."
}

// cause returns the system's error for a file without its path, which is listed separately.
func cause(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return err.Error()
}

// asSentence formats a reason as a sentence. In logs, reasons start in lower case and have no full stop.
func asSentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	reason = string(unicode.ToUpper(first)) + reason[size:]
	if !strings.HasSuffix(reason, ".") {
		reason += "."
	}
	return reason
}

// clip cuts a text to at most so many characters. File names may be invalid UTF-8: invalid bytes are replaced.
func clip(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, "\ufffd"))
	return string(runes[:min(len(runes), most)])
}

// logUnsupported logs the unsupported files, each once, as counts by extension in one line.
func (f *Folder) logUnsupported(listing *folder.Listing) {
	left := documents.NewSkipCounts()
	for _, name := range listing.Left {
		if !f.told["left "+name] {
			f.told["left "+name] = true
			left.Count(name)
		}
	}
	if left.Any() {
		f.log.Info(strings.TrimSuffix(left.String(), "\n"))
	}
	for _, file := range listing.Unread {
		f.logOnce("can't be scanned: its documents are kept", "error", file.Err)
	}
}

// forgetRefused removes rejected files that were deleted. A file that reappears is retried.
func (f *Folder) forgetRefused(listing *folder.Listing) {
	maps.DeleteFunc(f.refused, func(name string, _ refusedFile) bool { _, there := listing.Files[name]; return !there })
}
