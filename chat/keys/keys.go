// Package keys keeps who may use the API: a file of users and the SHA-256 of their keys. The keys themselves are
// nowhere. File follows the file's changes while the server runs, so that a new key works and a revoked one ends within
// seconds. Whether keys are needed at all follows from whether the file was ever there.
//
// New, Revoke and List are for the command, File is for the server; the file itself is what they share, and replaceFile
// lets readers see the old one or the new one. It must never hold or log a key, and a file that can't be read must
// never let anybody in.
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
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// prefix makes keys easy to recognise, for people and for programs that look for secrets in the wrong places.
const prefix = "fn_"

// every is how often Run looks whether the file changed.
const every = time.Second

// header begins a new file, for who opens it.
const header = "# One key a line: name, SHA-256 of the key. Written by 'footnote key'.\n"

// nameForm is what a user's name may be. Names are part of paths and of the log, so they are short and plain.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// errUnknown says only that a key is not valid: whether it ever was is nobody's business.
var errUnknown = &chat.Error{
	Code:    chat.CodeUnauthorized,
	Message: "A valid key is needed. Send it in the header X-API-Key, or sign in with it on the page.",
}

// File is a file of keys. It is read again whenever it changes, so that several servers can share it. It is safe for
// concurrent use. The file is looked at with each request (one stat), and each second by Run, so that streams under a
// revoked key end although nobody asks.
type File struct {
	path     string
	required bool // a key is needed even before the file exists

	mu    sync.Mutex
	read  os.FileInfo // what was read last; nil: there was no file
	found bool        // there is, or was, a file: from then on nobody gets in without a key
	users map[[sha256.Size]byte]holder
	lost  map[string]bool // users who had a key since the file was opened, and have none now
}

// holder is who has a key, for as long as it is valid.
type holder struct {
	name  string
	valid context.Context //nolint:containedctx // it ends with the key, not with a call
	end   context.CancelFunc
}

// Open reads the file. A missing file holds no keys; one that can't be understood is an error. With required, a key
// is needed from the start: while the file is missing, nobody gets in.
func Open(path string, required bool) (*File, error) {
	f := &File{path: path, required: required, users: map[[sha256.Size]byte]holder{}, lost: map[string]bool{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f, f.refreshKeys()
}

// Needed reports whether a key is needed: always if required, else once there was a file, even if all keys in it are
// revoked.
func (f *File) Needed() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.refreshKeys()
	return f.required || f.found, err
}

// User returns whose key it is, and a context that ends when the key is revoked. It fails with chat.CodeUnauthorized
// for any other key, and with chat.CodeUnavailable when the file can't be read. Keys are random and long, so a plain
// hash finds them; comparing in constant time is not needed, as who guesses does not know which key a hash belongs to.
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

// Revoked reports whether a user may have no more work done: keys are needed, and this user has none. The local user,
// whose work may have begun before the first key was made, has left once a key of this name was revoked. Nobody has
// left by a file that can't be read.
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

// Run ends what is open under revoked keys, until ctx ends.
func (f *File) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = f.Needed() // a file that can't be read is told to whoever asks next
		}
	}
}

// refreshKeys reads the file if it changed. The caller holds the lock. A file that is gone or broken ends all keys and
// stays needed: better nobody than everybody. A changed file is known by identity, time or size, and replaceFile always
// changes the identity.
func (f *File) refreshKeys() error {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.read == nil && !f.found:
		return nil
	case err != nil:
		f.revokeMissing(nil) // who removed or broke the file did not mean to let everybody in
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

// revokeMissing ends all keys but those that are in names under the same name.
func (f *File) revokeMissing(names map[[sha256.Size]byte]string) {
	for sum, h := range f.users {
		if names[sum] != h.name {
			h.end()
			delete(f.users, sum)
			f.lost[h.name] = true
		}
	}
}

// unreadableError is what users read; the reason is for the log.
func unreadableError(err error) error {
	return &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "The keys can't be read on the server. Whoever runs it finds the reason in its log.", Err: err,
	}
}

// parseKeys reads the lines of the file. One line that can't be read makes the whole file unreadable: it may be the one
// that revokes.
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
		if err != nil || len(decoded) != len(digest) || !nameForm.MatchString(name) {
			return nil, fmt.Errorf("line %d of the keys is not a name and a SHA-256", n)
		}
		copy(digest[:], decoded)
		names[digest] = name
	}
	return names, nil
}

// New makes a key for a user, stores its hash and returns it: nobody can get it again. A user may have several. Two
// calls at once may lose one of both keys; the command is run by a person.
func New(path, name string) (key string, err error) {
	if !nameForm.MatchString(name) {
		return "", &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "A name has 1 to 64 of a-z, 0-9, point, dash and underscore, and begins with a letter or digit",
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

// List returns the name of each key, in the order in which they were made.
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

// Revoke removes all keys of a user and returns how many there were.
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

// replaceFile changes the file as a whole, so that servers never read half of it.
func replaceFile(path string, raw []byte) error {
	part := path + ".new"
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}
