package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/milvus"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text/locale"
)

// Stores holds the storage ports in one of two modes: embedded in the data directory, or in a PostgreSQL shared by
// replicas. Both modes pass the same suites (chat/chattest, corpus/corpustest), so that other packages depend on
// the mode only through Exclusive. Unexported fields are for this package.
type Stores struct {
	Chats     chat.Store
	documents corpus.Documents
	lexical   corpus.Lexical
	vectors   func(model string) corpus.Vectors // store of an embedding model; nil: semantic search is off
	milvus    *milvus.Store                     // stores the embeddings; nil if the database does
	queue     corpus.Queue
	grants    grants.Store
	Blobs     originals.Store
	places    placestore.Store
	Exclusive bool // no other process can use them
	// Runs work in only one process at a time for each name, until ctx ends.
	Alone func(ctx context.Context, name string, work func(ctx context.Context))
	// Listen notifies the feed's readers, the watchers of documents and the runs about changes and requests of
	// other replicas, until ctx ends. It is nil if there can't be other replicas.
	Listen func(ctx context.Context, feed *chat.Feed, library *corpus.Library, runs *agent.Runs)
	Close  func() error
	// checkFile fails if the database file was removed, replaced or truncated. It is nil for PostgreSQL.
	checkFile func() error
}

// OpenStores opens the stores in the settings. On error it returns the stores opened so far, to be closed. An
// unreachable database, or one of a newer version, is an error.
func OpenStores(
	ctx context.Context, set *settings.Settings, dir *datadir.Dir, log *slog.Logger,
) (s *Stores, err error) {
	if set.DatabaseURL == "" {
		s, err = openEmbedded(ctx, dir, log)
	} else {
		s, err = openShared(ctx, set, log)
	}
	if err != nil {
		return nil, err
	}
	if err := s.openMilvus(set, log); err != nil {
		return s, err
	}
	if s.Blobs, err = originals.Open(ctx, set, dir); err != nil {
		return s, err
	}
	return s, nil
}

// openEmbedded opens SQLite in the data directory, which also stores embeddings. It also returns a check that the
// database file is still the opened one.
func openEmbedded(ctx context.Context, dir *datadir.Dir, log *slog.Logger) (*Stores, error) {
	if err := checkLost(ctx, dir); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, dir.Path(datadir.Database), log)
	if err != nil {
		return nil, err
	}
	return &Stores{
		Chats: db.Chats(), documents: db.Documents(), lexical: db.Lexical(), queue: db.Queue(), grants: db.Grants(),
		places:    db.Places(),
		vectors:   func(model string) corpus.Vectors { return db.Vectors(model) },
		Alone:     func(ctx context.Context, _ string, work func(ctx context.Context)) { work(ctx) },
		Exclusive: true, Close: db.Close, checkFile: db.CheckFile,
	}, nil
}

// checkLost fails if there are originals but no database that lists them: it was removed or truncated, and a new
// one would hide that. A folder without originals may be new.
func checkLost(ctx context.Context, dir *datadir.Dir) error {
	blank, err := sqlite.Blank(ctx, dir.Path(datadir.Database))
	if err != nil || !blank {
		return err
	}
	kept, err := fs.Glob(os.DirFS(dir.Path("blobs")), "??/*")
	if err != nil || len(kept) == 0 {
		return err
	}
	return &chat.Error{
		Code: chat.CodeUnavailable,
		Message: locale.Message(fmt.Sprintf("The database %s is damaged: it is empty, but %d originals lie beside it. "+
			"Bring a backup back with 'footnote restore FILE --force'; or, to begin anew, move %s away",
			dir.Path(datadir.Database), len(kept), dir.Path("blobs"))),
	}
}

// openShared opens PostgreSQL. Without Milvus there is no vector store; that and missing shared originals are
// logged once, since a server works without them.
func openShared(ctx context.Context, set *settings.Settings, log *slog.Logger) (*Stores, error) {
	db, err := postgres.Open(ctx, string(set.DatabaseURL), log)
	if err != nil {
		return nil, err
	}
	if set.MilvusAddress == "" {
		log.InfoContext(
			ctx,
			"semantic search is off: DATABASE_URL requires a vector store, and MILVUS_ADDRESS is not set; "+
				"keyword search works",
		)
	}
	if set.Blobs == "" {
		log.WarnContext(
			ctx,
			"originals are stored in this replica's data directory only; set FOOTNOTE_BLOBS to a directory or bucket "+
				"shared by all replicas",
			"data", set.Data,
		)
	}
	return &Stores{
		Chats: db.Chats(), documents: db.Documents(), lexical: db.Lexical(), queue: db.Queue(), Close: db.Close,
		grants: db.Grants(), places: db.Places(),
		Alone: db.RunExclusively,
		Listen: func(ctx context.Context, feed *chat.Feed, library *corpus.Library, runs *agent.Runs) {
			db.Listen(ctx, func(runID string) {
				if runID == "" {
					feed.WakeAll()
					return
				}
				feed.Wake(runID)
			}, library.Changed, runs.Poll)
		},
	}, nil
}

// openMilvus opens the vector store on the Milvus server in the settings, if any. It does not wait for the server.
// The model's name is part of the collection's name, so embeddings of two models are never mixed. It replaces the
// database's own vector store. Close closes it before the database.
func (s *Stores) openMilvus(set *settings.Settings, log *slog.Logger) error {
	if set.MilvusAddress == "" {
		return nil
	}
	model, err := EmbeddingName(set)
	if err != nil || model == "" {
		return err
	}
	cfg := set.Milvus(model, log)
	cfg.Alone = s.Exclusive
	remote, err := milvus.New(cfg)
	if err != nil {
		return err
	}
	before := s.Close
	s.vectors, s.milvus = func(string) corpus.Vectors { return remote }, remote
	s.Close = func() error { return errors.Join(remote.Close(), before()) }
	return nil
}
