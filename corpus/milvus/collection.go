package milvus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// Field names are part of the stored collections: renaming one would break collections of earlier versions.
const (
	fieldID        = "id" // of the passage
	fieldDocument  = "document"
	fieldUser      = "user"
	fieldNamespace = "namespace"
	fieldMeaning   = "meaning" // the embedding
	fieldText      = "text"    // hash of the embedded text, in hex; empty: unknown
	withWords      = "_words"  // name suffix of earlier versions' collections that also stored words

	// partitions is the number of partitions by namespace (Milvus' partition key). M and efConstruction are
	// parameters of HNSW (Malkov and Yashunin 2016): 16 and 200 are usual values for embeddings.
	partitions = 16 // over which namespaces are spread
	graphEdges = 16 // HNSW's M
	graphBuild = 200
	// Timeout and polling interval of calls that wait.
	loadTime  = 30 * time.Second // for a new collection to become searchable
	lookEvery = 50 * time.Millisecond
)

// index is an existing, loaded collection. It is immutable except for written.
type index struct {
	name      string
	dimension int
	texts     bool     // has the text hash of each vector, unlike collections of earlier versions
	written   *written // IDs that it may hold; nil: any
}

// namePrefix returns the name prefix of the model's collections, of which there is one per dimension. The model is
// identified by eight hexadecimal digits of a hash, since its name may have any characters.
func (s *Store) namePrefix() string {
	sum := sha256.Sum256([]byte(s.cfg.Model))
	return s.cfg.Collection + "_" + hex.EncodeToString(sum[:4]) + "_"
}

// nameFor returns the name of the model's collection for vectors of a dimension.
func (s *Store) nameFor(dimension int) string { return s.namePrefix() + strconv.Itoa(dimension) }

// dimensionOf is the inverse of nameFor, also for names of earlier versions; 0 for another model's collection.
func (s *Store) dimensionOf(name string) int {
	rest, ours := strings.CutPrefix(name, s.namePrefix())
	n, err := strconv.Atoi(strings.TrimSuffix(rest, withWords))
	if !ours || err != nil {
		return 0
	}
	return n
}

// findCollection returns the collection in use, nil if it does not exist. While the embedder's dimension is
// unknown, it is the one that the alias points to, else any of the model. It never creates one: a search must not.
func (s *Store) findCollection(ctx context.Context) (*index, error) {
	s.mu.Lock()
	// A collection that is being created has no vectors, so a search finds nothing without waiting for it.
	known, dimension, creating := s.index, s.dimension, s.creating
	s.mu.Unlock()
	if known != nil || creating {
		return known, nil
	}
	alone, err := s.startFinding(ctx)
	if err != nil || !alone {
		return nil, err
	}
	defer s.endMaking()
	// Another call may have found it meanwhile.
	s.mu.Lock()
	known = s.index
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	// Before the first embedding of a process only the server knows the collection's dimension.
	if dimension == 0 {
		if dimension, err = s.presentDimension(ctx); err != nil {
			return nil, err
		}
		if dimension == 0 {
			s.noteMissing()
			return nil, nil
		}
	}
	there, err := s.hasCollection(ctx, s.nameFor(dimension))
	if err != nil {
		return nil, err
	}
	if !there {
		s.noteMissing()
		return nil, nil
	}
	return s.adoptCollection(ctx, dimension)
}

