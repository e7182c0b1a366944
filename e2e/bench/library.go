package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// vocabulary is an artificial language whose word frequencies are those of a real one (Zipf's law with exponent 1).
//
// It has 20,000 words of two or three syllables and a last consonant. Real texts would need a licence and are not
// available in any size. The cost of a search depends on the number of passages that contain a word, and so only on
// the frequencies. The seed is fixed: every run on every machine has the same words in the same order.
var vocabulary = func() []string {
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // repeatable, not secret
	onsets, vowels, codas := strings.Fields(
		"b d f g h k l m n p r s t v br dr st tr pl",
	), strings.Fields("a e i o u"), strings.Fields("l n r s t m x")
	seen := map[string]bool{}
	var words []string
	for len(words) < 20_000 {
		var w strings.Builder
		for range 2 + random.IntN(2) {
			w.WriteString(onsets[random.IntN(len(onsets))])
			w.WriteString(vowels[random.IntN(len(vowels))])
		}
		w.WriteString(codas[random.IntN(len(codas))])
		if !seen[w.String()] {
			seen[w.String()] = true
			words = append(words, w.String())
		}
	}
	return words
}()

// functionWords is the number of the most frequent words, which act as stop words like "the" and "of" in English.
// Such a word would match nearly every passage, so queries consist of other words.
const functionWords = 100

// drawWord returns a random word: rank r has a probability proportional to 1/r.
//
// For uniform u in [0, 1), the rank nᵘ has a uniform logarithm, and so a density of 1/r. The result is truncated to
// an integer, and ranks count from 0.
func drawWord(random *rand.Rand) string {
	return vocabulary[int(math.Pow(float64(len(vocabulary)), random.Float64()))-1]
}

// contentWord returns a random word that is not a function word, with the same distribution, from rank
// functionWords on.
func contentWord(random *rand.Rand) string {
	most := float64(len(vocabulary)) / functionWords
	return vocabulary[int(functionWords*math.Pow(most, random.Float64()))-1]
}

// makeMarkdown returns a document with a number of sections of about 190 words each. It is deterministic for a seed
// and number of sections. Section headings have two unique words; a section has four paragraphs of four sentences
// of twelve words each.
func makeMarkdown(seed uint64, sections int) []byte {
	random := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // repeatable, not secret
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Document %d %s\n", seed, drawWord(random))
	for section := range sections {
		fmt.Fprintf(&out, "\n## Section %d %s %s\n", section+1, drawWord(random), drawWord(random))
		for range 4 {
			out.WriteString("\n")
			for range 4 {
				for i := range 12 {
					w := drawWord(random)
					if i == 0 {
						w = strings.ToUpper(w[:1]) + w[1:]
					} else {
						out.WriteByte(' ')
					}
					out.WriteString(w)
				}
				out.WriteString(". ")
			}
			out.WriteString("\n")
		}
	}
	return out.Bytes()
}

