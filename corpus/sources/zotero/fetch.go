package zotero

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// They are choices; the first is what a file of a library may have at most.
const (
	maxFile = 2 << 30 // bytes
	maxWay  = 8 << 10 // bytes of the address of a file on this machine
)

// Fetch implements sources.Place. Zotero packs the snapshot of a page with its pictures into a ZIP, whatever its name
// says. known is the version that was settled before. The content has to be closed by whoever gets it.
//
// An item with the version that was settled is not asked for at all: sources.ErrSame. From zotero.org it is the file
// itself; from the program on this machine it is an address of a file, which is read here. A page in the place of a
// document is a server in trouble, and is tried again.
func (l *library) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	at, limit := l.root.JoinPath("items", item.Key, "file"), int64(maxFile)
	if l.local {
		at, limit = at.JoinPath("view/url"), maxWay
	}
	resp, err := l.get(ctx, at, limit)
	if err != nil {
		return sources.Content{}, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	ext := strings.ToLower(path.Ext(item.Name))
	isPage := strings.HasPrefix(ext, ".htm") || ext == ".xhtml"
	switch {
	case resp.Status == http.StatusNotFound, resp.Status == http.StatusGone:
		_ = resp.Body.Close()
		return sources.Content{}, sources.ErrGone
	case resp.Status != http.StatusOK:
		_ = resp.Body.Close()
		return sources.Content{}, l.failed(resp.Status)
	case l.local:
		way, err := resp.ReadAll()
		if err != nil {
			return sources.Content{}, err
		}
		return openLocal(item.Key, strings.TrimSpace(string(way)))
	case kind == "text/html" && !isPage:
		_ = resp.Body.Close()
		return sources.Content{}, &chat.Error{
			Code:    chat.CodeUnavailable,
			Message: "The server sent a page in the place of the document. It is asked again later.",
		}
	}
	if !isPage {
		return sources.Content{Body: resp.Body}, nil
	}
	// pages that were saved with their pictures are packed
	body := bufio.NewReader(resp.Body)
	content := sources.Content{Body: struct {
		io.Reader
		io.Closer
	}{body, resp.Body}}
	// A ZIP begins with these four bytes, whatever the name says.
	if begin, _ := body.Peek(4); string(begin) == "PK\x03\x04" { // a failure comes again when it is read
		content.Name = strings.TrimSuffix(item.Name, path.Ext(item.Name)) + ".zip"
	}
	return content, nil
}

// openLocal opens a file in the folder that Zotero has for an item: DIR/storage/KEY/NAME. Nothing else on this machine
// is read, whatever answers at the address of Zotero. A forged answer at the local address could name any file, so
// four things must hold: a plain file address, an absolute clean path, the item's own folder, and that folder's parent
// called storage. A file that is not there is sources.ErrGone.
func openLocal(key, way string) (sources.Content, error) {
	u, err := url.Parse(way)
	if err != nil || u.Scheme != "file" { // Zotero does not have the file here
		return sources.Content{}, sources.ErrGone
	}
	name := u.Path
	if len(name) > 2 && name[2] == ':' { // /C:/Users
		name = name[1:]
	}
	name = filepath.FromSlash(name)
	dir := filepath.Dir(name)
	if u.Host != "" || !filepath.IsAbs(name) || name != filepath.Clean(name) || !isKey(key) ||
		filepath.Base(dir) != key || filepath.Base(filepath.Dir(dir)) != "storage" {
		return sources.Content{}, &chat.Error{
			Code: chat.CodeInvalid, Message: "This file is not in Zotero's own folder, so it is not read.",
		}
	}
	f, err := openIn(dir, filepath.Base(name))
	switch {
	case err == nil:
		return sources.Content{Body: f}, nil
	case errors.Is(err, fs.ErrNotExist):
		return sources.Content{}, sources.ErrGone
	}
	return sources.Content{}, &chat.Error{
		Code: chat.CodeInvalid, Err: err,
		Message: "A file in Zotero's own folder can't be read here. Check its rights.",
	}
}

// openIn opens a plain file that is really in a folder: no link leads out of it. os.OpenRoot refuses links that lead
// out of the folder. name must not be absolute. A folder or a device is an error.
func openIn(dir, name string) (*os.File, error) {
	if about, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !about.IsDir() {
		return nil, errors.New("the folder of an item is none")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	about, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !about.Mode().IsRegular() || about.Size() > maxFile {
		return nil, errors.New("not a plain file, or too large")
	}
	return root.Open(name)
}
