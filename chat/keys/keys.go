// Package keys stores who may use the API: a file of users with the SHA-256 of their keys. The keys themselves are
// not stored. File follows changes to the file while the server runs: a new key works, and a revoked one ends,
// within seconds. Keys are required once the file has existed.
//
// New, Revoke and List are for the command, File is for the server. They share the file, and replaceFile replaces it
// atomically for readers. The package must never hold or log a key, and an unreadable file must never let anybody
// in.
package keys

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// prefix makes keys recognisable to people and to secret scanners.
const prefix = "fn_"

// every is the interval at which Run checks the file for changes.
const every = time.Second

// header is the first line of a new file.
const header = "# One key a line: name, SHA-256 of the key. Written by 'footnote key'.\n"

// nameForm validates user names. Names are part of paths and of the log, so they are short and plain.
var nameForm = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// errUnknown does not reveal whether a key was ever valid.
var errUnknown = &chat.Error{
	Code:    chat.CodeUnauthorized,
	Message: "A valid key is needed. Send it in the header X-API-Key, or sign in with it on the page.",
}

// File is a file of keys. It is read again on change, so several servers can share it. It is safe for concurrent
// use. Each request costs one stat. Run also checks each second, to end streams under a revoked key.
type File struct {
	path     string
	required bool // a key is needed even before the file exists

	mu    sync.Mutex
	read  os.FileInfo // the last file read; nil: none
	found bool        // there is, or was, a file: from then on a key is required
	users map[[sha256.Size]byte]holder
	lost  map[string]bool // users whose last key was revoked since the file was opened
}

// holder is the user of a key, while it is valid.
type holder struct {
	name  string
	valid context.Context //nolint:containedctx // it ends with the key, not with a call
	end   context.CancelFunc
}

// Open reads the file. A missing file holds no keys; an invalid one is an error. With required, a key is needed from
// the start: while the file is missing, all access is refused.
func Open(path string, required bool) (*File, error) {
	f := &File{path: path, required: required, users: map[[sha256.Size]byte]holder{}, lost: map[string]bool{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f, f.refreshKeys()
}

// Needed reports whether a key is needed: always if required, else once the file has existed, even if all its keys
// are revoked.
func (f *File) Needed() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.refreshKeys()
	return f.required || f.found, err
}

// User returns the user of a key, and a context that is cancelled when the key is revoked. It fails with
// chat.CodeUnauthorized for any other key, and with chat.CodeUnavailable for an unreadable file. Keys are long and
// random, so a plain hash lookup is safe without a constant-time comparison.
func (f *File) User(key string) (name string, valid context.Context, err error) {
	return f.UserOf(sha256.Sum256([]byte(key)))
}

// UserOf is User for the SHA-256 of a key.
func (f *File) UserOf(sum [sha256.Size]byte) (name string, valid context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refreshKeys(); err != nil {
		return "", nil, err
	}
	h, ok := f.users[sum]
	if !ok {
		return "", nil, errUnknown
	}
	return h.name, h.valid, nil
}

// Revoked reports whether a user's work must stop: keys are required, and this user has none. The local user's work
// may predate the first key, so that user counts as revoked only after a key of this name was revoked. An unreadable
// file revokes no user.
func (f *File) Revoked(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refreshKeys() != nil || !f.required && !f.found {
		return false
	}
	for _, h := range f.users {
		if h.name == name {
			return false
		}
	}
	return name != chat.LocalUser || f.lost[name]
}

// Run ends open streams under revoked keys, until ctx is cancelled.
func (f *File) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = f.Needed() // the next request reports an unreadable file
		}
	}
}

// refreshKeys reads the file if it changed. The caller holds the lock. A missing or invalid file revokes all keys,
// and a key stays required. Changes are detected by identity, time or size; replaceFile always changes the identity.
func (f *File) refreshKeys() error {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.read == nil && !f.found:
		return nil
	case err != nil:
		f.revokeMissing(nil) // a removed or invalid file must not open access
		f.read = nil
		return unreadableError(err)
	case f.read != nil && os.SameFile(now, f.read) && now.ModTime().Equal(f.read.ModTime()) &&
		now.Size() == f.read.Size():
		return nil
	}
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return unreadableError(err)
	}
	names, err := parseKeys(raw)
	if err != nil {
		f.found = true
		f.revokeMissing(nil)
		return unreadableError(err)
	}
	f.revokeMissing(names)
	for sum, name := range names {
		if _, ok := f.users[sum]; !ok {
			valid, end := context.WithCancel(context.Background())
			f.users[sum] = holder{name, valid, end}
		}
	}
	for _, h := range f.users {
		delete(f.lost, h.name)
	}
	f.read, f.found = now, true
	return nil
}

// revokeMissing revokes all keys except those in names under the same user.
func (f *File) revokeMissing(names map[[sha256.Size]byte]string) {
	for sum, h := range f.users {
		if names[sum] != h.name {
			h.end()
			delete(f.users, sum)
			f.lost[h.name] = true
		}
	}
}

// unreadableError returns a user-facing message; the cause is logged only.
func unreadableError(err error) error {
	return &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "The server can't read its API keys. Its administrator can find the reason in the log.", Err: err,
	}
}

// parseKeys parses the lines of the file. One invalid line makes the whole file unreadable: it may be a revocation.
func parseKeys(raw []byte) (map[[sha256.Size]byte]string, error) {
	names := map[[sha256.Size]byte]string{}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, sum, _ := strings.Cut(line, " ")
		var digest [sha256.Size]byte
		decoded, err := hex.DecodeString(strings.TrimSpace(sum))
		if err != nil || len(decoded) != len(digest) || !nameForm().MatchString(name) {
			return nil, fmt.Errorf("line %d of the key file must be a name and a SHA-256 hash", n)
		}
		copy(digest[:], decoded)
		names[digest] = name
	}
	return names, nil
}

// New makes a key for a user, stores its hash and returns the key, which can't be retrieved again. A user may have
// several keys. Two concurrent calls may lose a key; the command is interactive.
func New(path, name string) (key string, err error) {
	if !nameForm().MatchString(name) {
		return "", &chat.Error{
			Code: chat.CodeInvalid,
			Message: "A name must have 1 to 64 characters (a-z, 0-9, period, hyphen, underscore) and begin with a " +
				"letter or digit",
		}
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte(header), nil
	}
	if err != nil {
		return "", err
	}
	if _, err := parseKeys(raw); err != nil {
		return "", err
	}
	key = prefix + strings.ToLower(rand.Text()+rand.Text()[:6])
	sum := sha256.Sum256([]byte(key))
	if !bytes.HasSuffix(raw, []byte("\n")) {
		raw = append(raw, '\n')
	}
	return key, replaceFile(path, append(raw, name+" "+hex.EncodeToString(sum[:])+"\n"...))
}

// List returns the name of each key, in order of creation.
func List(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := parseKeys(raw); err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(raw)) {
		if name, _, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(name, "#") {
			names = append(names, name)
		}
	}
	return names, nil
}

// Revoke removes all keys of a user and returns their number.
func Revoke(path, name string) (int, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var kept []byte
	gone := 0
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, name+" ") {
			gone++
			continue
		}
		kept = append(kept, line...)
	}
	if gone == 0 {
		return 0, nil
	}
	return gone, replaceFile(path, kept)
}

// replaceFile replaces the file atomically, so that servers never read a partial file.
func replaceFile(path string, raw []byte) error {
	part := path + ".new"
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}
