package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/sources/request"
)

// agent is the User-Agent of requests. GitHub and others only use Git's protocol with agents that begin with “git/”.
const agent = "git/2.40 (Footnote; reads what a person asked it to follow)"

// server describes a repository's server by its capabilities. It is requested again for each look. Without the
// capability “filter” a fetch includes files, and without “shallow” the history.
//
// root has no trailing slash. The default format is SHA-1.
type server struct {
	root   *url.URL // the repository's URL after all redirects
	agent  string
	format format
	fetch  []string // capabilities of the fetch command
}

// connect requests a server's capabilities. It sends the first request of the smart HTTP protocol, with
// Git-Protocol: version=2. Redirects are followed, but with credentials only on the same host.
//
// If the server at the address does not support Git, the error is a *chat.Error with advice on the address.
func (r *repository) connect(ctx context.Context) (*server, error) {
	at := inside(r.root, "/info/refs")
	at.RawQuery = "service=git-upload-pack"
	resp, err := r.send(ctx, http.MethodGet, at, nil, maxReply)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Status != http.StatusOK {
		return nil, r.failed(resp.Status)
	}
	s := &server{root: resp.URL}
	path, found := strings.CutSuffix(resp.URL.EscapedPath(), "/info/refs")
	if !found {
		return nil, errNoRepository
	}
	if s.root, err = url.Parse(resp.URL.Scheme + "://" + resp.URL.Host + path); err != nil {
		return nil, errNoRepository
	}
	// The token is only sent to the host that it was entered for.
	if r.known && (s.root.Host != r.root.Host || s.root.Scheme != r.root.Scheme) {
		return nil, errMoved // without the token
	}
	return s, s.describe(lines{bufio.NewReader(resp.Body)})
}

// inside appends a path to a URL, both to its escaped and its plain form.
func inside(root *url.URL, path string) *url.URL {
	at := *root
	at.Path += path
	if at.RawPath != "" {
		at.RawPath += path
	}
	return &at
}

// describe parses a server's capabilities. Version 1 responses begin with a service line, which some servers also
// send before version 2. It returns errOld for a server with version 1 only, and errNoRepository for any other
// response, such as an HTML page.
func (s *server) describe(in lines) error {
	first, ok, err := in.text()
	if err == nil && ok && strings.HasPrefix(first, "# service=") {
		if _, ok, err = in.text(); err == nil && ok {
			return errNoRepository
		}
		first, ok, err = in.text()
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return err
	case errors.Is(err, errWire), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errNoRepository
	case err != nil:
		return err
	case !ok || first != "version 2":
		return errOld
	}
	s.format = format{"sha1", sha1.Size, sha1.New}
	for {
		line, ok, err := in.text()
		if err != nil || !ok {
			return err
		}
		name, value, _ := strings.Cut(line, "=")
		switch name {
		case "agent":
			s.agent = value
		case "fetch":
			s.fetch = strings.Fields(value)
		case "object-format":
			switch value {
			case "sha1":
			case "sha256":
				s.format = format{"sha256", sha256.Size, sha256.New}
			default:
				return errNoRepository
			}
		}
	}
}

// send sends a request with the media types of gitprotocol-http.
func (r *repository) send(
	ctx context.Context, method string, at *url.URL, body []byte, limit int64,
) (*request.Response, error) {
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(body)
	}
	req, err := http.NewRequest(method, at.String(), from) //nolint:noctx // Do sets the context
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Git-Protocol", "version=2")
	if body != nil {
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		req.Header.Set("Accept", "application/x-git-upload-pack-result")
	}
	return r.client.Do(ctx, req, limit)
}

// ask sends a command and returns the response, which the caller closes. An object format other than SHA-1 is
// repeated in every command.
func (r *repository) ask(
	ctx context.Context, s *server, name string, arguments []string, limit int64,
) (*request.Response, error) {
	// Version 2 is stateless: each command lists the client's capabilities.
	abilities := []string{"agent=footnote"}
	if s.format.name != "sha1" {
		abilities = append(abilities, "object-format="+s.format.name)
	}
	body := command(name, abilities, arguments)
	resp, err := r.send(ctx, http.MethodPost, inside(s.root, "/git-upload-pack"), body, limit)
	if err != nil {
		return nil, err
	}
	if resp.Status != http.StatusOK {
		_ = resp.Body.Close()
		return nil, r.failed(resp.Status)
	}
	return resp, nil
}

