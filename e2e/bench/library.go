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

// vocabulary is a made-up language whose words are as frequent as those of a real one (Zipf's law with exponent 1).
//
// Words have two or three syllables and a last consonant, and there are 20,000 of them. Real texts would do as well,
// but could not be made in any amount, and would need a licence. What makes a search slow is how many passages a word
// is in, and that depends on the frequencies alone. The seed is fixed: every run of the bench, on every machine, has
// the same words in the same order.
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

// functionWords is how many of the most frequent words say nothing by themselves, as "the" and "of" do in English. A
// search for such a word would match nearly every passage, so queries are made of the other words.
const functionWords = 100

// drawWord draws a word: rank r comes up in proportion to 1/r.
//
// With u drawn evenly from [0, 1), the rank nᵘ has a logarithm that is spread evenly, and so a density of 1/r. The
// result is cut to a whole number, and ranks are counted from 0.
func drawWord(random *rand.Rand) string {
	return vocabulary[int(math.Pow(float64(len(vocabulary)), random.Float64()))-1]
}

// contentWord draws a word that is no function word, in the same proportion. It is the same formula from rank
// functionWords on.
func contentWord(random *rand.Rand) string {
	most := float64(len(vocabulary)) / functionWords
	return vocabulary[int(functionWords*math.Pow(most, random.Float64()))-1]
}

// makeMarkdown makes a document of so many sections of about 190 words. The same seed and number of sections make the
// same bytes. Section headings have two words of their own; a section has four paragraphs of four sentences of twelve
// words each.
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

// uploadFiles adds files and waits until all are ready. It returns how long that took.
//
// The files go in one request, whose body is made while it is sent, so that not all of it is in memory twice. Ready
// means that a document is found by its words; vectors may still be missing (waitEmbedded waits for these). It fails
// when the server rejects any of the files: a scene with fewer documents than it names would look too good. The order
// of the files is that of a map, and differs from run to run.
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
	// It asks for each state that comes before ready, and for one document only: the server does not have to list all.
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

// getJSON reads a JSON answer of the server. It fails for every status except 200. Fields that into does not have are
// left out.
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

// searching: 50,000 passages, lexical and hybrid.
//
// At full size, 268 documents of 100 sections make about 50,000 passages. Words come first, on a server that has no
// embedding model at all: its ingestion and its lexical search are then not disturbed by vectors. Then the same data
// directory is opened again with an embedding model, the fake one, and the search is by both.
//
// Three bounds are held: 1,000 passages a second are read in, a lexical search takes 10 ms and a hybrid one 25 ms
// (p95). docs/performance.md has what was measured.
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
	const sections = 100 // of a document, each about two passages
	documents := b.scaleTimes(268)
	var took time.Duration
	// Fifty at a time, so that the texts of only so many are in memory here.
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
	// Vectors are made in the background for what was added before.
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

// searchRow measures a mode of search on a server that just started, and again with other queries once it has
// answered some.
//
// The queries after the first ones decide whether the row is within its bound, most. Those right after the start are
// shown beside them: the index has to be read from the disk then, and somebody who restarts a server wants to know
// what that costs.
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

// runQueries runs searches of 2–6 content words, and every third time a whole question, with function words between
// them. Each seed makes other queries.
//
// The first 20 are not counted. It returns n times, in the order of the queries; each is from before the request to
// the last byte of its answer. Queries come one after the other: this is about how long a search takes, not about how
// many at once.
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

// searchOnce asks for ten passages. It reads the whole answer and does not judge what was found: tests of the program
// do that.
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
