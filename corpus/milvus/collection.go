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

// The fields' names are stored in collections: another name would not find what earlier versions stored.
const (
	fieldID        = "id" // of the passage
	fieldDocument  = "document"
	fieldUser      = "user"
	fieldNamespace = "namespace"
	fieldMeaning   = "meaning" // the embedding
	fieldText      = "text"    // hash of what it was made of, in hex; empty: that is not known
	withWords      = "_words"  // how the names of earlier versions' collections with the words of passages end

	// partitions is how many a collection is cut into by namespace (Milvus' partition key). M and efConstruction are
	// HNSW's (Malkov and Yashunin 2016): 16 and 200 are usual values for embeddings.
	partitions = 16 // over which namespaces are spread
	graphEdges = 16 // HNSW's M
	graphBuild = 200
	// These bound how long a call may wait and how soon it notices.
	loadTime  = 30 * time.Second // for a new collection to become searchable
	lookEvery = 50 * time.Millisecond
)

// index is a collection that is there and loaded. It never changes, apart from what written holds.
type index struct {
	name      string
	dimension int
	texts     bool     // it says of which text each vector was made, as those of earlier versions don't
	written   *written // what it may hold; nil: anything
}

// namePrefix is how the names of our model's collections begin: one for each number of dimensions. Eight hexadecimal
// digits of a hash stand for the model, whose name may have any characters.
func (s *Store) namePrefix() string {
	sum := sha256.Sum256([]byte(s.cfg.Model))
	return s.cfg.Collection + "_" + hex.EncodeToString(sum[:4]) + "_"
}

// nameFor names the collection of our model for vectors of a dimension.
func (s *Store) nameFor(dimension int) string { return s.namePrefix() + strconv.Itoa(dimension) }

// dimensionOf is the inverse of nameFor, for earlier versions' names too; 0 for a collection of another model's.
func (s *Store) dimensionOf(name string) int {
	rest, ours := strings.CutPrefix(name, s.namePrefix())
	n, err := strconv.Atoi(strings.TrimSuffix(rest, withWords))
	if !ours || err != nil {
		return 0
	}
	return n
}

