package milvus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/lazy"
)

// bytesPerWrite limits the vectors of one call: 2,500 of 384 dimensions. It is well below Milvus' limit of 64 MiB,
// and keeps a call within callTime.
const bytesPerWrite = 4 << 20

// Upsert stores vectors; see corpus.Vectors. Large inputs are split into several calls, so a failure may leave some
// stored. IDs have only letters, digits, ".", "_" and "-", at most 64. The first vectors create the collection. It
// returns CodeInvalid for vectors of different dimensions.
func (s *Store) Upsert(ctx context.Context, vs []corpus.Vector) error {
	return s.storeVectors(ctx, vs, false)
}

// Insert is Upsert for vectors that were never stored: it skips the delete, which takes Milvus as long as the
// insert.
func (s *Store) Insert(ctx context.Context, vs []corpus.Vector) error {
	return s.storeVectors(ctx, vs, true)
}

// storeVectors validates all vectors before it stores the first.
func (s *Store) storeVectors(ctx context.Context, vs []corpus.Vector, unknown bool) error {
	if len(vs) == 0 {
		return nil
	}
	// Reject mixed dimensions before the first call, which would succeed.
	dimension := len(vs[0].Values)
	for _, v := range vs {
		if len(v.Values) == 0 || len(v.Values) != dimension {
			return errDimension
		}
		// Delete uses IDs in filter expressions. The library's own IDs have only letters, digits, "-" and "_", so
		// none of them is rejected.
		if !plainLike().MatchString(v.PassageID) || !plainLike().MatchString(v.DocumentID) {
			return &chat.Error{
				Code:    chat.CodeInvalid,
				Message: "The ID of a passage or document contains characters that are not allowed in Milvus.",
			}
		}
	}
	ix, err := s.forDimension(ctx, dimension)
	if err != nil {
		return err
	}
	if ix == nil {
		if ix, err = s.makeCollection(ctx, dimension); err != nil {
			return err
		}
	}
	// A float32 has 4 bytes. A call stores at least one vector.
	for n := max(1, bytesPerWrite/(4*dimension)); len(vs) > 0; vs = vs[min(n, len(vs)):] {
		if err := s.writeVectors(ctx, ix, vs[:min(n, len(vs))], unknown); err != nil {
			return err
		}
	}
	return nil
}

// writeVectors stores one batch. Milvus has no update: existing vectors are deleted first.
func (s *Store) writeVectors(ctx context.Context, ix *index, vs []corpus.Vector, unknown bool) error {
	n := len(vs)
	// Milvus expects columns, not rows: one list for each field, in the same order.
	texts := func(of func(corpus.Vector) string) []string {
		out := make([]string, n)
		for i, v := range vs {
			out[i] = of(v)
		}
		return out
	}
	values := make([][]float32, n)
	for i, v := range vs {
		values[i] = v.Values
	}
	columns := []entity.Column{
		entity.NewColumnVarChar(fieldID, texts(func(v corpus.Vector) string { return v.PassageID })),
		entity.NewColumnVarChar(fieldDocument, texts(func(v corpus.Vector) string { return v.DocumentID })),
		entity.NewColumnVarChar(fieldUser, texts(func(v corpus.Vector) string { return storedKey(v.User) })),
		entity.NewColumnVarChar(fieldNamespace, texts(func(v corpus.Vector) string { return storedKey(v.Namespace) })),
		entity.NewColumnFloatVector(fieldMeaning, ix.dimension, values),
	}
	if ix.texts {
		columns = append(columns, entity.NewColumnVarChar(fieldText, texts(func(v corpus.Vector) string {
			return hex.EncodeToString([]byte(v.TextHash))
		})))
	}
	// Record the vectors before the call, since a failed call may have stored some.
	there := ix.written.addVectors(vs)
	if unknown {
		there = nil
	}
	return s.runCall(ctx, fmt.Sprintf("store %d vectors", n), func(ctx context.Context, c client.Client) error {
		// Milvus 2.3 upserts into partitions that a search by partition key does not read
		if len(there) > 0 {
			if err := c.Delete(ctx, ix.name, "", oneOf(fieldID, there)); err != nil {
				return err
			}
		}
		_, err := c.Insert(ctx, ix.name, "", columns...)
		return err
	})
}

// forDimension returns the collection for vectors of a dimension, nil if it does not exist. Once the embedder's
// dimension is known, others return an error, unless there are no vectors.
func (s *Store) forDimension(ctx context.Context, dimension int) (*index, error) {
	s.mu.Lock()
	if s.dimension == 0 {
		s.dimension = dimension
		if s.index != nil && s.index.dimension != dimension { // left by an earlier process: ours must be filled again
			s.index = nil
			s.signalLost()
		}
	}
	// The first vectors of a process determine the embedder's dimension.
	same := s.dimension == dimension
	s.mu.Unlock()
	if same {
		return s.findCollection(ctx)
	}
	ix, err := s.findCollection(ctx)
	if err != nil {
		return nil, err
	}
	if ix != nil {
		n, err := s.countVectors(ctx, ix, everything)
		if err != nil {
			return nil, err
		}
		// A search uses one collection only, so these vectors would replace all existing ones.
		if n > 0 {
			return nil, errDimension
		}
	}
	s.mu.Lock()
	s.dimension, s.index = dimension, nil
	s.mu.Unlock()
	return s.findCollection(ctx)
}

