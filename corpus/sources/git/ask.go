package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/footnote/footnote/corpus/sources/request"
)

// agent is the User-Agent of requests. GitHub and others only use Git's protocol with agents that begin with “git/”.
const agent = "git/2.40 (Footnote; reads what a person asked it to follow)"

// header is the header of every request.
var header = http.Header{"User-Agent": {agent}, "Git-Protocol": {"version=2"}}

// server describes a repository's server by its capabilities. It is requested again for each sync. Without the
// capability “filter” a fetch includes files, and without “shallow” the history.
type server struct {
	root   *url.URL // the repository's URL after all redirects
	agent  string
	format format
	fetch  []string // capabilities of the fetch command
}

// connect requests the server's capabilities. It sends the first request of the smart HTTP protocol, with
// Git-Protocol: version=2. Redirects are followed, but with credentials only on the same host.
//
// If the server at the address does not support Git, the error is a *chat.Error with advice on the address.
func (r *repository) connect(ctx context.Context) error {
	at := r.root.JoinPath("info", "refs")
	at.RawQuery = "service=git-upload-pack"
	resp, err := r.client.Get(ctx, at.String(), header, maxReply)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	s := &server{root: resp.URL.JoinPath("..", ".."), format: formats["sha1"]}
	s.root.RawQuery, s.root.ForceQuery = "", false
	switch {
	case resp.Status != http.StatusOK:
		return r.failed(resp.Status)
	case !strings.HasSuffix(resp.URL.EscapedPath(), "/info/refs"):
		return errNoRepository
	case r.known && (s.root.Host != r.root.Host || s.root.Scheme != r.root.Scheme):
		return errMoved // the token is only sent to the host that it was entered for
	}
	if err = s.describe(lines{bufio.NewReader(resp.Body)}); err == nil {
		r.server = s
	}
	return err
}

// describe parses a server's capabilities. Version 1 responses begin with a service line and a marker, which some
// servers also send before version 2. It returns errOld for a server with version 1 only, and errNoRepository for any
// other response, such as an HTML page.
func (s *server) describe(in lines) error {
	first, _, err := in.text()
	if strings.HasPrefix(first, "# service=") {
		if _, _, err = in.text(); err == nil {
			first, _, err = in.text()
		}
	}
	switch {
	case errors.Is(err, errWire), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errNoRepository
	case err != nil:
		return err
	case first != "version 2":
		return errOld
	}
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
			if s.format, ok = formats[value]; !ok {
				return errNoRepository
			}
		}
	}
}

// ask sends a command and returns the response, which the caller closes. Version 2 is stateless: each command lists
// the client's capabilities, and repeats an object format other than SHA-1.
func (r *repository) ask(
	ctx context.Context, name string, arguments []string, limit int64,
) (*request.Response, error) {
	all := []string{"command=" + name, "agent=footnote"}
	if r.server.format.name != "sha1" {
		all = append(all, "object-format="+r.server.format.name)
	}
	at := r.server.root.JoinPath("git-upload-pack").String()
	//nolint:noctx // Do sets the context
	req, err := http.NewRequest(http.MethodPost, at, bytes.NewReader(command(all, arguments)))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Accept", "application/x-git-upload-pack-result")
	resp, err := r.client.Do(ctx, req, limit)
	if err == nil && resp.Status != http.StatusOK {
		_ = resp.Body.Close()
		return nil, r.failed(resp.Status)
	}
	return resp, err
}

// find connects to the server and resolves the branch or tag to a commit. The default is HEAD. If HEAD is missing,
// find returns the reason, so the owner knows the setting to correct.
func (r *repository) find(ctx context.Context) (commit string, err error) {
	if err = r.connect(ctx); err != nil {
		return "", err
	}
	if r.branch != "" {
		wanted := []string{"refs/heads/" + r.branch, "refs/tags/" + r.branch}
		refs, err := r.refs(ctx, wanted...)
		if commit = cmp.Or(refs[wanted[0]], refs[wanted[1]]); commit == "" {
			return "", cmp.Or(err, errNoBranch)
		}
		return commit, err
	}
	refs, err := r.refs(ctx, "HEAD")
	if err != nil || refs["HEAD"] != "" {
		return refs["HEAD"], err
	}
	if refs, err = r.refs(ctx, "refs/heads/"); err == nil && len(refs) == 0 {
		err = errEmpty
	}
	return "", cmp.Or(err, errNoMain)
}

// refs returns the commits of branches and tags whose full names begin with one of the prefixes. ref-prefix is only
// a hint to the server, so the caller filters the map. Tags are peeled: an annotated one resolves to its commit.
// Keys are full names (refs/heads/main), and values are commit hashes in bytes.
func (r *repository) refs(ctx context.Context, begins ...string) (map[string]string, error) {
	arguments := []string{"peel"}
	for _, begin := range begins {
		arguments = append(arguments, "ref-prefix "+begin)
	}
	resp, err := r.ask(ctx, "ls-refs", arguments, maxReply)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	refs := map[string]string{}
	for in := (lines{bufio.NewReader(resp.Body)}); ; {
		line, ok, err := in.text()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return refs, nil
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
		if err != nil || len(commit) != r.server.format.size {
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

// objects fetches objects as a stream, which the caller closes. “done” requests the pack without negotiation. No
// “have” is sent, so the pack is complete; ofs-delta permits deltas within the pack.
func (r *repository) objects(ctx context.Context, w want) (p *pack, err error) {
	arguments := append([]string{"ofs-delta", "no-progress"}, w.arguments...)
	for _, name := range w.names {
		arguments = append(arguments, "want "+hex.EncodeToString([]byte(name)))
	}
	resp, err := r.ask(ctx, "fetch", append(arguments, "done"), w.sent)
	if err != nil {
		return nil, err
	}
	in := lines{bufio.NewReaderSize(resp.Body, 64<<10)}
	for line := ""; line != "packfile" && err == nil; {
		line, _, err = in.text() // skip other sections
	}
	if err == nil {
		p, err = openPack(&band{lines: in}, r.server.format, w)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	p.Closer = resp.Body
	return p, nil
}
