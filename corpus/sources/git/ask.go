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

// agent is what servers are told to be asked by. GitHub and others speak Git only with what begins so.
const agent = "git/2.40 (Footnote; reads what a person asked it to follow)"

// server is a server of a repository, as it describes itself. It is asked anew for each look. Its abilities decide how
// a commit is asked for: without “filter” files come too, without “shallow” the history does.
//
// root has no slash at its end. format is SHA-1 unless the server says otherwise.
type server struct {
	root   *url.URL // where the repository is, after all redirects
	agent  string
	format format
	fetch  []string // what it can do when it is asked for objects
}

// connect asks a server what it can do. The request is the first of the smart HTTP protocol, with Git-Protocol:
// version=2. A redirect is followed, but with credentials only on the same host.
//
// It fails with a *chat.Error that says what to enter when nothing at the address speaks Git.
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
	// The token stays with the host that it was entered for.
	if r.known && (s.root.Host != r.root.Host || s.root.Scheme != r.root.Scheme) {
		return nil, errMoved // it would not get the token
	}
	return s, s.describe(lines{bufio.NewReader(resp.Body)})
}

// inside is an address below another one. Escaped and plain paths must both get the same addition.
func inside(root *url.URL, path string) *url.URL {
	at := *root
	at.Path += path
	if at.RawPath != "" {
		at.RawPath += path
	}
	return &at
}

// describe reads what a server says of itself. Version 1 answers begin with a service line; some servers send it before
// version 2 as well. It fails with errOld for a server that speaks version 1 only, and with errNoRepository for what is
// no Git at all, such as a page.
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

// send sends a request. The media types are those of gitprotocol-http.
func (r *repository) send(
	ctx context.Context, method string, at *url.URL, body []byte, limit int64,
) (*request.Response, error) {
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(body)
	}
	req, err := http.NewRequest(method, at.String(), from) //nolint:noctx // Do takes it
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

// ask sends a command and returns the reply, which the caller closes. An object format other than SHA-1 has to be
// repeated in every command.
func (r *repository) ask(
	ctx context.Context, s *server, name string, arguments []string, limit int64,
) (*request.Response, error) {
	// Version 2 has what a client can do in each command, and keeps nothing between two.
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

// find finds the commit that is to be read. Without a branch HEAD is asked for; if it is not there, the reason is
// looked for, so that the owner knows what to enter.
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

// refs are the names of commits, in bytes, by those of branches and tags that begin with one of these. ref-prefix only
// asks a server to send fewer: what comes is filtered by whoever uses the map. Tags are peeled, so an annotated one
// leads to its commit. The map's keys are whole names (refs/heads/main), its values names of commits in bytes. A map
// that is empty means that there are none.
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
		// Behind a tag stands the commit that it leads to, since peel was asked for.
		for _, word := range words[2:] {
			if commit, peeled := strings.CutPrefix(word, "peeled:"); peeled {
				words[0] = commit // that a tag leads to
			}
		}
		commit, err := hex.DecodeString(words[0])
		if err != nil || len(commit) != s.format.size {
			return nil, errWire
		}
		refs[words[1]] = string(commit)
	}
}

// want is what is asked for in one request. Its bounds are of different things: bytes sent, bytes kept of all objects
// and of one, bytes unpacked and dropped.
//
// keep decides by the kind alone, before an object is unpacked.
type want struct {
	names     []string // of objects, in bytes
	arguments []string
	keep      func(kind) bool
	sent      int64 // bytes that may be sent
	room      int64 // bytes of memory for what is kept
	most      int64 // bytes of one object that is kept
	skip      int64 // bytes that may be unpacked beside it
}

// reply is a pack that is being sent.
type reply struct {
	*pack
	body io.Closer
}

// close ends the reply, also in the middle of a pack: the connection is then not used again.
func (o reply) close() { _ = o.body.Close() }

// objects asks for objects. The caller closes what it gets. “done” asks for the pack without negotiation, as nothing is
// here already. No “have” is sent, so what comes is whole; ofs-delta lets the server send differences within the pack.
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
		line, _, err = in.text() // of other sections nothing is needed
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

// can reports whether a server can do something when it is asked for objects.
func (s *server) can(ability string) bool { return slices.Contains(s.fetch, ability) }