// presentDimension returns the dimension of the model's collection, preferably of the alias target; 0 if there is
// none.
func (s *Store) presentDimension(ctx context.Context) (int, error) {
	serving, err := s.servingCollection(ctx)
	if err != nil {
		return 0, err
	}
	if n := s.dimensionOf(serving); n > 0 {
		return n, nil
	}
	names, err := s.listCollections(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if n := s.dimensionOf(name); n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// adoptCollection uses an existing collection once it is loaded. Milvus searches only loaded collections; loading
// takes seconds.
func (s *Store) adoptCollection(ctx context.Context, dimension int) (*index, error) {
	ix := &index{name: s.nameFor(dimension), dimension: dimension}
	if err := s.loadCollection(ctx, ix.name); err != nil {
		return nil, err
	}
	err := s.runCall(ctx, "describe collection "+ix.name, func(ctx context.Context, c client.Client) error {
		about, err := c.DescribeCollection(ctx, ix.name)
		ix.texts = err == nil && slices.ContainsFunc(about.Schema.Fields, func(f *entity.Field) bool {
			return f.Name == fieldText
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	// The alias points to the current model's collection; claimAlias describes when it stays unchanged.
	if err := s.claimAlias(ctx, ix.name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ix.written = s.made[ix.name]
	s.index, s.had = ix, true
	return ix, nil
}

// noteMissing records that the collection is missing. A collection that was lost is created and filled again.
func (s *Store) noteMissing() {
	s.mu.Lock()
	lost := s.had
	s.had = false
	s.mu.Unlock()
	if lost {
		s.signalLost()
	}
}

// startFinding is startMaking, but returns alone = false while a collection is being created. It polls every
// lookEvery.
func (s *Store) startFinding(ctx context.Context) (alone bool, err error) {
	// A channel would need replacing on each creation; polling twenty times a second costs nothing.
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case s.making <- struct{}{}:
			return true, nil
		case <-ctx.Done():
			return false, waitError(ctx)
		case <-every.C:
		}
		s.mu.Lock()
		creating := s.creating
		s.mu.Unlock()
		if creating {
			return false, nil
		}
	}
}

// waitError returns the error of a caller whose context ended while it waited for the collection.
func waitError(ctx context.Context) error {
	return unavailableError(saysNothing, fmt.Errorf("wait for the collection: %w", context.Cause(ctx)))
}

// startMaking locks the creation and selection of collections. It may wait as long as a collection takes to load.
func (s *Store) startMaking(ctx context.Context) error {
	select {
	case s.making <- struct{}{}:
		return nil
	case <-ctx.Done():
		return waitError(ctx)
	}
}

// endMaking releases the lock of startMaking.
func (s *Store) endMaking() { <-s.making }

// makeCollection returns the collection for vectors of a dimension and creates it if it is missing. Concurrent
// creation by another process is not an error.
func (s *Store) makeCollection(ctx context.Context, dimension int) (*index, error) {
	if err := s.startMaking(ctx); err != nil {
		return nil, err
	}
	defer s.endMaking()
	s.mu.Lock()
	known := s.index
	s.mu.Unlock()
	// The previous lock holder has created it.
	if known != nil && known.dimension == dimension {
		return known, nil
	}
	name := s.nameFor(dimension)
	there, err := s.hasCollection(ctx, name)
	if err != nil {
		return nil, err
	}
	if !there {
		// From here on searches do not wait for the collection. Building its index and loading it may take up to
		// loadTime.
		s.setCreating(true)
		defer s.setCreating(false)
		if err := s.createCollection(ctx, dimension); err != nil {
			return nil, err
		}
		// With a single writer, a new collection holds exactly what this process writes.
		if s.cfg.Alone {
			s.mu.Lock()
			s.made[name] = newWritten()
			s.mu.Unlock()
		}
		s.signalLost() // documents with SemanticReady must be checked again
	}
	return s.adoptCollection(ctx, dimension)
}

// setCreating records whether a collection is being created.
func (s *Store) setCreating(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating = now
}

// loadCollection loads a collection and polls its state, since Milvus loads asynchronously.
func (s *Store) loadCollection(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for asked := false; ; {
		state, err := callServer(ctx, s, "state of collection "+name, func(
			ctx context.Context, c client.Client,
		) (entity.LoadState, error) {
			return c.GetLoadState(ctx, name, nil)
		})
		if err != nil || state == entity.LoadStateLoaded {
			return err
		}
		if !asked && state != entity.LoadStateLoading {
			err := s.runCall(
				ctx, "load collection "+name,
				func(ctx context.Context, c client.Client) error { return c.LoadCollection(ctx, name, true) },
			)
			if err != nil {
				return err
			}
			asked = true
		}
		select {
		case <-ctx.Done():
			return unavailableError(saysNothing, fmt.Errorf("load collection %s: %w", name, ctx.Err()))
		case <-every.C:
		}
	}
}

// runCall is callServer for calls without a result.
func (s *Store) runCall(ctx context.Context, what string, f func(context.Context, client.Client) error) error {
	_, err := callServer(
		ctx, s, what, func(ctx context.Context, c client.Client) (struct{}, error) { return struct{}{}, f(ctx, c) },
	)
	return err
}

// hasCollection reports whether a collection exists on the server.
func (s *Store) hasCollection(ctx context.Context, name string) (bool, error) {
	return callServer(
		ctx, s, "look for collection "+name,
		func(ctx context.Context, c client.Client) (bool, error) { return c.HasCollection(ctx, name) },
	)
}

// listCollections returns the names of Footnote's collections, of any model. Their names begin with the alias's
// name and match familyLike.
func (s *Store) listCollections(ctx context.Context) ([]string, error) {
	return callServer(ctx, s, "list collections",
		func(ctx context.Context, c client.Client) (names []string, err error) {
			list, err := c.ListCollections(ctx)
			for _, collection := range list {
				if rest, ours := strings.CutPrefix(collection.Name, s.cfg.Collection+"_"); ours &&
					familyLike().MatchString(rest) {
					names = append(names, collection.Name)
				}
			}
			slices.Sort(names)
			return names, err
		})
}

// dropCollection deletes a collection.
func (s *Store) dropCollection(ctx context.Context, name string) error {
	return s.runCall(
		ctx, "drop collection "+name,
		func(ctx context.Context, c client.Client) error { return c.DropCollection(ctx, name) },
	)
}

// errMoved permanently stops a store: another Footnote has moved the alias to another model's collection.
var errMoved = errors.New("the alias refers to the collection of another model")

// createCollection creates the collection for vectors of a dimension, with its indexes. Strings have at most 64
// bytes, which storedKey and plainLike ensure. The vector index is HNSW with cosine similarity.
func (s *Store) createCollection(ctx context.Context, dimension int) error {
	text := func(name string) *entity.Field {
		return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(64)
	}
	name := s.nameFor(dimension)
	schema := entity.NewSchema().WithName(name).WithDescription("Footnote: passages by " + s.cfg.Model).
		WithField(text(fieldID).WithIsPrimaryKey(true)).WithField(text(fieldDocument)).WithField(text(fieldUser)).
		WithField(text(fieldNamespace).WithIsPartitionKey(true)).WithField(text(fieldText)).
		WithField(entity.NewField().WithName(fieldMeaning).WithDataType(entity.FieldTypeFloatVector).WithDim(
			int64(dimension),
		))
	graph, err := entity.NewIndexHNSW(entity.COSINE, graphEdges, graphBuild)
	if err != nil {
		return fmt.Errorf("describe the index: %w", err)
	}
	err = s.runCall(ctx, "make collection "+name, func(ctx context.Context, c client.Client) error {
		err := c.CreateCollection(
			ctx, schema, 1, client.WithPartitionNum(partitions), client.WithConsistencyLevel(entity.ClSession),
		)
		if err != nil && strings.Contains(err.Error(), "exist") {
			return nil // another replica created it first
		}
		return err
	})
	if err != nil {
		return err
	}
	s.cfg.Log.InfoContext(ctx, "created a Milvus collection", "collection", name, "model", s.cfg.Model)
	if err := s.indexField(ctx, name, fieldMeaning, graph); err != nil {
		return err
	}
	// optional: without the index, lookups by text hash scan the collection. Some servers choose no index type
	// themselves
	if err := s.indexField(ctx, name, fieldText, entity.NewScalarIndex()); err != nil {
		s.cfg.Log.DebugContext(ctx, "could not index the text hashes of vectors", "collection", name, "error", err)
	}
	return nil
}

// indexField requests an index without waiting until it is built: until then Milvus searches without it.
func (s *Store) indexField(ctx context.Context, collection, field string, kind entity.Index) error {
	return s.runCall(ctx, "index "+field+" of collection "+collection,
		func(ctx context.Context, c client.Client) error {
			return c.CreateIndex(ctx, collection, field, kind, true)
		})
}
