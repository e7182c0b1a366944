package scripted

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
	"unicode"
)

// Dimensions is the size of the server's vectors. It is that of all-MiniLM-L6-v2, the sentence model that the product
// can run itself.
const Dimensions = 384

// serveEmbeddings answers with vectors of hashed words: texts that share words are alike, and the same text has the
// same vector everywhere.
//
// The input is a text or a list of texts, and the answer has floats, whatever encoding was asked for. It refuses any
// other input with 400. The model that is asked for is named in the answer and changes nothing.
func (s *Server) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	var texts []string
	var one string
	if json.Unmarshal(asked.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(asked.Input, &texts); err != nil {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", "input must be a string or a list of strings")
		return
	}
	data := make([]any, len(texts))
	words := 0
	for i, text := range texts {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": Vector(text)}
		words += len(strings.Fields(text))
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "model": asked.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": words, "total_tokens": words},
	})
}

// Vector returns the unit vector of a text: each word, cut to five letters as a poor man's stem, counts in three
// places.
//
// Letters and digits make words, without regard to case. Two texts have a high cosine when they share words; it knows
// no meanings. A text without words has a vector too, so that none has length 0.
func Vector(text string) []float32 {
	v := make([]float32, Dimensions)
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range strings.FieldsFunc(strings.ToLower(text), notLetter) {
		// Five letters make “roofs” and “roof” different but “condition” and “conditions” equal.
		runes := []rune(word)
		h := fnv.New64a()
		_, _ = h.Write([]byte(string(runes[:min(5, len(runes))]))) // a hash can't fail
		sum := h.Sum64()
		for range 3 {
			sign := float32(1)
			if sum&1 == 1 {
				sign = -1
			}
			v[(sum>>1)%Dimensions] += sign
			sum = sum>>20 | sum<<44
		}
	}
	var norm float64
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0], norm = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(norm))
	}
	return v
}
