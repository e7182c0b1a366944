package milvus

import (
	"context"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// familyLike matches the rest of a collection name after Config.Collection and "_": model and dimension. Earlier
// versions also had collections with the words of passages.
var familyLike = lazy.Regexp(`^[0-9a-f]{8}_[1-9][0-9]*(` + withWords + `)?$`)

// servingCollection returns the collection that the alias points to, empty without an alias. Milvus resolves an
// alias when it describes it.
func (s *Store) servingCollection(ctx context.Context) (string, error) {
	return callServer(ctx, s, "look at alias "+s.cfg.Collection,
		func(ctx context.Context, c client.Client) (string, error) {
			collection, err := c.DescribeCollection(ctx, s.cfg.Collection)
			if err != nil {
				if isMissing(err) {
					return "", nil
				}
				return "", err
			}
			return collection.Name, nil
		})
}

// claimAlias points the alias to a collection, unless it points to one with vectors of another model or dimension,
// which Complete replaces. If it no longer points to this model's collection, another Footnote has changed the
// model, and this store must not fill the old collection again. It is a no-op if the alias is already right.
func (s *Store) claimAlias(ctx context.Context, name string) error {
	serving, err := s.servingCollection(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	moved := s.served && serving != "" && s.dimensionOf(serving) == 0
	if moved {
		s.gone = &chat.Error{Code: chat.CodeConflict, Err: errMoved,
			Message: "Semantic search is off: another Footnote server with a different embedding model uses this " +
				"Milvus collection."}
	}
	if serving == name {
		s.served = true
	}
	gone := s.gone
	s.mu.Unlock()
	if gone != nil || serving == name {
		return gone
	}
	if serving == "" {
		err = s.runCall(ctx, "make alias "+s.cfg.Collection, func(ctx context.Context, c client.Client) error {
			err := c.CreateAlias(ctx, name, s.cfg.Collection)
			// the collection of the alias was dropped
			if err != nil && strings.Contains(err.Error(), "alias already exist") {
				return c.AlterAlias(ctx, name, s.cfg.Collection)
			}
			return err
		})
		if err == nil {
			s.noteServed()
		}
		return err
	}
	if n := s.dimensionOf(serving); n > 0 { // our model's, of another dimension: keep it if it has vectors
		if n, err := s.countVectors(ctx, &index{name: serving, dimension: n}, everything); err != nil || n > 0 {
			return err
		}
		return s.swapAlias(ctx, name, serving)
	}
	return nil
}

// swapAlias moves the alias from one collection to another atomically, and drops the first. A concurrent search
// sees one or the other.
func (s *Store) swapAlias(ctx context.Context, to, from string) error {
	err := s.runCall(ctx, "move alias "+s.cfg.Collection, func(ctx context.Context, c client.Client) error {
		return c.AlterAlias(ctx, to, s.cfg.Collection)
	})
	if err != nil {
		return err
	}
	s.noteServed()
	return s.dropCollection(ctx, from)
}

// noteServed records that the alias has pointed to this model's collection.
func (s *Store) noteServed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served = true
}

// Complete is called once every document has its vectors in the collection: the alias moves there atomically, and
// the collections of earlier models and versions are dropped. Only collections whose names match Footnote's are
// dropped.
func (s *Store) Complete(ctx context.Context) error {
	ix, err := s.findCollection(ctx)
	if err != nil || ix == nil {
		return err
	}
	if err := s.claimAlias(ctx, ix.name); err != nil {
		return err
	}
	serving, err := s.servingCollection(ctx)
	if err != nil {
		return err
	}
	if serving != ix.name {
		if err := s.swapAlias(ctx, ix.name, serving); err != nil {
			return err
		}
		s.cfg.Log.InfoContext(ctx, "switched to another collection", "collection", ix.name, "before", serving)
	}
	names, err := s.listCollections(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == ix.name {
			continue
		}
		if err := s.dropCollection(ctx, name); err != nil {
			return err
		}
		s.cfg.Log.InfoContext(ctx, "dropped earlier vectors", "collection", name)
	}
	return nil
}

// isMissing reports whether the error means that a collection or an alias does not exist. The client returns only
// messages.
func isMissing(err error) bool {
	said := strings.ToLower(err.Error())
	for _, words := range []string{
		"collection not found", "can't find collection", "not exist", "collection not exist",
	} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
