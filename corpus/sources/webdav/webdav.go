// Package webdav implements the kind of place that is a folder on a WebDAV server, such as Nextcloud's.
//
// webdav.go sends requests (PROPFIND and GET of RFC 4918), read.go parses a multistatus, walk.go walks the folders,
// version.go makes versions for servers without ETags in their lists. Keys are ways (package sources), so they are
// independent of a server's escaping.
package webdav

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a folder.
const (
	maxListing = 128 << 20 // bytes of a PROPFIND response
	maxFile    = 2 << 30   // bytes of a file
)

// Kind returns the kind of place for a WebDAV folder.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "webdav",
		Title: locale.T("Nextcloud or WebDAV"),
		Help: locale.T("A folder with all its contents. In Nextcloud, create an app password in the security " +
			"settings."),
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Folder URL"), Required: true,
			Help:    locale.T("Nextcloud shows the WebDAV URL in the Files settings."),
			Example: "https://cloud.example.org/remote.php/dav/files/ada/Documents",
		}, {
			Name: "username", Title: locale.T("Username"), Login: true,
		}, {
			Name: "password", Title: locale.T("Password"), Secret: true,
		}},
		Open: open,
	}
}

// folder is a folder with its subfolders. Paths that are too long for a key are cached in it for this sync only.
type folder struct {
	root   *url.URL // its path ends in a slash
	client *request.Client
	long   map[string]string // cache of paths that are too long for keys, by key, from the last list
}

// open validates the settings without a request. A user name without a password is valid, as some servers require
// only that.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	root, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Folder URL: enter a URL that begins with https:// or http://, without a username.",
		}
	}
	if s["password"] != "" && s["username"] == "" {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Username: enter the username for this password.",
		}
	}
	root.RawQuery = ""
	root = inFolder(root)
	f := &folder{root: root, client: request.New(n), long: map[string]string{}}
	if s["username"] != "" {
		f.client = request.NewWithPassword(n, root, s["username"], s["password"])
	}
	return f, nil
}

// inFolder returns a folder's URL with a trailing slash.
func inFolder(u *url.URL) *url.URL {
	if strings.HasSuffix(u.EscapedPath(), "/") {
		return u
	}
	return u.JoinPath("/")
}

// Check implements sources.Place. Depth 0 requests the folder alone (RFC 4918 §10.2). It returns errNoFolder for an
// address that is a file, or not WebDAV.
func (f *folder) Check(ctx context.Context) error {
	folder := false
	err := f.ask(ctx, f.root, "0", func(e entry) error {
		folder = folder || e.folder
		return nil
	})
	if err == nil && !folder {
		err = errNoFolder
	}
	return err
}

var (
	errNoFolder = &chat.Error{
		Code: chat.CodeInvalid, Message: "No WebDAV folder found at this URL. Check the URL.",
	}
	errMoved = &chat.Error{
		Code: chat.CodeInvalid, Message: "The folder has another URL. Check whether it begins with https://.",
	}
	errStrange = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: sources.Retried("The server returned an unexpected response."),
	}
	errEndless = &chat.Error{
		Code: chat.CodeInvalid, Message: "The folders are nested too deeply. Choose a subfolder.",
	}
)

// properties is the body of a PROPFIND with the four properties in use; oc:fileid is specific to Nextcloud and
// ownCloud.
const properties = `<?xml version="1.0" encoding="utf-8"?>
<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:resourcetype/><d:getetag/>` +
	`<d:getcontentlength/><oc:fileid/></d:prop></d:propfind>`

// ask requests the properties of a folder and, with depth 1, of its entries, and calls do for each. It returns the
// first error of do. Status 501 means that the server does not support PROPFIND, and so not WebDAV.
func (f *folder) ask(ctx context.Context, at *url.URL, depth string, do func(entry) error) error {
	req, err := http.NewRequest("PROPFIND", at.String(), strings.NewReader(properties)) //nolint:noctx // set by Do
	if err != nil {
		return err
	}
	req.Header.Set("Depth", depth)
	req.Header.Set("Content-Type", "application/xml; charset=utf-8")
	resp, err := f.client.Do(ctx, req, maxListing)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch status := resp.Status; {
	case status == http.StatusMultiStatus:
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status >= 500 && status != http.StatusNotImplemented:
		return request.Failed(status)
	case status == http.StatusNotFound, status == http.StatusGone:
		return errNotThere
	case status >= 300 && status < 400:
		return errMoved
	default:
		return errNoFolder
	}
	err = read(resp.Body, resp.URL, do)
	var told *chat.Error
	if err == nil || errors.As(err, &told) || errors.Is(err, errEnough) || ctx.Err() != nil {
		return err
	}
	return &chat.Error{Code: errStrange.Code, Message: errStrange.Message, Err: err}
}

// errEnough stops the parsing of a response early.
var errEnough = errors.New("nothing more is wanted")

// errNotThere is returned for a folder that does not exist.
var errNotThere = fmt.Errorf("the folder is not there: %w", errNoFolder)

// Fetch implements sources.Place. If the list has no version, the request is conditional on the known one. A file
// that may not be read is retried at the next sync.
func (f *folder) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	way := item.Key
	if strings.HasPrefix(way, sources.LongPathPrefix) {
		if way = f.long[item.Key]; way == "" {
			return sources.Content{}, &chat.Error{
				Code: chat.CodeInvalid, Message: "This file's path is too long. Shorten its name.",
			}
		}
	}
	at, err := addressOf(f.root, way)
	if err != nil {
		return sources.Content{}, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "This file's name is not supported.",
			Err:     err,
		}
	}
	header := http.Header{}
	if item.Version == "" {
		setConditions(header, known, item.Size)
	}
	resp, err := f.client.Get(ctx, at.String(), header, maxFile)
	if err != nil {
		return sources.Content{}, err
	}
	if resp.Status == http.StatusOK {
		c := sources.Content{Body: resp.Body}
		if item.Version == "" {
			c.Version = versionOf(resp.Header, item.Size, time.Now())
		}
		return c, nil
	}
	defer resp.Body.Close()
	switch status := resp.Status; {
	case status == http.StatusNotModified:
		return sources.Content{}, sources.ErrSame
	case status == http.StatusNotFound, status == http.StatusGone:
		return sources.Content{}, sources.ErrGone
	case status == http.StatusUnauthorized, status > 500:
		return sources.Content{}, request.Failed(status)
	case status == http.StatusForbidden:
		return sources.Content{}, &chat.Error{
			Code: chat.CodeForbidden, Message: chat.MessageOf(request.Failed(status)), Err: sources.ErrAgain,
		}
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<10)
	return sources.Content{}, &chat.Error{
		Code: chat.CodeInvalid, Err: sources.ErrAgain,
		Message: locale.Say("The server returned status {1} for this file, so it is not imported.", resp.Status),
	}
}

// linkOf returns the web link of a file: its page in Nextcloud (/f/ and its ID), else the file itself.
func (f *folder) linkOf(e entry, at *url.URL) string {
	if before, _, nextcloud := strings.Cut(f.root.Path, "/remote.php/"); nextcloud && e.id != "" {
		return (&url.URL{Scheme: f.root.Scheme, Host: f.root.Host, Path: path.Join("/", before, "f", e.id)}).String()
	}
	return at.String()
}
