// Package git implements the kind of place that is the files of a Git repository. It uses version 2 of Git's
// protocol over HTTP. It fetches the folders of one commit without history and files, and then only the files that
// are new or changed.
//
// ask.go and wire.go implement the protocol (gitprotocol-http and gitprotocol-v2 in Git's documentation), pack.go
// parses packs (gitformat-pack), tree.go reads the folders of a commit, fetch.go its files, link.go makes web links.
// An item's key is its path and its version the hash of its blob, so a file that was only moved or touched is not
// fetched again. No Git program runs, nothing is written to the disk, and all data from a server is limited.
package git

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a repository. maxSent limits bytes from the network, and skipRoom the unpacked bytes: a pack of zeros
// decompresses to a thousand times its size.
const (
	maxReply = 16 << 20  // bytes of the response with capabilities or branches
	maxFile  = 512 << 20 // bytes of a file
	maxSent  = 512 << 20 // bytes read until all folders are known
	treeRoom = 64 << 20  // bytes of memory for folders
	maxTree  = 8 << 20   // bytes of one folder: enough for sources.MaxItems names
	skipRoom = 2 << 30   // bytes that are unpacked and discarded
	maxDepth = 50        // nesting of folders
	// maxEntries limits the entries of folders in one walk: as many files as are followed, a folder for each, and as
	// many others.
	maxEntries = 3 * sources.MaxItems
)

// Kind returns the kind of place for a Git repository.
//
// It reads the current state of one branch or tag, without history, and never writes to the repository.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "git",
		Title: locale.T("Git repository"),
		Help: locale.T("Current files of one branch or tag on GitHub, GitLab, Codeberg or another server. Public " +
			"repositories need no access token."),
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Repository URL"), Required: true,
			Help:    locale.T("The HTTPS clone URL."),
			Example: "https://github.com/ada/handbook.git",
		}, {
			Name: "branch", Title: locale.T("Branch or tag"), Example: "main",
			Help: locale.T("Leave empty for the default branch."),
		}, {
			Name: "folder", Title: locale.T("Folder"), Example: "docs/guide",
			Help: locale.T("Leave empty for the whole repository."),
		}, {
			Name: "username", Title: locale.T("Username"), Login: true,
		}, {
			Name: "token", Title: locale.T("Access token or password"), Secret: true,
			Help: locale.T("For private repositories. A read-only token is enough."),
		}},
		Open: open,
	}
}

// repository is one branch of a repository, or a folder in it. It belongs to one sync in one goroutine, so it has no
// lock. Nothing is stored on the disk: a new sync fetches the folders again.
type repository struct {
	root   *url.URL
	client *request.Client
	known  bool     // a user name or a token is set
	branch string   // or a tag; empty: the main branch
	folder []string // path elements, from the top; empty: the whole repository

	server *server           // from the last connection
	commit string            // resolved by State for the next List; empty: List resolves it
	soon   []string          // announced files that are fetched next, by object hash
	held   map[string][]byte // cached ones of them
	alone  bool              // fetch one by one: the server rejected a batch
}

// open validates the settings without a request. The characters that a branch may not have are those of
// git-check-ref-format. Known servers accept any user name with a token, but not an empty one.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	root, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Repository URL: enter a URL that begins with https://, without a username.",
		}
	}
	r := &repository{root: root, client: request.New(n), branch: s["branch"]}
	if strings.ContainsAny(r.branch, " ~^:?*[\\") || strings.Contains(r.branch, "..") {
		return nil, chat.Invalid("Branch or tag: enter its name as shown in the repository.")
	}
	for name := range strings.SplitSeq(strings.Trim(s["folder"], "/"), "/") {
		switch name {
		case "":
		case ".", "..":
			return nil, chat.Invalid("Folder: enter its path in the repository, such as docs/guide.")
		default:
			r.folder = append(r.folder, name)
		}
	}
	if s["username"] != "" || s["token"] != "" {
		r.known = true
		r.client = request.NewWithPassword(n, root, cmp.Or(s["username"], "x-access-token"), s["token"])
	}
	return r, nil
}

// User-facing errors of a repository.
var (
	errNoRepository = chat.Invalid(
		"No Git repository found at this URL. Enter the HTTPS clone URL.")
	errMoved    = chat.Invalid("The repository has another URL. Enter that one.")
	errOld      = chat.Invalid("The server doesn't support version 2 of the Git protocol. Contact its administrator.")
	errNoBranch = chat.Invalid("Branch or tag not found in the repository. Check its name.")
	errNoMain   = chat.Invalid("The repository's default branch is unknown. Enter the name of a branch.")
	errEmpty    = chat.Invalid("The repository has no commits yet. It can be synced once it has one.")
	errNoFolder = chat.Invalid("Folder not found in the repository. Check its path.")
	errEndless  = chat.Invalid("The folders are nested too deeply. Choose a subfolder.")
	errPrivate  = &chat.Error{
		Code:    chat.CodeUnauthorized,
		Message: "Repository not found or private. Check the URL, or enter a username and an access token.",
	}
	errTooLarge = &chat.Error{
		Code:    chat.CodeTooLarge,
		Message: "The repository has too many files and folders to list, so it is not imported.",
	}
	errFileTooLarge = &chat.Error{
		Code: chat.CodeTooLarge, Message: "This file exceeds the size limit.",
	}
	errLFS = &chat.Error{
		Code: chat.CodeUnsupported,
		Message: "This file is stored in Git LFS, and the repository contains only a pointer to it. Add the file " +
			"another way.",
	}
)

// explain returns a user-facing error for a failed request or a broken response. The server's own message is
// untrusted and never shown.
func explain(ctx context.Context, err error) error {
	_, told := errors.AsType[*chat.Error](err)
	_, refused := errors.AsType[*refusal](err)
	broken := &chat.Error{
		Code: chat.CodeUnavailable, Err: err,
		Message: sources.Retried("The server returned an unexpected response."),
	}
	switch {
	case err == nil, told, errors.Is(err, sources.ErrGone):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case refused:
		broken.Message = sources.Retried("The request was rejected by the server.")
	}
	return broken
}

// failed converts an HTTP status into an error. A server that hides private repositories returns 401 or 404 to
// unauthenticated clients. Other statuses mean that there is no repository at the address.
func (r *repository) failed(status int) error {
	switch {
	case status == http.StatusUnauthorized && !r.known:
		return errPrivate
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusTooManyRequests, status >= 500:
		return request.Failed(status)
	case status >= 300 && status < 400:
		return errMoved
	}
	return errNoRepository
}

// Check implements sources.Place. It fetches folders only if the settings name one.
func (r *repository) Check(ctx context.Context) error {
	commit, err := r.find(ctx)
	if err == nil && len(r.folder) > 0 {
		_, err = r.trees(ctx, commit)
	}
	return explain(ctx, err)
}
