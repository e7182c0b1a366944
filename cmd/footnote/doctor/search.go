package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/cmd/footnote/wire"
	"github.com/footnote/footnote/corpus/extract/child"
	"github.com/footnote/footnote/corpus/extract/office"
	"github.com/footnote/footnote/corpus/milvus"
)

// vectorStore checks the vector store, if one is configured. An unreachable server is an error, although search
// falls back to the text index. The server's own description is shown.
func vectorStore(ctx context.Context, set *settings.Settings) []Finding {
	if set.MilvusAddress == "" {
		return nil
	}
	found := Finding{What: "Milvus"}
	model, err := wire.EmbeddingName(set)
	if err != nil {
		found.Err = err
		return []Finding{found}
	}
	vectors, err := milvus.New(set.Milvus(model, command.QuietLogger(io.Discard)))
	if err != nil {
		found.Err = err
		return []Finding{found}
	}
	err = vectors.Ping(ctx)
	found.Fine = fmt.Sprintf("%s answers: %s", set.MilvusAddress, vectors.About())
	if err := errors.Join(err, vectors.Close()); err != nil {
		found.Err = fmt.Errorf("%w (MILVUS_ADDRESS is %s); keyword search still works", err, set.MilvusAddress)
	}
	return []Finding{found}
}

// embeddedHere checks the embedding model in this process and measures its speed. The speed is that of sequential
// queries, which allow an estimate of the time for a library. The first query loads the model and is not counted.
func embeddedHere(ctx context.Context, set *settings.Settings) Finding {
	r := Finding{What: "semantic search"}
	model, err := wire.OpenEmbedder(set)
	if err != nil {
		r.Err = err
		return r
	}
	defer func() { r.Err = errors.Join(r.Err, model.Close()) }()
	text := strings.Repeat("The lease of the house ends in spring. ", paceWords/8)
	if _, r.Err = model.EmbedQuery(ctx, text); r.Err != nil { // the first query loads the model
		return r
	}
	begun, n := time.Now(), 0
	for ; time.Since(begun) < paceTime && r.Err == nil; n++ {
		_, r.Err = model.EmbedQuery(ctx, text)
	}
	r.Fine = fmt.Sprintf("%s runs in this process: %s; about %.0f passages of %d words per second on one processor",
		model.Model(), model.About(), float64(n)/time.Since(begun).Seconds(), paceWords)
	return r
}

const (
	paceTime  = 300 * time.Millisecond // duration of the measurement of an embedding model
	paceWords = 150                    // length of the measured text in words: some 200 tokens
)

// checkRerank sends two passages to the reranker, if one is configured. Its timeout is that of the settings, after
// which a search skips it. The better passage must rank first.
func checkRerank(ctx context.Context, set *settings.Settings) []Finding {
	if set.RerankDir == "" && set.RerankURL == "" {
		return nil
	}
	found := Finding{What: "reranker"}
	r, err := wire.OpenReranker(set)
	if err != nil {
		found.Err = err
		return []Finding{found}
	}
	ctx, cancel := context.WithTimeout(ctx, set.RerankTime)
	defer cancel()
	begun := time.Now()
	scores, err := r.Scores(ctx, "Which colour does the sky have?", []string{"The sky is blue.", "Bread is baked."})
	found.Err = errors.Join(err, r.Close())
	if found.Err == nil {
		found.Fine = fmt.Sprintf("works (%.1f s for two passages)", time.Since(begun).Seconds())
		// A model of another type loads as well, but returns meaningless scores.
		if scores[0] <= scores[1] {
			found.Fine += ", but its scores are meaningless: it may not be a reranker"
		}
	}
	return []Finding{found}
}

// checkOffice checks whether Office files are rendered. With the setting, a missing soffice and a system that can't
// sandbox it are errors: the pages would be missing without notice.
func checkOffice(set *settings.Settings) Finding {
	f := Finding{What: "pages of Office files", Fine: "off: shown as text"}
	if set.OfficePages {
		program, err := office.Program()
		_, refused := wire.OfficePages(set)
		f.Fine, f.Err = "rendered by "+program, errors.Join(err, refused)
	}
	return f
}

// checkConfinement checks whether programs that parse files are sandboxed. Without a sandbox they keep their
// limits, and Office files are not rendered; that is not an error of the settings.
func checkConfinement() Finding {
	f := Finding{What: "confinement", Fine: "programs that parse files have access to their file only, and no network"}
	if err := child.Refused(); err != nil {
		f.Fine = "none, programs that parse files have access to the server's disk: " + err.Error()
	}
	return f
}
