package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/milvus"
	"github.com/footnote/footnote/sql/dbcopy"
	"github.com/footnote/footnote/sql/sqlite"
)

// The values are estimates for a server on the same network.
const (
	// A request of some 400 KB with 384 dimensions, far below Milvus's limit.
	vectorsPerBatch = 256
	// A filter with more documents becomes slow.
	documentsPerCount = 500
	// The retry limit for an unreachable server, as during a restart.
	awayFor = time.Minute
)

// Vectors copies embeddings to the vector store. Existing ones are skipped, so it can be repeated. It is not safe
// for concurrent use. Embeddings are stored under the ids of their passages, so that a second copy replaces the
// first.
type Vectors struct {
	source *sqlite.Source
	store  *milvus.Store
	model  *openai.Model
	report dbcopy.Progress
	total  int64
	number map[string]int // number of embeddings of each document
}

// OpenVectors checks whether the embeddings can be copied. It returns nil and the reason if they must be computed
// again. Embeddings of another model than the servers' are useless, so some texts are embedded to compare. The
// caller closes the result.
func OpenVectors(
	ctx context.Context, set *settings.Settings, source *sqlite.Source, log *slog.Logger,
) (v *Vectors, why string, err error) {
	switch {
	case set.MilvusAddress == "":
		return nil, "MILVUS_ADDRESS is not set", nil
	case set.OpenAIEmbeddingModel == "":
		return nil, "OPENAI_EMBEDDING_MODEL is not set", nil
	case !set.EmbedsRemotely():
		return nil, "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set", nil
	}
	// From here on the copy is wanted: a problem is an error, not a reason to skip it.
	v = &Vectors{source: source, number: map[string]int{}}
	if v.total, err = source.CountEmbedded(ctx, set.OpenAIEmbeddingModel); err != nil {
		return nil, "", err
	}
	v.model, err = openai.New(set.OpenAI(set.OpenAIModel, log))
	if err != nil {
		return nil, "", err
	}
	if v.store, err = milvus.New(set.Milvus(set.OpenAIEmbeddingModel, log)); err != nil {
		v.model.Close()
		return nil, "", err
	}
	if err := v.store.Reach(ctx); err != nil {
		return nil, "", errors.Join(fmt.Errorf("MILVUS_ADDRESS is %s: %w", set.MilvusAddress, err), v.Close())
	}
	same, err := v.sameModel(ctx)
	if err != nil {
		return nil, "", errors.Join(
			fmt.Errorf("compare the vectors with those of %s: %w", set.OpenAIEmbeddingModel, err), v.Close(),
		)
	}
	if !same {
		return nil, "those in the data directory are not of the model " + set.OpenAIEmbeddingModel, v.Close()
	}
	return v, "", nil
}

// Close closes the model and the store that were opened for the copy.
func (v *Vectors) Close() error {
	v.model.Close()
	return v.store.Close()
}

var errEnough = errors.New("enough")

