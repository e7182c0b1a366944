package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
)

// findings are what the tools of a run have found, and the footnotes that the answer takes from it.
type findings struct {
	*task
	budget   *budget
	cite     *ground.Citer
	evidence *ground.Evidence
	failed   []string // messages of searches that failed
}

// searchedDocuments reports whether the documents were looked into: a search was completed and none failed, a
// document was read, or passages were shown.
func (f *findings) searchedDocuments() bool {
	readDocs, _, _, searches := f.toolContext.Sources.Readings()
	return searches > 0 && len(f.failed) == 0 || len(readDocs) > 0 || !f.toolContext.Sources.IsEmpty()
}

// noteFailed remembers a search that failed or was cut off.
func (f *findings) noteFailed(t *tools.Tool, s chat.Step) {
	if t != nil && t.Action == chat.ActionSearching && !slices.Contains(f.failed, s.Message) {
		f.failed = append(f.failed, s.Message)
	}
}

// onePassageSuffices reports whether a passage that was found holds every content word of the question.
func (f *findings) onePassageSuffices() bool {
	query := strings.Join(f.asked.Keywords, " ")
	language := text.Detect(f.run.Request.Message)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(query, []string{language})
	if len(words) < 2 {
		return false
	}
	return slices.ContainsFunc(f.toolContext.Sources.All(), func(s ground.Source) bool {
		return corpus.Result{Passage: s.Passage, Document: s.Document}.ShareOf(words) == 1
	})
}

// restsOnTools reports whether an answer needs no footnotes because it says what tools returned that show no passages.
// At least one sentence must say so, or no sentence states anything and the run has searched the documents. A list of
// documents or a sum is such an answer: what it says is checked against the stored output of the call instead of a
// passage.
func (f *findings) restsOnTools(markdown string) bool {
	if f.evidence.Results.IsEmpty() || !f.toolContext.Sources.IsEmpty() && f.asked.Type != question.Metadata {
		return false
	}
	said := f.evidence.FactualClaims(markdown)
	if len(said) == 0 {
		return f.searchedDocuments() // a word on what was searched is true of a search only
	}
	return slices.ContainsFunc(said, func(c ground.Claim) bool { return f.evidence.ResemblesTools(c.Text) })
}

// saidBefore reports whether what was said in the conversation bears out each claim of an answer.
func (f *findings) saidBefore(answer string) bool {
	said := strings.Join(f.conversation.evidence, "\n\n")
	if said == "" {
		return false
	}
	stated := f.evidence.FactualClaims(answer)
	for _, c := range stated {
		if !f.cite.Judge.Resembles(c.Text, "", said) {
			return false
		}
	}
	return len(stated) > 0
}

// statesResult reports whether a sentence says the result of the calculation that is the question.
func (f *findings) statesResult(said string) bool {
	v, ok := f.sumAsked()
	if !ok {
		return false
	}
	result, _ := v.Decimal()
	return f.cite.Judge.States(said, ground.SumMetaWords+f.run.Request.Message, f.run.Request.Message, result)
}

// speaksOf reports whether a sentence of the answer that its passages bear out holds, together with what its footnotes
// quote, more than half of the content words of a part. It closes the parts of a plan that the model found by searches
// of its own, which carry no part's id.
func (f *findings) speaksOf(answer, part string) bool {
	language := text.Detect(part)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(part, []string{language})
	return slices.ContainsFunc(f.evidence.ClaimsOf(answer), func(c ground.Claim) bool {
		if len(c.Numbers) == 0 || !f.evidence.PartlyResembles(c) {
			return false
		}
		said := corpus.Result{Passage: corpus.Passage{Text: c.Text}}
		for _, n := range c.Numbers {
			if n >= 1 && n <= len(f.cite.Citations) {
				cited := f.cite.Citations[n-1]
				said.Passage.Text += "\n" + cited.Quote
				said.Passage.Section += " " + cited.Section
			}
		}
		return said.ShareOf(words) > 0.5
	})
}

