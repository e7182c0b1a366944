//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
)

// namedFile is a file of an upload. content is in memory.
type namedFile struct {
	name    string
	content []byte
}

// severalCells upload several large files concurrently: the memory of one must count against the others.
//
// 168 MiB are parsed here by a server with a limit of 300 MiB. Sizes are near the limit for one file.
func severalCells() []cell {
	return []cell{{name: "files: four of 38 to 45 MiB in one upload", act: func(
		ctx context.Context, s *site, r *result,
	) (string, error) {
		return s.uploadAll(ctx, r, []namedFile{
			{"paragraphs.md", randomWords(45*mib, 80, "\n\n")},
			{"words.txt", randomWords(45*mib, 1<<30, " ")},
			{"column.csv", append([]byte("note\n"), randomWords(38*mib, 5, "\n")...)},
			{"lines.txt", randomWords(40*mib, 12, "\n")},
		})
	}}}
}

// randomWords returns n bytes or a little more of words of two to nine letters, with a separator after every so
// many. It is deterministic, with every as the seed. With every of 1<<30 there is no separator.
func randomWords(n, every int, separator string) []byte {
	random := rand.New(rand.NewPCG(1, uint64(every)))
	var b bytes.Buffer
	for words := 1; b.Len() < n; words++ {
		for range 2 + random.IntN(8) {
			b.WriteByte(byte('a' + random.IntN(26)))
		}
		if words%every == 0 {
			b.WriteString(separator)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.Bytes()
}

// uploadAll adds files with one request and waits until all are ready, failed or refused. All must be accepted;
// their final states are the outcome, in the order of the files.
func (s *site) uploadAll(ctx context.Context, r *result, files []namedFile) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range files {
		r.input += int64(len(f.content))
		part, err := form.CreateFormFile("files", f.name)
		if err != nil {
			return "", err
		}
		if _, err := part.Write(f.content); err != nil {
			return "", err
		}
	}
	if err := form.Close(); err != nil {
		return "", err
	}
	got, err := s.sendRequest(ctx, "", http.MethodPost, "/documents", "application/json",
		form.FormDataContentType(), &body)
	if err != nil {
		return "", fmt.Errorf("upload %d files: %w", len(files), err)
	}
	var said struct {
		Documents []document `json:"documents"`
	}
	if err := json.Unmarshal(got.body, &said); err != nil || len(said.Documents) != len(files) {
		return "", fmt.Errorf("upload %d files: status %d: %s", len(files), got.status, clipBytes(got.body))
	}
	outcomes := make([]string, len(files))
	var all errgroup.Group
	for i, d := range said.Documents {
		all.Go(func() error {
			ended, err := s.waitSettled(ctx, "", d.ID)
			outcomes[i] = ended.describeOutcome()
			return err
		})
	}
	err = all.Wait()
	return strings.Join(outcomes, ", "), err
}
