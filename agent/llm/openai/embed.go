package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

// A model's dimensions are at most a few thousand; the limit bounds the memory for an invalid response.
const (
	maxBatch      = 64 // batch size, until a server requires a smaller one
	maxDimensions = 16384
)

// Model returns the embedding model's name, empty if none is configured.
func (m *Model) Model() string { return m.embeddings }

// Embed returns one embedding of unit length for each text, in order. All embeddings of a model have the same number
// of dimensions; a response with others is an error. If a server refuses a batch for its size, or times out, the
// batch size is halved. The batch size is kept for the process, and reset only if halving did not help. Errors are
// *llm.Error. It is safe for concurrent use. The counter embedding lets PingEmbeddings distinguish a busy server
// from a dead one.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.embeddings == "" {
		return nil, &llm.Error{Kind: llm.KindInvalid, Message: "No embedding model configured. Set " +
			"OPENAI_EMBEDDING_MODEL."}
	}
	m.embedding.Add(1)
	defer m.embedding.Add(-1)
	out := make([][]float32, 0, len(texts))
	for halved := false; len(texts) > 0; {
		n := min(len(texts), m.batch())
		var batch [][]float32
		err := m.embedder.Retry(ctx, true, func() (bool, *llm.Error) {
			var err *llm.Error
			batch, err = m.embedBatch(ctx, texts[:n])
			return false, err
		})
		switch {
		case err == nil:
			out, texts = append(out, batch...), texts[n:]
		// The next iteration retries the same texts in a smaller batch.
		case n > 1 && ctx.Err() == nil && mayFitSmaller(err):
			m.batchSize.Store(int64(n / 2))
			halved = true
			m.log.WarnContext(ctx, "reduced the embedding batch size", "model", m.embeddings, "texts", n/2,
				"error", err)
		default:
			if halved { // the batch size was not the cause
				m.batchSize.Store(maxBatch)
			}
			return nil, err
		}
	}
	return out, nil
}

// batch returns the batch size.
func (m *Model) batch() int { return int(cmp.Or(m.batchSize.Load(), maxBatch)) }

// mayFitSmaller reports whether a smaller batch may succeed. Servers report a batch that is too large in many ways.
func mayFitSmaller(e *llm.Error) bool {
	return e.Kind == llm.KindTooLong || e.Kind == llm.KindTimeout || e.Status == http.StatusRequestEntityTooLarge ||
		e.Kind == llm.KindInvalid && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity)
}

// EmbedQuery returns the embedding of a search query, of unit length: these servers treat queries like passages.
func (m *Model) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := m.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// embeddings is the response. The embeddings are arrays of numbers or base64 of little-endian float32.
type embeddings struct {
	Data vectors `json:"data"`
}

// vectors are limited to maxBatch entries, so that a response of many empty ones takes no memory.
type vectors []struct {
	Index     *int            `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// UnmarshalJSON implements json.Unmarshaler. Each entry has exactly one opening brace, which is counted before
// decoding.
func (v *vectors) UnmarshalJSON(raw []byte) error {
	if bytes.Count(raw, []byte("{")) > maxBatch {
		return errors.New("more vectors than texts")
	}
	type plain vectors
	return json.Unmarshal(raw, (*plain)(v))
}

// embedBatch sends one request without retries. Empty texts are sent as a full stop, since servers refuse them. The
// response is decoded into an own type, since the SDK's has float64 and no base64.
func (m *Model) embedBatch(ctx context.Context, texts []string) ([][]float32, *llm.Error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.patience.FirstToken, httpllm.ErrNoFirstToken)
	defer cancel()
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = text
		if strings.TrimSpace(text) == "" {
			input[i] = "." // servers refuse empty texts
		}
	}
	var answer embeddings
	_, err := m.embed.New(ctx, sdk.EmbeddingNewParams{
		Model: m.embeddings, Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: input},
	}, option.WithResponseBodyInto(&answer))
	if err != nil {
		return nil, m.embedder.Transport(ctx, err)
	}
	vectors, err := m.readVectors(answer, len(texts))
	if err != nil {
		return nil, &llm.Error{
			Kind: llm.KindProtocol, Message: "The embedding server sent an invalid response.", Err: err,
		}
	}
	return vectors, nil
}

// readVectors sorts embeddings by their index, since servers need not keep the order. It returns an error for a
// wrong number of embeddings, a duplicate index, and a change of dimensions, since a vector index can't mix models.
// The first embedding of the process sets the number of dimensions by compare-and-swap, so that concurrent first
// batches must agree.
func (m *Model) readVectors(answer embeddings, want int) ([][]float32, error) {
	if len(answer.Data) != want {
		return nil, fmt.Errorf("sent %d texts, received %d vectors", want, len(answer.Data))
	}
	out := make([][]float32, want)
	for i, d := range answer.Data {
		// The default index is the position.
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= want || out[at] != nil {
			return nil, fmt.Errorf("vector %d has the index %d", i, at)
		}
		v, err := unitVector(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", at, err)
		}
		if known := m.dimensions.Load(); known != int64(len(v)) &&
			(known != 0 || !m.dimensions.CompareAndSwap(0, int64(len(v)))) {
			return nil, fmt.Errorf("vector %d has %d dimensions, others have %d", at, len(v), known)
		}
		out[at] = v
	}
	return out, nil
}

// unitVector decodes one embedding and normalises it to unit length, so that the dot product equals the cosine,
// which vector indexes use. Sums are in float64 to keep precision. Zero, NaN and infinity have no direction and are
// refused.
func unitVector(raw json.RawMessage) ([]float32, error) {
	v, err := readNumbers(raw)
	if err != nil {
		return nil, err
	}
	if len(v) == 0 || len(v) > maxDimensions {
		return nil, fmt.Errorf("it has %d dimensions", len(v))
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, errors.New("it has no length")
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / norm)
	}
	return v, nil
}

// readNumbers decodes an array of numbers, or base64 of little-endian float32, which some servers send unrequested.
func readNumbers(raw json.RawMessage) ([]float32, error) {
	if len(raw) == 0 || raw[0] != '"' {
		var v []float32
		err := json.Unmarshal(raw, &v)
		return v, err
	}
	var packed []byte // encoding/json decodes base64
	if err := json.Unmarshal(raw, &packed); err != nil {
		return nil, err
	}
	if len(packed)%4 != 0 {
		return nil, base64.CorruptInputError(len(packed))
	}
	v := make([]float32, len(packed)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
	}
	return v, nil
}
