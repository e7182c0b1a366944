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

// Limits of a file; the values are estimates.
const (
	maxFile = 2 << 30 // bytes
	maxWay  = 8 << 10 // bytes of the address of a file on this machine
)

// Fetch implements sources.Place. known is the stored version; an equal one returns sources.ErrSame without a
// request. The caller closes the content.
//
// zotero.org returns the file itself; the program on this machine returns a file's address, which is opened here.
// Zotero compresses the snapshot of a page with its pictures into a ZIP, whatever its name is. An HTML page in place
// of a document is a temporary error of the server.
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
			Message: sources.Retried("The server returned a web page instead of the document."),
		}
	}
	if !isPage {
		return sources.Content{Body: resp.Body}, nil
	}
	// Pages that were saved with their pictures are ZIP files.
	body := bufio.NewReader(resp.Body)
	content := sources.Content{Body: struct {
		io.Reader
		io.Closer
	}{body, resp.Body}}
	// A ZIP file begins with these four bytes.
	if begin, _ := body.Peek(4); string(begin) == "PK\x03\x04" { // the next read returns an error again
		content.Name = strings.TrimSuffix(item.Name, path.Ext(item.Name)) + ".zip"
	}
	return content, nil
}

// openLocal opens a file in Zotero's folder of an item: DIR/storage/KEY/NAME. A forged response at the local address
// could name any file on this machine. So the address must be a plain file URL with an absolute clean path, in the
// item's own folder, whose parent is called storage. A missing file returns sources.ErrGone.
func openLocal(key, way string) (sources.Content, error) {
	u, err := url.Parse(way)
	if err != nil || u.Scheme != "file" { // Zotero has no local copy of the file
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
			Code: chat.CodeInvalid, Message: "This file is not in Zotero's storage folder, so it is not imported.",
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
		Message: "A file in Zotero's storage folder can't be read. Check its permissions.",
	}
}

// openIn opens a regular file in a folder. os.OpenRoot rejects links that lead out of the folder. name must not be
// absolute. A folder or a device is an error.
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