// findCollection returns the collection that takes part, nil if there is none yet. While the embedder's dimension is
// unknown it is the one that serves, or else any of our model's. It never makes one: a search must not.
func (s *Store) findCollection(ctx context.Context) (*index, error) {
	s.mu.Lock()
	// While a collection is made it has no vectors, so that a search need not wait for it: it finds nothing.
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
	// Somebody else may have found it while this call waited its turn.
	s.mu.Lock()
	known = s.index
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	// Before the first embedding of a process only the server knows which collection it is.
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

// presentDimension is that of our model's collection, the one that serves if there are many; 0 if there is none.
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

// adoptCollection takes an existing collection, once it can be searched. Only a loaded collection is searched in;
// loading takes Milvus seconds.
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
	// The alias says which model's collection serves; see claimAlias for when it is left as it is.
	if err := s.claimAlias(ctx, ix.name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ix.written = s.made[ix.name]
	s.index, s.had = ix, true
	return ix, nil
}

// noteMissing notes that there is no collection. If there was one, it is made and filled again.
func (s *Store) noteMissing() {
	s.mu.Lock()
	lost := s.had
	s.had = false
	s.mu.Unlock()
	if lost {
		s.tellLost()
	}
}

// startFinding is startMaking, but does not wait for a collection that is being made: then alone is false. It looks
// every lookEvery whether somebody began to make one.
func (s *Store) startFinding(ctx context.Context) (alone bool, err error) {
	// A channel would have to be closed and made anew for each making; looking twenty times a second costs nothing.
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

// waitError is the failure of somebody who waited for the collection until his context ended.
func waitError(ctx context.Context) error {
	return unavailableError(saysNothing, fmt.Errorf("wait for the collection: %w", context.Cause(ctx)))
}

// startMaking waits until nobody else makes or chooses a collection, which can take as long as that takes to load.
func (s *Store) startMaking(ctx context.Context) error {
	select {
	case s.making <- struct{}{}:
		return nil
	case <-ctx.Done():
		return waitError(ctx)
	}
}

// endMaking lets the next one make or choose a collection.
func (s *Store) endMaking() { <-s.making }

// makeCollection returns the collection for vectors of a dimension, made new if it is not there. Another process may
// make the same one at the same moment, which is no error.
func (s *Store) makeCollection(ctx context.Context, dimension int) (*index, error) {
	if err := s.startMaking(ctx); err != nil {
		return nil, err
	}
	defer s.endMaking()
	s.mu.Lock()
	known := s.index
	s.mu.Unlock()
	// It was made by whoever had the turn before.
	if known != nil && known.dimension == dimension {
		return known, nil
	}
	name := s.nameFor(dimension)
	there, err := s.hasCollection(ctx, name)
	if err != nil {
		return nil, err
	}
	if !there {
		// From here on searches don't wait for the collection. To make its index and to load it may take as long as
		// loadTime.
		s.setCreating(true)
		defer s.setCreating(false)
		if err := s.createCollection(ctx, dimension); err != nil {
			return nil, err
		}
		// Nobody else writes then, so that what this process has written is all that is in a new collection.
		if s.cfg.Alone {
			s.mu.Lock()
			s.made[name] = newWritten()
			s.mu.Unlock()
		}
		s.tellLost() // documents that counted as done are to be looked at
	}
	return s.adoptCollection(ctx, dimension)
}

// setCreating notes whether a collection is being made.
func (s *Store) setCreating(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating = now
}

// loadCollection makes a collection searchable. It asks for the state again and again, since Milvus only begins to load
// when told to.
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

// runCall is call for what returns nothing.
func (s *Store) runCall(ctx context.Context, what string, f func(context.Context, client.Client) error) error {
	_, err := callServer(
		ctx, s, what, func(ctx context.Context, c client.Client) (struct{}, error) { return struct{}{}, f(ctx, c) },
	)
	return err
}

// hasCollection asks the server whether a collection is there.
func (s *Store) hasCollection(ctx context.Context, name string) (bool, error) {
	return callServer(
		ctx, s, "look for collection "+name,
		func(ctx context.Context, c client.Client) (bool, error) { return c.HasCollection(ctx, name) },
	)
}

// listCollections returns the names of the collections that are ours, of any model. A name is ours if it begins with
// the alias's and goes on as familyLike says.
func (s *Store) listCollections(ctx context.Context) ([]string, error) {
	return callServer(ctx, s, "list collections",
		func(ctx context.Context, c client.Client) (names []string, err error) {
			list, err := c.ListCollections(ctx)
			for _, collection := range list {
				if rest, ours := strings.CutPrefix(collection.Name, s.cfg.Collection+"_"); ours &&
					familyLike.MatchString(rest) {
					names = append(names, collection.Name)
				}
			}
			slices.Sort(names)
			return names, err
		})
}

// dropCollection removes a collection.
func (s *Store) dropCollection(ctx context.Context, name string) error {
	return s.runCall(
		ctx, "drop collection "+name,
		func(ctx context.Context, c client.Client) error { return c.DropCollection(ctx, name) },
	)
}

// errMoved ends a store's work for good: another Footnote has moved the alias to the collection of another model.
var errMoved = errors.New("the alias names another model's collection")

// createCollection makes the collection for vectors of a dimension, and its indexes. All strings have at most 64 bytes,
// which storedKey and plainLike see to. The vectors' index is HNSW with cosines.
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
			return nil // another replica was first
		}
		return err
	})
	if err != nil {
		return err
	}
	s.cfg.Log.InfoContext(ctx, "made a Milvus collection", "collection", name, "model", s.cfg.Model)
	if err := s.indexField(ctx, name, fieldMeaning, graph); err != nil {
		return err
	}
	// without it texts are looked up by reading all: some servers don't choose a kind of index by themselves
	if err := s.indexField(ctx, name, fieldText, entity.NewScalarIndex()); err != nil {
		s.cfg.Log.DebugContext(ctx, "texts of vectors are not indexed", "collection", name, "error", err)
	}
	return nil
}

// indexField asks for an index and doesn't wait until it is built: until then Milvus searches without it.
func (s *Store) indexField(ctx context.Context, collection, field string, kind entity.Index) error {
	return s.runCall(ctx, "index "+field+" of collection "+collection,
		func(ctx context.Context, c client.Client) error {
			return c.CreateIndex(ctx, collection, field, kind, true)
		})
}
