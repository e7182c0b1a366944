// Package milvus keeps the vectors of passages on a Milvus server, 2.3 or later; words are ranked by the database. Each
// embedding model and number of dimensions has a collection of its own, and an alias names the one that serves: a new
// model fills its collection while the old one still answers. No call waits for the server longer than three seconds,
// and the server need not be up at the start; whatever may have gone missing on it is told by Lost, and the library's
// sweep makes it again.
//
// store.go is the Store and its settings; dial.go and call.go reach the server and decide how long it may take;
// collection.go and alias.go choose and make the collection; write.go, written.go, search.go, stored.go and count.go
// are the methods of corpus.Vectors. Milvus knows documents, users and namespaces only as strings of a vector: what
// exists is the database's to know.
//
// Two things about Milvus shape the code. It is eventually consistent, so that each read says how much it must see: its
// own session's writes, or everybody's. And its client answers late or never when the server is away, so that every
// call has a timer of ours.
package milvus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Config says where the vectors are kept. Address and Model are required. Check says what the others must look like.
type Config struct {
	Address    string // HOST:PORT, or a URL with http or https
	User       string
	Password   string
	TLS        bool   // with the system's certificates; an https address means it too
	Database   string // empty: the server's default
	Collection string // the alias that serves, and how the names of collections begin; empty: "footnote"
	Model      string // the embedding model: another one gets another collection
	Alone      bool   // no other process writes to these collections
	Log        *slog.Logger
}

// A search also uses words, and is better late without vectors than waiting for them.
const (
	defaultCollection = "footnote"
	// callTime is the longest that one call may take. It is held by a timer of ours, since the client heeds its
	// context only sometimes.
	callTime = 3 * time.Second
	// restTime is how long calls fail at once after one that had no answer, so that a search does not wait each time.
	restTime = 2 * time.Second
)

// Store is a corpus.Vectors on a Milvus server. It connects when it is first used, and again by itself. It is safe for
// concurrent use. Fields below mu are guarded by it; it is never held during a call to the server.
type Store struct {
	cfg   Config
	lost  chan struct{} // something may be missing on the server
	calls sync.WaitGroup

	making chan struct{} // full while collections are made or chosen

	mu        sync.Mutex
	conn      client.Client // nil until the server answered
	dialing   chan struct{} // closed when the attempt under way ends
	dialErr   error         // how the last attempt ended
	rest      time.Time     // until then calls fail with restErr
	restErr   error
	version   string              // as the server says, empty before it answered
	index     *index              // the collection that takes part, nil while unknown
	dimension int                 // of the embedder, 0 until it is known
	creating  bool                // a collection is on its way, so that there is nothing to find yet
	made      map[string]*written // of the collections that this process made, if it is alone
	had       bool                // a collection took part before
	served    bool                // the alias was seen on our model's collection
	gone      error               // another Footnote moved the alias to another model
	closed    bool
}

var _ corpus.Vectors = (*Store)(nil)

// nameLike is what Milvus takes for the name of a collection.
var nameLike = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// Check reports every mistake in the settings.
func (c Config) Check() error {
	var errs []error
	address := c.Address
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if u, err := url.Parse(address); err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.User != nil || u.Port() == "" && u.Scheme != "https" {
		errs = append(errs, errors.New(
			"MILVUS_ADDRESS is not HOST:PORT, like 127.0.0.1:19530, or a URL like https://milvus.example:443",
		))
	}
	if c.Collection != "" && !nameLike.MatchString(c.Collection) {
		errs = append(errs, errors.New(
			"MILVUS_COLLECTION may have letters, digits and underscores, at most 100, and begins with no digit",
		))
	}
	return errors.Join(errs...)
}

// New returns a store. It does not talk to the server.
func New(cfg Config) (*Store, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Collection == "" {
		cfg.Collection = defaultCollection
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{
		cfg: cfg, lost: make(chan struct{}, 1), making: make(chan struct{}, 1), made: map[string]*written{},
	}, nil
}

// About names the server that keeps the vectors, for people; empty before it answered.
func (s *Store) About() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == "" {
		return ""
	}
	return "Milvus " + s.version
}

// Lost yields after something may have gone missing on the server: it came back, or a collection was not there. It is
// for one reader. Several losses before it is read are one.
func (s *Store) Lost() <-chan struct{} { return s.lost }

// tellLost wakes the reader of Lost. A signal that waits already is enough.
func (s *Store) tellLost() {
	select {
	case s.lost <- struct{}{}:
	default:
	}
}

// Reach reports whether the server answers and our collection can be searched. It is what the server's health check
// asks.
func (s *Store) Reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	s.mu.Lock()
	known := s.index
	s.mu.Unlock()
	if known == nil {
		_, err := s.findCollection(ctx)
		return err
	}
	there, err := s.hasCollection(ctx, known.name)
	if err == nil && !there {
		s.forgetCollection()
		_, err = s.findCollection(ctx)
	}
	return err
}

// Close ends the connection and waits for the calls under way, which takes three seconds at most. Calls afterwards fail
// with errClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	var err error
	if conn != nil {
		err = conn.Close()
	}
	s.calls.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil { // made while we waited
		err = errors.Join(err, s.conn.Close())
		s.conn = nil
	}
	return err
}

// unavailableError is a failure that will pass.
func unavailableError(message string, err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: message, Err: err}
}

var (
	errClosed    = errors.New("the store is closed")
	errSlow      = fmt.Errorf("no answer within %s", callTime)
	errDimension = &chat.Error{Code: chat.CodeInvalid,
		Message: "The vectors have another number of dimensions than those in the index. Restart Footnote after " +
			"changing the embedding model."}
)