// sameModel embeds some texts to compare models: earlier versions did not store the model's name, and a server may
// serve another model by the same name.
func (v *Vectors) sameModel(ctx context.Context) (bool, error) {
	if others, err := v.source.OnlyOthers(ctx, v.model.Model()); err != nil || others {
		return false, err
	}
	var some []corpus.Embedded
	// A few are enough: two models agree only by chance.
	err := v.source.Embedded(ctx, v.model.Model(), func(e corpus.Embedded) error {
		if some = append(some, e); len(some) < corpus.Likened {
			return nil
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	return corpus.SameModel(ctx, v.model, some)
}

// Copy stores the missing embeddings, reads all back and compares them. whole lists the documents with complete
// embeddings. Reading back takes as long as writing, and is the only proof that the server keeps them. c counts the
// embeddings of both sides; Same reports whether all of the source are stored, bit for bit.
func (v *Vectors) Copy(
	ctx context.Context, report dbcopy.Progress,
) (c dbcopy.Compared, whole []string, err error) {
	v.report = report
	c = dbcopy.Compared{Table: "vectors", Same: true}
	err = v.eachBatch(ctx, "vectors", func(batch []corpus.Embedded) error {
		for _, e := range batch {
			v.number[e.Vector.DocumentID]++
		}
		return waitPatiently(ctx, func() error { return v.putMissing(ctx, batch) })
	})
	if err != nil {
		return c, nil, fmt.Errorf("copy vectors: %w", err)
	}
	// The expected number of embeddings of each document, by the source.
	semantic, err := v.source.Semantic(ctx)
	if err != nil {
		return c, nil, err
	}
	counts, err := v.countVectors(ctx, slices.Sorted(maps.Keys(semantic)))
	if err != nil {
		return c, nil, err
	}
	stale := map[string][]string{} // documents with embeddings of an earlier attempt, and the passages to keep
	for id, n := range v.number {
		if counts[id] > n {
			stale[id] = nil
		}
	}
	err = v.eachBatch(ctx, "comparing vectors", func(batch []corpus.Embedded) error {
		var stored map[string][]float32
		err := waitPatiently(ctx, func() (err error) {
			stored, err = v.store.Stored(ctx, passageIDs(batch))
			return err
		})
		for _, e := range batch {
			c.Source++
			if slices.Equal(stored[e.Vector.PassageID], e.Vector.Values) {
				c.Left++
			}
			if _, some := stale[e.Vector.DocumentID]; some {
				stale[e.Vector.DocumentID] = append(stale[e.Vector.DocumentID], e.Vector.PassageID)
			}
		}
		return err
	})
	if err != nil {
		return c, nil, fmt.Errorf("compare vectors: %w", err)
	}
	// Passages of a document that was changed between two attempts.
	for id, keep := range stale {
		if err := waitPatiently(ctx, func() error { return v.store.DeleteVectors(ctx, id, keep) }); err != nil {
			return c, nil, err
		}
		counts[id] = len(keep)
	}
	c.Same = c.Source == c.Left
	// A document with missing embeddings is embedded again by a server.
	for id, n := range semantic {
		if counts[id] == n {
			whole = append(whole, id)
		}
	}
	return c, whole, nil
}

// putMissing stores the missing embeddings of a batch. They are compared bit for bit, since both sides store
// float32. An error may leave some of them stored.
func (v *Vectors) putMissing(ctx context.Context, batch []corpus.Embedded) error {
	stored, err := v.store.Stored(ctx, passageIDs(batch))
	if err != nil {
		return err
	}
	var missing []corpus.Vector
	for _, e := range batch {
		if slices.Equal(stored[e.Vector.PassageID], e.Vector.Values) {
			continue
		}
		missing = append(missing, e.Vector)
	}
	return v.store.Upsert(ctx, missing)
}

// eachBatch calls each for all embeddings in batches. A batch is valid until each returns: its buffer is reused.
// report is called after each batch.
func (v *Vectors) eachBatch(ctx context.Context, what string, each func([]corpus.Embedded) error) error {
	var done int64
	batch := make([]corpus.Embedded, 0, vectorsPerBatch)
	give := func() error {
		if err := each(batch); err != nil {
			return err
		}
		done += int64(len(batch))
		batch = batch[:0]
		v.report(what, done, v.total)
		return nil
	}
	err := v.source.Embedded(ctx, v.model.Model(), func(e corpus.Embedded) error {
		if batch = append(batch, e); len(batch) < vectorsPerBatch {
			return nil
		}
		return give()
	})
	if err == nil && len(batch) > 0 {
		err = give()
	}
	return err
}

// countVectors returns the number of stored embeddings of each document, in batches of 500 documents.
func (v *Vectors) countVectors(ctx context.Context, documents []string) (map[string]int, error) {
	counts := map[string]int{}
	for some := range slices.Chunk(documents, documentsPerCount) {
		var part map[string]int
		err := waitPatiently(ctx, func() (err error) {
			part, err = v.store.CountVectors(ctx, some)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("count vectors: %w", err)
		}
		maps.Copy(counts, part)
	}
	return counts, nil
}

// waitPatiently retries while a server is unreachable, once a second for a minute. Any other error is returned at
// once.
func waitPatiently(ctx context.Context, do func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if err != nil && chat.CodeOf(err) != chat.CodeUnavailable {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(time.Second)), backoff.WithMaxElapsedTime(awayFor))
	return err
}

// passageIDs returns the ids of a batch's passages, in order.
func passageIDs(batch []corpus.Embedded) []string {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.Vector.PassageID
	}
	return ids
}