// find resolves the branch or tag to a commit. The default is HEAD. If HEAD is missing, find returns the reason, so
// the owner knows the setting to correct.
func (r *repository) find(ctx context.Context) (s *server, commit string, err error) {
	if s, err = r.connect(ctx); err != nil {
		return nil, "", err
	}
	if r.branch != "" {
		wanted := []string{"refs/heads/" + r.branch, "refs/tags/" + r.branch}
		refs, err := r.refs(ctx, s, wanted...)
		if err != nil {
			return nil, "", err
		}
		if commit = cmp.Or(refs[wanted[0]], refs[wanted[1]]); commit == "" {
			return nil, "", errNoBranch
		}
		return s, commit, nil
	}
	refs, err := r.refs(ctx, s, "HEAD")
	if err != nil || refs["HEAD"] != "" {
		return s, refs["HEAD"], err
	}
	if refs, err = r.refs(ctx, s, "refs/heads/"); err != nil {
		return nil, "", err
	}
	if len(refs) == 0 {
		return nil, "", errEmpty
	}
	return nil, "", errNoMain
}

// refs returns the commits of branches and tags whose full names begin with one of the prefixes. ref-prefix is only
// a hint to the server, so the caller filters the map. Tags are peeled: an annotated one resolves to its commit.
// Keys are full names (refs/heads/main), and values are commit hashes in bytes.
func (r *repository) refs(ctx context.Context, s *server, begins ...string) (map[string]string, error) {
	arguments := []string{"peel"}
	for _, begin := range begins {
		arguments = append(arguments, "ref-prefix "+begin)
	}
	resp, err := r.ask(ctx, s, "ls-refs", arguments, maxReply)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	refs := map[string]string{}
	for in := (lines{bufio.NewReader(resp.Body)}); ; {
		line, ok, err := in.text()
		if err != nil || !ok {
			return refs, err
		}
		words := strings.Fields(line)
		if len(words) < 2 {
			return nil, errWire
		}
		// A peeled tag's line ends with the commit that it refers to.
		for _, word := range words[2:] {
			if commit, peeled := strings.CutPrefix(word, "peeled:"); peeled {
				words[0] = commit // the tag's commit
			}
		}
		commit, err := hex.DecodeString(words[0])
		if err != nil || len(commit) != s.format.size {
			return nil, errWire
		}
		refs[words[1]] = string(commit)
	}
}

// want is one fetch request with its limits: bytes sent, bytes buffered for all objects and for one, and bytes
// unpacked and discarded.
//
// keep decides by the kind alone, before an object is unpacked.
type want struct {
	names     []string // hashes of objects in bytes
	arguments []string
	keep      func(kind) bool
	sent      int64 // maximum bytes of the response
	room      int64 // bytes of memory for kept objects
	most      int64 // bytes of one kept object
	skip      int64 // bytes that may be unpacked and discarded
}

// reply is the stream of a pack.
type reply struct {
	*pack
	body io.Closer
}

// close closes the stream, also within a pack: the connection is then not reused.
func (o reply) close() { _ = o.body.Close() }

// objects fetches objects as a stream, which the caller closes. “done” requests the pack without negotiation. No
// “have” is sent, so the pack is complete; ofs-delta permits deltas within the pack.
func (r *repository) objects(ctx context.Context, s *server, w want) (reply, error) {
	arguments := append([]string{"ofs-delta", "no-progress"}, w.arguments...)
	for _, name := range w.names {
		arguments = append(arguments, "want "+hex.EncodeToString([]byte(name)))
	}
	resp, err := r.ask(ctx, s, "fetch", append(arguments, "done"), w.sent)
	if err != nil {
		return reply{}, err
	}
	o := reply{body: resp.Body}
	in := lines{bufio.NewReaderSize(resp.Body, 64<<10)}
	for line := ""; line != "packfile" && err == nil; {
		line, _, err = in.text() // skip other sections
	}
	if err == nil {
		o.pack, err = openPack(&band{lines: in}, s.format, w)
	}
	if err != nil {
		o.close()
		return reply{}, err
	}
	return o, nil
}

// can reports whether the server's fetch command has a capability.
func (s *server) can(ability string) bool { return slices.Contains(s.fetch, ability) }
