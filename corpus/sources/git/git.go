// Package git is the kind of place that is the files of a Git repository. It speaks the second version of Git's
// protocol over HTTP, asks for the folders of one commit without its history and its files, and then for those files
// alone that are new or changed.
//
// ask.go and wire.go speak the protocol (gitprotocol-http and gitprotocol-v2 in Git's documentation), pack.go reads
// packs (gitformat-pack), tree.go the folders of a commit, fetch.go its files, link.go makes addresses for people. An
// item's key is its path and its version the name of its blob, so a file that was only moved or touched is not fetched
// again. No Git program runs, nothing is written to the disk, and everything a server sends is bounded.
package git

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a repository. maxSent bounds what comes over the network and skipRoom what it unpacks to: a pack of zeros
// is a thousand times larger than what is sent.
const (
	maxReply = 16 << 20  // bytes of what a server says of itself, or of its branches
	maxFile  = 512 << 20 // bytes of a file
	maxSent  = 512 << 20 // bytes that are read until all folders are known
	treeRoom = 64 << 20  // bytes of memory for folders
	maxTree  = 8 << 20   // bytes of one folder: more than sources.MaxItems names have
	skipRoom = 2 << 30   // bytes that are unpacked between them
	maxDepth = 50        // of folders in each other
	// maxEntries is how many entries of folders one walk reads: as many files as are followed, a folder for each, and
	// as many others.
	maxEntries = 3 * sources.MaxItems
)

// Kind is the files of a repository.
//
// It asks for one branch or tag as it is now; history is not read, and nothing is ever sent to the repository.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "git",
		Title: locale.T("Git repository"),
		Help: locale.T("The files of one branch, as they are now, on GitHub, GitLab, Codeberg or another " +
			"server. Nothing is needed for a public repository."),
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Address of the repository"), Required: true,
			Help:    locale.T("The one that is for cloning by HTTPS."),
			Example: "https://github.com/ada/handbook.git",
		}, {
			Name: "branch", Title: locale.T("Branch or tag"), Example: "main",
			Help: locale.T("Leave it empty for the repository's main branch."),
		}, {
			Name: "folder", Title: locale.T("Folder"), Example: "docs/guide",
			Help: locale.T("Leave it empty for the whole repository."),
		}, {
			Name: "username", Title: locale.T("User name"), Login: true,
		}, {
			Name: "token", Title: locale.T("Access token or password"), Secret: true,
			Help: locale.T("For a repository that is not public. A token that may only read is enough."),
		}},
		Open: open,
	}
}

// repository is one branch of a repository, or a folder in it. server and commit are kept between State and List, so
// that both are about one moment.
//
// It belongs to one look, by one goroutine, so it needs no lock. Nothing is on the disk: a look that begins anew asks
// for the folders anew.
type repository struct {
	root   *url.URL
	client *request.Client
	known  bool     // there is a user name or a token
	branch string   // or a tag; empty: the main branch
	folder []string // names, from the top; empty: all

	server *server           // as it was at the last State or List
	commit string            // that State found for the next List; empty: it looks itself
	soon   []string          // files that are fetched next, by their names as objects
	held   map[string][]byte // those of them that were sent already
	alone  bool              // the server does not send the files of soon together
}

// open checks what an owner entered, and reaches nothing. The characters that a branch may not have are those of
// git-check-ref-format. Any user name does beside a token on the servers that are known.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	root, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Address of the repository: enter one that begins with https://, without user name.",
		}
	}
	root.RawQuery, root.ForceQuery = "", false
	root.Path, root.RawPath = strings.TrimRight(root.Path, "/"), strings.TrimRight(root.RawPath, "/")
	r := &repository{root: root, client: request.New(n), branch: s["branch"]}
	if strings.ContainsAny(r.branch, " ~^:?*[\\") || strings.Contains(r.branch, "..") {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "Branch or tag: enter its name as the repository shows it.",
		}
	}
	for name := range strings.SplitSeq(strings.Trim(s["folder"], "/"), "/") {
		switch name {
		case "":
		case ".", "..":
			return nil, &chat.Error{
				Code: chat.CodeInvalid, Message: "Folder: enter its path in the repository, such as docs/guide.",
			}
		default:
			r.folder = append(r.folder, name)
		}
	}
	if s["username"] != "" || s["token"] != "" {
		name := s["username"]
		if name == "" {
			name = "x-access-token" // any will do beside a token, but none will not
		}
		r.known = true
		r.client = request.NewWithToken(n, root,
			"Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+s["token"])))
	}
	return r, nil
}

// Errors of a repository.
var (
	errNoRepository = &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "There is no Git repository at this address. Take the one that is for cloning by HTTPS.",
	}
	errMoved = &chat.Error{
		Code: chat.CodeInvalid, Message: "The repository is at another address. Enter that one.",
	}
	errPrivate = &chat.Error{
		Code: chat.CodeUnauthorized,
		Message: "There is no such repository, or it is not public. Check the address, or enter a user name and " +
			"a token.",
	}
	errOld = &chat.Error{
		Code: chat.CodeInvalid,
		Message: "The server speaks an older version of Git's protocol than the second one. Ask who runs it for a " +
			"newer Git.",
	}
	errNoBranch = &chat.Error{
		Code: chat.CodeInvalid, Message: "The repository has no such branch or tag. Check its name.",
	}
	errNoMain = &chat.Error{
		Code:    chat.CodeInvalid,
		Message: "The repository does not say which branch is its main one. Enter the name of a branch.",
	}
	errEmpty = &chat.Error{
		Code: chat.CodeInvalid, Message: "The repository has no commits yet. It can be read once it has one.",
	}
	errNoFolder = &chat.Error{
		Code: chat.CodeInvalid, Message: "The repository has no such folder. Check its path.",
	}
	errEndless = &chat.Error{
		Code: chat.CodeInvalid, Message: "The folders lie in each other without end. Choose one inside.",
	}
	errTooLarge = &chat.Error{
		Code:    chat.CodeTooLarge,
		Message: "The repository has more folders and files than can be listed, so it is not read.",
	}
	errFileTooLarge = &chat.Error{
		Code: chat.CodeTooLarge, Message: "This is larger than what is read from a place.",
	}
	errLFS = &chat.Error{
		Code: chat.CodeUnsupported,
		Message: "This file is kept in Git LFS, and the repository holds only a pointer to it. Add the file another " +
			"way.",
	}
)

// explain makes a sentence of what went wrong with what a server sent. What a server says in words is never shown.
func explain(ctx context.Context, err error) error {
	var told *chat.Error
	var refused *refusal
	switch {
	case err == nil, errors.As(err, &told), errors.Is(err, sources.ErrGone):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused):
		return &chat.Error{
			Code: chat.CodeUnavailable, Err: err,
			Message: "The server does not give out what it was asked for. It is asked again later.",
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Err: err,
		Message: "What the server sent of the repository is broken. It is asked again later.",
	}
}

// failed is the error for a status. A server that hides private repositories answers 401 or 404 to strangers. Others
// mean that no repository is at the address.
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

// Check implements sources.Place. The folder is looked for only if one was named.
func (r *repository) Check(ctx context.Context) error {
	s, commit, err := r.find(ctx)
	if err == nil && len(r.folder) > 0 {
		_, err = r.trees(ctx, s, commit)
	}
	return explain(ctx, err)
}
