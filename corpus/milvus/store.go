// Package milvus stores the vectors of passages on a Milvus server, 2.3 or later; the database does lexical search.
// Each embedding model and dimension has a separate collection, and an alias points to the current one: a new model
// fills its collection while the old one is still searched. The timeout of each call is three seconds, and the
// server may be down at startup. Lost signals possible data loss, which the library's sweep repairs.
//
// store.go has the Store and its configuration; dial.go and call.go connect to the server and enforce timeouts;
// collection.go and alias.go select and create the collection; write.go, written.go, search.go, stored.go and
// count.go implement corpus.Vectors. Milvus knows documents, users and namespaces only as strings of a vector; the
// database is authoritative.
//
// Two properties of Milvus shape the code. It is eventually consistent, so each read specifies its consistency
// level: session or strong. And its client may respond late or never if the server is down, so each call has an
// additional timer.
package milvus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// Config configures a Store. Address and Model are required. Check validates it.
type Config struct {
	Address    string // HOST:PORT, or a URL with http or https
	User       string
	Password   string
	TLS        bool   // use TLS with the system's certificates; implied by an https address
	Database   string // empty: the server's default
	Collection string // the alias, and the name prefix of collections; empty: "footnote"
	Model      string // the embedding model: each has its own collection
	Alone      bool   // no other process writes to these collections
	Log        *slog.Logger
}

// Short timeouts: a search falls back to lexical search without vectors.
const (
	defaultCollection = "footnote"
	// callTime is the timeout of a call. A separate timer enforces it, since the client does not always respect its
	// context.
	callTime = 3 * time.Second
	// restTime is how long calls fail immediately after one without a response, so that a search does not wait each
	// time.
	restTime = 2 * time.Second
)

// Store is a corpus.Vectors on a Milvus server. It connects on first use, and reconnects automatically. It is safe
// for concurrent use. mu guards the fields below it and is never held during a call to the server.
type Store struct {
	cfg   Config
	lost  chan struct{} // signals possible data loss on the server
	calls sync.WaitGroup

	making chan struct{} // semaphore for creating and selecting collections

	mu        sync.Mutex
	conn      client.Client // nil until connected
	dialing   chan struct{} // closed when the current attempt ends
	dialErr   error         // result of the last attempt
	rest      time.Time     // until then calls fail with restErr
	restErr   error
	version   string              // of the server, empty before the first response
	index     *index              // the collection in use, nil while unknown
	dimension int                 // of the embedder, 0 until it is known
	creating  bool                // a collection is being created, so there is nothing to find yet
	made      map[string]*written // by collection created in this process, if it is the only writer
	had       bool                // a collection was in use before
	served    bool                // the alias has pointed to our model's collection
	gone      error               // another Footnote moved the alias to another model
	closed    bool
}

var _ corpus.Vectors = (*Store)(nil)

// nameLike matches valid names of Milvus collections.
var nameLike = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// Check validates the configuration and returns all errors.
func (c Config) Check() error {
	var errs []error
	address := c.Address
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if u, err := url.Parse(address); err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.User != nil || u.Port() == "" && u.Scheme != "https" {
		errs = append(errs, errors.New(
			"MILVUS_ADDRESS must be HOST:PORT, like 127.0.0.1:19530, or a URL like https://milvus.example:443",
		))
	}
	if c.Collection != "" && !nameLike().MatchString(c.Collection) {
		errs = append(errs, errors.New(
			"MILVUS_COLLECTION must have at most 100 letters, digits and underscores, and not begin with a digit",
		))
	}
	return errors.Join(errs...)
}

// New returns a store. It does not connect to the server.
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

// About returns the server's name and version for display; empty before its first response.
func (s *Store) About() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == "" {
		return ""
	}
	return "Milvus " + s.version
}

// Lost receives a signal after possible data loss on the server: it came back, or a collection was missing. It is
// for one reader. Several losses before a read are one signal.
func (s *Store) Lost() <-chan struct{} { return s.lost }

// signalLost signals Lost. A pending signal is enough.
func (s *Store) signalLost() {
	select {
	case s.lost <- struct{}{}:
	default:
	}
}

// Ping returns an error unless the server responds and the collection can be searched. It is for the server's
// health check.
func (s *Store) Ping(ctx context.Context) error {
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

// Close closes the connection and waits for running calls, at most three seconds. Later calls return errClosed.
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
	if s.conn != nil { // connected meanwhile
		err = errors.Join(err, s.conn.Close())
		s.conn = nil
	}
	return err
}

// unavailableError returns a temporary error.
func unavailableError(message locale.Message, err error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: message, Err: err}
}

var (
	errClosed    = errors.New("the store is closed")
	errSlow      = fmt.Errorf("no response within %s", callTime)
	errDimension = &chat.Error{Code: chat.CodeInvalid,
		Message: "The vector dimensions don't match the semantic index. Restart Footnote after changing the " +
			"embedding model."}
)