// uploadFiles uploads files and waits until all are ready. It returns the duration.
//
// The files are in one request, whose body is streamed, so that they are not in memory twice. Ready means that a
// document is in the text index; embeddings may still be pending (waitEmbedded waits for these). It fails if the
// server rejects any of the files: a scene with fewer documents would be too fast. The order of the files is
// random.
func uploadFiles(ctx context.Context, server *process, files map[string][]byte) (time.Duration, error) {
	began := time.Now()
	body, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() { // ends when the request reads or closes the pipe
		var err error
		for name, content := range files {
			var part io.Writer
			if part, err = form.CreateFormFile("files", name); err != nil {
				break
			}
			if _, err = part.Write(content); err != nil {
				break
			}
		}
		writer.CloseWithError(errors.Join(err, form.Close()))
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/documents", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	_ = body.Close()
	if err != nil {
		return 0, err
	}
	var answer struct {
		Rejected []struct{ Filename, Detail string } `json:"rejected"`
	}
	err = errors.Join(json.NewDecoder(resp.Body).Decode(&answer), resp.Body.Close())
	if err != nil || len(answer.Rejected) > 0 {
		return 0, errors.Join(err, fmt.Errorf("upload: %s, rejected: %v", resp.Status, answer.Rejected))
	}
	// It polls each state before ready, for one document only, so that the server does not have to list all.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		left := 0
		for _, state := range []string{"queued", "parsing", "indexing"} {
			var list struct {
				Documents []json.RawMessage `json:"documents"`
			}
			if err := getJSON(ctx, server, "/documents?limit=1&state="+state, &list); err != nil {
				return 0, err
			}
			left += len(list.Documents)
		}
		if left == 0 {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
}

// getJSON decodes a JSON response of the server. It fails for every status except 200. Unknown fields are ignored.
func getJSON(ctx context.Context, server *process, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// searching measures lexical and hybrid search over 50,000 passages.
//
// At full size, 268 documents of 100 sections make about 50,000 passages. Lexical search is first, on a server
// without an embedding model, so embeddings do not disturb its ingestion and search. Then the same data directory
// is opened again with the fake embedding model for hybrid search.
//
// There are three limits: ingestion of 1,000 passages per second, a lexical search in 10 ms and a hybrid one in 25
// ms (p95). docs/performance.md has the results.
func benchSearch(ctx context.Context, b *bench) (rows []row, err error) {
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	model, err := startModel(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.stop()) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	const sections = 100 // sections of a document, about two passages each
	documents := b.scaleTimes(268)
	var took time.Duration
	// In batches of fifty, to limit the memory used here.
	for first := 0; first < documents; first += 50 {
		files := map[string][]byte{}
		for i := first; i < min(documents, first+50); i++ {
			files[fmt.Sprintf("doc-%d.md", i)] = makeMarkdown(uint64(i), sections)
		}
		t, err := uploadFiles(ctx, server, files)
		if err != nil {
			return nil, errors.Join(err, server.stop())
		}
		took += t
	}
	passages, _, err := tallyPassages(ctx, server)
	if err != nil {
		return nil, errors.Join(err, server.stop())
	}
	rate := float64(passages) / took.Seconds()
	rows = append(rows, row{fmt.Sprintf("Markdown ingested, %d passages", passages), "≥ 1,000 passages/s", fmt.Sprintf(
		"%.0f passages/s", rate,
	), rate >= 1000})
	lexical, err := b.searchRow(ctx, server, "lexical", 10*time.Millisecond)
	if err = errors.Join(err, server.stop()); err != nil {
		return rows, err
	}
	rows = append(rows, lexical)
	// The embeddings of the existing documents are computed in the background.
	server, err = b.startFootnote(ctx, data, model, "OPENAI_EMBEDDING_MODEL=bench")
	if err != nil {
		return rows, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := waitEmbedded(ctx, server); err != nil {
		return rows, err
	}
	hybrid, err := b.searchRow(ctx, server, "hybrid", 25*time.Millisecond)
	return append(rows, hybrid), err
}

// searchRow measures a search mode on a freshly started server, and again with other queries on a warm one.
//
// The warm queries are compared with the limit, most. The first queries are shown beside them: the index is read
// from disk then, which matters to an operator who restarts a server.
func (b *bench) searchRow(ctx context.Context, server *process, mode string, most time.Duration) (row, error) {
	fresh, err := runQueries(ctx, server, mode, 1, b.scaleTimes(400))
	if err != nil {
		return row{}, err
	}
	took, err := runQueries(ctx, server, mode, 2, b.scaleTimes(1000))
	if err != nil {
		return row{}, err
	}
	p95 := quantileOf(took, .95)
	return row{fmt.Sprintf("%s search, p95 (p50); the first %d after the start", mode, len(fresh)), "≤ " +
		strconv.Itoa(int(most.Milliseconds())) + " ms",
		fmt.Sprintf(
			"%s (%s); %s (%s)", inMilliseconds(p95), inMilliseconds(quantileOf(took, .5)),
			inMilliseconds(quantileOf(fresh, .95)), inMilliseconds(quantileOf(fresh, .5)),
		), p95 <= most}, nil
}

// runQueries runs searches of 2–6 content words, and every third time a whole question with function words. Each
// seed makes other queries.
//
// The first 20 are not measured. It returns n durations, in the order of the queries, from before the request to
// the last byte of the response. Queries are sequential: this measures latency, not throughput.
func runQueries(ctx context.Context, server *process, mode string, seed uint64, n int) ([]time.Duration, error) {
	random := rand.New(rand.NewPCG(3, seed)) //nolint:gosec // repeatable, not secret
	var took []time.Duration
	for i := range n + 20 {
		words := make([]string, 2+random.IntN(5))
		for j := range words {
			words[j] = contentWord(random)
		}
		query := strings.Join(words, " ")
		if i%3 == 2 {
			query = "What does the " + strings.Join(words, " "+vocabulary[random.IntN(functionWords)]+" and the ") + "?"
		}
		began := time.Now()
		if err := searchOnce(ctx, server, mode, query); err != nil {
			return nil, err
		}
		if i >= 20 {
			took = append(took, time.Since(began))
		}
	}
	return took, nil
}

// searchOnce requests ten passages. It reads the whole response and does not check the results: tests of the
// program do that.
func searchOnce(ctx context.Context, server *process, mode, query string) error {
	body, err := json.Marshal(map[string]any{"query": query, "mode": mode, "top_k": 10})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/search", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("POST /search %q: %s", query, resp.Status)
	}
	return nil
}