// sourcesOf lists the documents behind an answer: the cited ones in order of their first footnote, then those only
// read.
func (f *findings) sourcesOf(citations []chat.Citation) []chat.Source {
	out := []chat.Source{}
	seen := map[string]bool{}
	for _, c := range citations {
		if !seen[c.DocumentID] {
			seen[c.DocumentID] = true
			out = append(out, chat.Source{
				Number: c.Number, DocumentID: c.DocumentID, Title: c.Title, Filename: c.Filename,
				SourceURL: c.SourceURL, Section: c.Section, URL: c.URL, Cited: true,
			})
		}
	}
	readDocs, _, _, _ := f.toolContext.Sources.Readings()
	for _, doc := range readDocs {
		if !seen[doc.ID] {
			seen[doc.ID] = true
			out = append(out, chat.Source{
				DocumentID: doc.ID, Title: doc.DisplayTitle(), Filename: doc.Filename, SourceURL: doc.SourceURL(),
				URL: chat.Link{Document: doc.ID}.String(),
			})
		}
	}
	return out
}

// rankedResults puts what all calls found in one order by a closer look at each passage. It is for Gather, which
// returns results of several tools with several queries: only a score by the run's own question can be compared between
// them. Results below leastGathered are left out.
func (f *findings) rankedResults(most int) []corpus.Result {
	var hits []corpus.Result
	for _, s := range f.toolContext.Sources.All() {
		hit := f.toolContext.Sources.HitOf(s)
		hit.Score = f.toolContext.Sources.ScoreOf(s.Passage.ID)
		hit.Cosine, hit.Similarity = nil, nil
		hits = append(hits, hit)
	}
	hits = corpus.Rerank(f.run.Request.Message, hits)
	hits = slices.DeleteFunc(hits, func(h corpus.Result) bool { return h.Score < leastGathered })
	return hits[:min(most, len(hits))]
}

// restoreSources gives passages, and parts of them, their numbers back. Passages that are gone by now lose theirs,
// which nobody else gets.
func (f *findings) restoreSources(ctx context.Context, shown map[ground.PassageRange]chat.Hit) error {
	if len(shown) == 0 {
		return nil
	}
	var wanted []string
	hits := map[string][]chat.Hit{} // by their passage
	for _, hit := range shown {
		if hits[hit.ChunkID] == nil {
			wanted = append(wanted, hit.ChunkID)
		}
		hits[hit.ChunkID] = append(hits[hit.ChunkID], hit)
		f.toolContext.Sources.Reserve(hit.N)
	}
	slices.Sort(wanted)
	passages, err := f.cfg.Library.Passages(ctx, f.toolContext.ReadScope(), wanted)
	if err != nil {
		return fmt.Errorf("fetch passages: %w", err)
	}
	documents := map[string]corpus.Document{}
	for _, p := range passages {
		doc, ok := documents[p.DocumentID]
		if !ok {
			doc, err = f.cfg.Library.Document(ctx, f.toolContext.ReadScope(), p.DocumentID)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				return fmt.Errorf("find document: %w", err)
			}
			if err != nil || !f.toolContext.InReach(doc) {
				continue
			}
			documents[p.DocumentID] = doc
		}
		for _, hit := range hits[p.ID] {
			part := p
			if hit.End > 0 {
				part = p.Cut(hit.Start, hit.End, hit.Section)
			}
			f.toolContext.Sources.Restore(hit.N, part, doc)
		}
	}
	return nil
}

// noteShown adds the passages that a call showed, and parts of them, with their numbers.
func noteShown(r *chat.StepResult, shown map[ground.PassageRange]chat.Hit) {
	if r == nil {
		return
	}
	for _, hit := range r.Hits {
		if hit.N > 0 && hit.ChunkID != "" {
			shown[ground.PassageRange{PassageID: hit.ChunkID, Start: hit.Start, End: hit.End}] = hit
		}
	}
}

// restoreSourceChanges repeats what a finished call changed in the sources. Documents that are gone by now were read
// all the same, but nobody can name them any more: they are left out.
func (f *findings) restoreSourceChanges(ctx context.Context, s chat.Step) error {
	t := f.set.Find(s.ToolName)
	if t == nil || s.Result == nil || s.Status != chat.StatusComplete {
		return nil
	}
	for _, part := range s.Result.Opened {
		if _, known := f.toolContext.Sources.Document(part.DocumentID); known {
			continue
		}
		doc, err := f.cfg.Library.Document(ctx, f.toolContext.ReadScope(), part.DocumentID)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("find document: %w", err)
		}
		if err == nil && f.toolContext.InReach(doc) {
			f.toolContext.Sources.AddDocuments(doc)
		}
	}
	t.NoteResult(f.toolContext.Sources, *s.Result)
	return nil
}
