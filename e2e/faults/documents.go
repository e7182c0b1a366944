//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// documentLimit is the timeout until all of a document is found. The lease of a dead replica expires after half a
// minute, and embeddings are retried after a while.
const documentLimit = 4 * time.Minute

// written is a counter for the names and contents of documents.
var written atomic.Int64

// makeDocument returns a document in which every section has unique words, and one that all share.
//
// There are 60 words of nine random letters for each of 24 sections. None is likely to be elsewhere, so a missing
// part is detected by searches without results. The shared word is miller. The same n returns the same document.
func makeDocument(n int64) (body string, words []string) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	var b strings.Builder
	fmt.Fprintf(&b, "# Book %d\n\n", n)
	for i := range 24 {
		fmt.Fprintf(&b, "## Section %d\n\nThe miller", i)
		for range 60 {
			word := make([]byte, 9)
			for k := range word {
				word[k] = byte('a' + rng.IntN(26))
			}
			words = append(words, string(word))
			b.WriteString(" " + string(word))
		}
		b.WriteString(".\n\n")
	}
	return b.String(), words
}

// putDocument retries an upload until a server accepts it, and then waits until all of the document is found, by
// words and by embeddings.
//
// The timeout is 90 seconds, and a status of 5xx or 429 is retried after 200 ms. It returns once a server has
// accepted the document; the check continues in c.wg. After documentLimit, plus the fault's own duration, missing
// parts count as half.
func (c *cell) putDocument(ctx context.Context, g *rig) error {
	n := written.Add(1)
	text, words := makeDocument(n)
	space := fmt.Sprintf("book-%s-%d", life, n)
	body, contentType, err := uploadForm(space, text)
	if err != nil {
		return err
	}
	late := time.After(90 * time.Second)
	var id string
	for id == "" {
		status, answer, err := sendRequest(ctx, http.MethodPost, g.proxy+"/documents", contentType, body, "")
		var taken struct {
			Documents []struct {
				ID string `json:"id"`
			} `json:"documents"`
		}
		if err == nil && status == http.StatusAccepted && json.Unmarshal(answer, &taken) == nil &&
			len(taken.Documents) == 1 {
			id = taken.Documents[0].ID
			break
		}
		if err == nil && status < 500 && status != http.StatusAccepted && status != http.StatusTooManyRequests {
			return fmt.Errorf("POST /documents answered %d %.300s", status, answer)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-late:
			return fmt.Errorf("no server takes a document: %d %.300s %w", status, answer, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, documentLimit+c.lasting)
		defer cancel()
		for {
			err := g.missingParts(ctx, id, space, words)
			if err == nil {
				return
			}
			select {
			case <-time.After(300 * time.Millisecond):
			case <-ctx.Done():
				c.addCounts(func(n *counts) { n.half++ })
				c.noteProblem("document %s: %v", id, err)
				return
			}
		}
	})
	return nil
}

// uploadForm returns a multipart body with one file, book.md, for a namespace, and its content type.
func uploadForm(space, text string) ([]byte, string, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if err := w.WriteField("namespace", space); err != nil {
		return nil, "", err
	}
	part, err := w.CreateFormFile("files", "book.md")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write([]byte(text)); err != nil {
		return nil, "", err
	}
	err = w.Close()
	return body.Bytes(), w.FormDataContentType(), err
}

// missingParts returns an error for missing parts of a document, or nil. Each document is alone in its namespace,
// so a search for the shared word returns every passage, and a semantic search must return the same ones.
func (g *rig) missingParts(ctx context.Context, id, space string, words []string) error {
	status, answer, err := sendRequest(ctx, http.MethodGet, g.proxy+"/documents/"+id, "", nil, "")
	var doc struct {
		State    string `json:"state"`
		Semantic string `json:"semantic"`
	}
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("it is shown with %d %.200s", status, answer))
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		return err
	}
	if doc.State != "ready" || doc.Semantic != "ready" {
		return fmt.Errorf("it is %s, its vectors are %s", doc.State, doc.Semantic)
	}
	byWords, text, err := g.findPassages(ctx, space, "miller", "lexical")
	if err != nil {
		return err
	}
	for i, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("word %d of %d is in none of its %d passages", i, len(words), len(byWords))
		}
	}
	byMeaning, _, err := g.findPassages(ctx, space, "the miller "+words[0], "semantic")
	if err != nil {
		return err
	}
	if !slices.Equal(byWords, byMeaning) {
		return fmt.Errorf("passages found by words begin at %v, by meaning at %v", byWords, byMeaning)
	}
	return nil
}

// findPassages returns the start offsets of a search's results, in order, and their texts. It requests at most 50
// passages, more than a book has.
func (g *rig) findPassages(ctx context.Context, space, query, mode string) (starts []int, text string, err error) {
	body, err := json.Marshal(map[string]any{"query": query, "mode": mode, "namespace": space, "top_k": 50})
	if err != nil {
		return nil, "", err
	}
	status, answer, err := sendRequest(ctx, http.MethodPost, g.proxy+"/search", "application/json", body, "")
	if err != nil || status != http.StatusOK {
		return nil, "", errors.Join(err, fmt.Errorf("search answers %d %.200s", status, answer))
	}
	var found struct {
		Results []struct {
			Text     string `json:"text"`
			Metadata struct {
				Start int `json:"start"`
			} `json:"metadata"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, "", err
	}
	for _, r := range found.Results {
		starts = append(starts, r.Metadata.Start)
		text += r.Text + "\n"
	}
	slices.Sort(starts)
	return starts, text, nil
}

// library holds the documents that runs search and read. All runs search the same library, whatever else is added
// meanwhile.
var library = map[string]string{
	"survey.md": "# Survey\n\n## Roof\n\nThe roof of the mill is in poor condition. Several slates are missing on " +
		"its north slope.\n\n## Damp\n\nThe damp in the kitchen comes from a blocked gutter above the rear wall.\n",
	"lease.md": "# Lease\n\n## Rent\n\nThe rent of the mill is 900 pounds a month, due on the first day.\n\n## " +
		"Repairs\n\nThe tenant repairs the roof and the gutters.\n",
	"diary.txt": "The miller wrote on Monday that the roof leaked again and that the rent was late.\n",
}

// stockLibrary uploads the library and waits until it is ready, including embeddings. It is sent to the first
// replica directly, since the others read it from the database.
func (g *rig) stockLibrary(ctx context.Context) error {
	for name, text := range library {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile("files", name)
		if err != nil {
			return err
		}
		if _, err := part.Write([]byte(text)); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		if status, answer, err := sendRequest(
			ctx, http.MethodPost, g.replicas[0].baseURL()+"/documents", w.FormDataContentType(), body.Bytes(), "",
		); err != nil || status != http.StatusAccepted {
			return errors.Join(err, fmt.Errorf("upload: %d %.300s", status, answer))
		}
	}
	for {
		_, answer, err := sendRequest(ctx, http.MethodGet, g.replicas[0].baseURL()+"/documents", "", nil, "")
		if err == nil && strings.Count(string(answer), `"semantic":"ready"`) == len(library) {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), fmt.Errorf("the library does not become ready: %.500s", answer))
		}
	}
}
