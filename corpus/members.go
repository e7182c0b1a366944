package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Keys of Meta that tie a file to the files inside it.
const (
	MetaMembers = "members" // of a container: the ids of the documents made of the files inside
	MetaParent  = "parent"  // of such a document: the id of its container
	metaDepth   = "depth"   // of such a document: how many files it lies in
	metaShown   = "shown"   // of such a document: true if the container shows it in its text
)

const membersListed = 100 // at once

// MemberIDs are the documents that were made of the files inside this one.
func (d Document) MemberIDs() (ids []string) {
	list, _ := d.Meta[MetaMembers].([]any)
	for _, id := range list {
		if id, ok := id.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// depth is how many files a document's file lies in.
func (d Document) depth() int {
	n, _ := d.Meta[metaDepth].(float64)
	return int(n)
}

// addMembers makes documents of the files inside one, which lie in dir, and removes those of files that are no longer
// in it. It is done before the container is ready, so that a process that ends meanwhile loses none; each is there once
// however often it is done. Files that can't be taken are counted in the container's metadata. A document that was made
// for a file inside is an ordinary one: it can be found, read and deleted by itself.
func (l *Library) addMembers(ctx context.Context, d Document, e *Extracted, dir string) error {
	before, err := l.membersOf(ctx, d)
	if err != nil {
		return err
	}
	// No key is set for the great majority of files, which hold none and never did.
	if len(e.Members) == 0 && len(before) == 0 {
		return nil
	}
	ids := make([]string, 0, len(e.Members))
	refused := 0
	for _, m := range e.Members {
		id, err := l.addMember(ctx, d, m, filepath.Join(dir, filepath.Base(m.File)))
		// What the library refuses it would refuse each time: the container is read in without it. Other errors may
		// pass, and end the job, which comes again.
		if isRefusal(err) {
			refused++
			l.cfg.Log.InfoContext(ctx, "a file inside another is left out", "document", d.ID, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		// A file may hold a copy of itself, and the same bytes twice.
		if id != d.ID && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range before {
		if slices.Contains(ids, id) {
			continue
		}
		if err := l.Delete(ctx, chat.Scope{User: d.User}, id); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("remove a file that is no longer inside: %w", err)
		}
	}
	if e.Meta == nil {
		e.Meta = map[string]any{}
	}
	e.Meta[MetaMembers] = ids
	if refused > 0 {
		left, _ := e.Meta[MetaLeftOut].(string)
		e.Meta[MetaLeftOut] = strings.TrimPrefix(left+", "+english.Count(refused, "file")+" that can't be read", ", ")
	}
	return nil
}

// isRefusal reports whether a file was refused for what it is, or because its user has no room for it.
func isRefusal(err error) bool {
	if _, over := errors.AsType[*chat.OverLimit](err); over {
		return true
	}
	code := chat.CodeOf(err)
	return code == chat.CodeUnsupported || code == chat.CodeInvalid || code == chat.CodeTooLarge
}

// addMember makes a document of a file inside d. The same bytes inside two files are one document, which keeps the
// container that it had first.
func (l *Library) addMember(ctx context.Context, d Document, m Member, name string) (id string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open a file inside another: %w", err)
	}
	defer file.Close()
	meta := map[string]any{MetaParent: d.ID, metaDepth: d.depth() + 1}
	if m.Shown {
		meta[metaShown] = true
	}
	member, _, err := l.Add(ctx, Upload{
		// The path is the container's with the file's own behind it, so that two containers with a "readme.txt" each
		// have one.
		User: d.User, Namespace: d.Namespace, Path: d.Path + "/" + m.Path, Filename: lastName(cleanPath(m.Path)),
		Title: m.Path, Meta: meta, MetaIfFresh: true, Body: file,
	})
	return member.ID, err
}

// dropWordless removes a document whose reading found no words, if it is one that its container only shows and that
// nobody added by itself. It reports whether it was one. The job that read it ends by itself: to cancel it could end
// one that is queued meanwhile, by another container that shows the same.
func (l *Library) dropWordless(ctx context.Context, job Job, reason *Failure) (bool, error) {
	if reason.Code != NoText {
		return false, nil
	}
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return false, err
	}
	// Another version was added since, or somebody added the file by itself: then the failure is to be seen.
	if shown, _ := d.Meta[metaShown].(bool); !shown || d.SHA256 != job.SHA256 {
		return false, nil
	}
	container, err := l.cfg.Documents.Get(ctx, s, d.MetaText(MetaParent))
	if err != nil || !strings.HasPrefix(d.Path, container.Path+"/") {
		return false, goneIsDone(err)
	}
	if err := l.cfg.Documents.Delete(ctx, s, d.ID); err != nil {
		return true, err
	}
	l.changes.wakeWatchers(d.ID)
	wakeChannel(l.purgeNow)
	return true, nil
}

// membersOf returns the documents of the files inside one that are there.
func (l *Library) membersOf(ctx context.Context, d Document) (ids []string, err error) {
	if !l.cfg.Formats.Holds(d.MIME) {
		return nil, nil
	}
	f := Filter{Meta: map[string]any{MetaParent: d.ID}, Limit: membersListed}
	for {
		page, next, err := l.cfg.Documents.List(ctx, chat.Scope{User: d.User}, f)
		if err != nil {
			return nil, fmt.Errorf("list the files inside a document: %w", err)
		}
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		if f.Cursor = next; next == "" {
			return ids, nil
		}
	}
}

// Family returns the document that d was inside, nil if there is none any more, and the first documents made of the
// files inside d, of which there are count in all, as far as they are there. Documents that the scope may not see are
// not among them.
func (l *Library) Family(ctx context.Context, s chat.Scope, d Document, most int) (
	parent *Document, inside []Document, count int, err error,
) {
	if id := d.MetaText(MetaParent); id != "" {
		p, err := l.cfg.Documents.Get(ctx, s, id)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return nil, nil, 0, err
		}
		if err == nil {
			parent = &p
		}
	}
	ids := d.MemberIDs()
	if len(ids) == 0 {
		return parent, nil, 0, nil
	}
	f := Filter{Meta: map[string]any{MetaParent: d.ID}, Limit: most}
	inside, f.Cursor, err = l.cfg.Documents.List(ctx, s, f)
	count, f.Limit = len(inside), membersListed
	for err == nil && f.Cursor != "" {
		var more []Document
		more, f.Cursor, err = l.cfg.Documents.List(ctx, s, f)
		count += len(more)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("list the files inside a document: %w", err)
	}
	return parent, inside, count, nil
}

// eachMember calls do for documents of files inside one. What became of one of them meanwhile does not stop it.
func eachMember(ids []string, do func(id string) error) error {
	for _, id := range ids {
		if err := do(id); err != nil && chat.CodeOf(err) != chat.CodeNotFound && chat.CodeOf(err) != chat.CodeConflict {
			return err
		}
	}
	return nil
}