// DeleteVectors deletes a document's vectors; see corpus.Vectors. It is a no-op for an invalid ID.
func (s *Store) DeleteVectors(ctx context.Context, documentID string, keep []string) error {
	if !plainLike().MatchString(documentID) {
		return nil
	}
	ix, err := s.findCollection(ctx)
	if err != nil || ix == nil {
		return err
	}
	expression := fieldDocument + " == " + quoteKey(documentID)
	// Invalid IDs were never stored, and must not reach the expression.
	if keep = onlyPlain(keep); len(keep) > 0 {
		expression += " and not (" + oneOf(fieldID, keep) + ")"
	}
	if err := s.deleteVectors(ctx, ix, expression); err != nil {
		return fmt.Errorf("delete vectors of document %s: %w", documentID, err)
	}
	return nil
}

// deleteVectors deletes the vectors selected by an expression, in batches of at most rowsPerCount IDs.
func (s *Store) deleteVectors(ctx context.Context, ix *index, expression string) error {
	// the second query is strongly consistent: it waits until the query nodes have applied the delete
	for level := entity.ClSession; ; level = entity.ClStrong {
		ids, err := s.idsOf(ctx, ix, expression, level)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.runCall(ctx, "delete vectors", func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, ix.name, "", oneOf(fieldID, ids))
		})
		if err != nil {
			return err
		}
	}
}

// idsOf returns the IDs of at most rowsPerCount passages selected by an expression.
func (s *Store) idsOf(
	ctx context.Context, ix *index, expression string, level entity.ConsistencyLevel,
) ([]string, error) {
	return callServer(ctx, s, "look for vectors", func(ctx context.Context, c client.Client) ([]string, error) {
		rows, err := c.Query(ctx, ix.name, nil, expression, []string{fieldID}, client.WithLimit(rowsPerCount),
			client.WithSearchQueryConsistencyLevel(level))
		if err != nil {
			return nil, err
		}
		return columnTexts(rows.GetColumn(fieldID))
	})
}

// columnTexts returns the values of a string column.
func columnTexts(column entity.Column) ([]string, error) {
	if column == nil {
		return nil, nil
	}
	out := make([]string, column.Len())
	for i := range out {
		var err error
		if out[i], err = column.GetAsString(i); err != nil {
			return nil, fmt.Errorf("read a column: %w", err)
		}
	}
	return out, nil
}

// everything selects all vectors.
const everything = fieldID + ` != ""`

// plainLike matches names that are used unchanged in a filter. All others are hashed, which prevents filter
// injection.
var plainLike = lazy.Regexp(`^[A-Za-z0-9_.-]{1,64}$`)

// storedKey returns the stored form of a user or namespace. A hashed name begins with "~", which plain names do not
// contain, so they can't collide.
func storedKey(name string) string {
	if plainLike().MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "~" + hex.EncodeToString(sum[:16])
}

// scopeFilter returns the filter for a scope, limited to documents if there are any. ok is false if nothing can
// match. No namespaces means all but the internal ones, whose names begin with a dot.
func scopeFilter(s chat.Scope, documents []string) (expression string, ok bool) {
	parts := []string{fieldUser + " == " + quoteKey(storedKey(s.User))}
	if len(s.Namespaces) > 0 {
		keys := make([]string, len(s.Namespaces))
		for i, name := range s.Namespaces {
			keys[i] = storedKey(name)
		}
		parts = append(parts, oneOf(fieldNamespace, keys))
	} else {
		parts = append(parts, `not (`+fieldNamespace+` like ".%")`) // chat.IsInternal
	}
	if len(documents) > 0 {
		plain := onlyPlain(documents)
		if len(plain) == 0 {
			return "", false
		}
		parts = append(parts, oneOf(fieldDocument, plain))
	}
	return strings.Join(parts, " and "), true
}

// onlyPlain drops IDs that Upsert rejects.
func onlyPlain(ids []string) []string {
	plain := make([]string, 0, len(ids))
	for _, id := range ids {
		if plainLike().MatchString(id) {
			plain = append(plain, id)
		}
	}
	return plain
}

// oneOf returns a filter for any of the keys in a field.
func oneOf(field string, keys []string) string {
	var b strings.Builder
	b.WriteString(field + " in [")
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteKey(key))
	}
	b.WriteByte(']')
	return b.String()
}

// quoteKey quotes a key, which must not contain quotes.
func quoteKey(key string) string { return `"` + key + `"` }
