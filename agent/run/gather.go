package run

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

var (
	//go:embed gather.md
	gatherPrompt string
	//go:embed reflect_found.md
	reflectFoundDoc string
)

const gatherSeconds = 20 // of the 30 that a caller waits: the rest is for a plain search

// Gathered is what an agent found for a query.
type Gathered struct {
	Results []corpus.Result // best first, each passage once, with one score for all tools: 0–1
	Steps   []chat.Step     // what was done, each as it ended
	Notes   []string
	Spent   chat.Spent // what it took from models; its cost is of all of it, or nil
}

// Gather lets a run choose how to search for its question, and returns what it found instead of an answer. Nothing is
// stored. It fails when the model does: the caller falls back to a search. What was found until then comes with the
// error. Its store of events is a function that collects steps, so all else of a run is as always.
func (e *Engine) Gather(ctx context.Context, run chat.Run, set tools.Set, most int) (out Gathered, err error) {
	ctx, c := NewControl(ctx, run.User)
	w := e.NewRunner(run, set, c)
	defer w.Wait()
	defer c.Close()
	w.budget.limits.Seconds = min(w.budget.limits.Seconds, gatherSeconds)
	cfg := *w.cfg
	cfg.Fallback, w.cfg = nil, &cfg
	w.collectSteps(&out.Steps)
	err = w.gatherPassages(ctx)
	out.Results = w.rankedResults(most)
	if err == nil {
		out.Results, err = w.addListed(ctx, out.Results, out.Steps, most)
	}
	out.Spent = chat.Spent{Tokens: w.budget.tokens, Cost: w.budget.cost}
	// a run without run_done is counted here, or its tokens would be in no sum
	e.stats.countGathered(&w.budget)
	return out, err
}

// collectSteps has a run's steps collected, each as it ended, instead of stored.
func (w *Runner) collectSteps(steps *[]chat.Step) {
	place := map[string]int{}
	w.log.store = func(ctx context.Context, ps ...chat.Payload) error {
		w.countEvents(ctx, ps)
		for _, p := range ps {
			if s, ok := p.(chat.Step); ok {
				// a step that ends takes the place of its beginning
				if i, known := place[s.CallID]; known {
					(*steps)[i] = s
					continue
				}
				place[s.CallID] = len(*steps)
				*steps = append(*steps, s)
			}
		}
		return nil
	}
}

// gatherPassages has the model plan, call tools until it has enough, and judge what it found. It is answerLoop without
// an answer: the text of the last turn is dropped, and a spent budget ends it without an error. Rules may choose here
// as in any run; where they do, the phase is not gathering any more and no model chooses.
func (w *Runner) gatherPassages(ctx context.Context) error {
	if err := w.beginRun(ctx); err != nil {
		return err
	}
	if err := w.findProfile(ctx); err != nil {
		return err
	}
	w.messages.list[0].Text += "\n\n" + strings.TrimSpace(gatherPrompt)
	if plans := &w.run.Request.Config.EnableQueryDecomposition; *plans == nil && w.set.Reflective &&
		!w.model.isRuleBased() && !w.model.isSmall() {
		on := true
		*plans = &on
	}
	if err := w.makePlan(ctx); err != nil {
		return err
	}
	if err := w.searchParts(ctx); err != nil {
		return err
	}
	// the model made of rules reads questions for their words, not for properties of documents
	if c, ok := w.byProperties(choice{}); ok && w.model.isRuleBased() && w.asked.Type == question.Metadata {
		return w.makeChosenCalls(ctx, c)
	}
	if err := w.preselectTools(ctx); err != nil {
		return err
	}
	for again := true; again; {
		if err := w.callTools(ctx); err != nil {
			return err
		}
		var err error
		if again, err = w.reconsiderFound(ctx); err != nil {
			return err
		}
	}
	return nil
}

// callTools lets the model call tools until a turn has no calls or the budget is spent.
func (w *Runner) callTools(ctx context.Context) error {
	for w.phase == gathering {
		if w.budget.checkLimits(); w.budget.stop != "" {
			return nil
		}
		r, err := w.model.completeTurn(ctx)
		if err != nil {
			return err
		}
		w.log.writer.Reset()
		if len(r.calls) == 0 {
			if strings.Trim(r.text, ". \n") == "DONE" {
				return nil
			}
			return w.log.emitDropped(ctx, llm.Dropped{
				Text: r.text, Message: "Removed an answer: only passages were asked for",
			})
		}
		if err := w.runTurnCalls(ctx, r); err != nil {
			return fmt.Errorf("gather: %w", err)
		}
	}
	return nil
}

// reconsiderFound has the model judge, once, whether the passages that were found hold what is asked for. True means
// that its confidence was low and that it searches on, as far as the budget goes. Nothing is judged where one passage
// holds all that the question is about.
func (w *Runner) reconsiderFound(ctx context.Context) (again bool, err error) {
	if w.remedies[foundJudged] || w.budget.stop != "" || w.toolContext.Sources.IsEmpty() || !w.shouldJudge("") ||
		w.asked.Complexity == "simple" && w.onePassageSuffices() {
		return false, nil
	}
	w.remedies[foundJudged] = true
	var b strings.Builder
	b.WriteString("Question: " + w.run.Request.Message + "\n")
	rules := strings.ReplaceAll(reflectFoundDoc, "{{nonce}}", w.nonce)
	room := w.cfg.Features.ContextTokens*8/10 - estimateTokens(rules) - estimateTokens(b.String()) - completeTokens
	w.showPassages(&b, &room)
	step := w.log.newStep("reflect", chat.ActionAnalysing, chat.StatusComplete, "Judged what was found")
	judged, err := w.askJudgement(ctx, &step, []llm.Message{
		{Role: llm.RoleSystem, Text: rules}, {Role: llm.RoleUser, Text: fenceData(w.nonce, b.String())},
	}, nil)
	if err != nil {
		return false, err
	}
	if judged.text == "" {
		step.Status, step.Message = chat.StatusSkipped, "The model did not judge what was found"
		step.ToolStatus = step.Status
	}
	if err := w.log.emitEvents(ctx, step); err != nil || judged.score == nil || *judged.score >= lowConfidence ||
		!w.budget.mayCall() || w.set.SearchTool() == nil {
		return false, err
	}
	w.phase = gathering
	w.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: fmt.Sprintf(
		"A check of what you found gives it a confidence of %.2f. What it says stands below, as data. Search for what "+
			"is missing.\n%s", *judged.score, fenceData(w.nonce, judged.text),
	)}}
	step = w.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, fmt.Sprintf(
		"Judged at %.2f: searching for what is missing", *judged.score,
	))
	step.Summary = judged.text
	return true, w.log.emitEvents(ctx, step)
}

// searchedDocuments reports whether the documents were looked into: a search was completed and none failed, a
// document was read, or passages were shown.
func (k *knowledge) searchedDocuments() bool {
	readDocs, _, _, searches := k.toolContext.Sources.Readings()
	return searches > 0 && len(k.failedSearches) == 0 || len(readDocs) > 0 || !k.toolContext.Sources.IsEmpty()
}

// noteFailed remembers a search that failed or was cut off. Refusals name it: while a search failed, “nothing was
// found” can't be said.
func (k *knowledge) noteFailed(t *tools.Tool, s chat.Step) {
	if t != nil && t.Action == chat.ActionSearching && !slices.Contains(k.failedSearches, s.Message) {
		k.failedSearches = append(k.failedSearches, s.Message)
	}
}

// forgetFailed drops what noteFailed remembered of a search that succeeded when it was made again.
func (k *knowledge) forgetFailed(s chat.Step) {
	k.failedSearches = slices.DeleteFunc(k.failedSearches, func(message string) bool { return message == s.Message })
}

// onePassageSuffices reports whether a passage that was found holds every content word of the question. A question of
// one content word has too little to tell such a passage from any other. Where no language shows itself it is taken as
// English.
func (k *knowledge) onePassageSuffices() bool {
	query := strings.Join(k.asked.Keywords, " ")
	language := text.Detect(k.run.Request.Message)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(query, []string{language})
	if len(words) < 2 {
		return false
	}
	return slices.ContainsFunc(k.toolContext.Sources.All(), func(s cite.Source) bool {
		return corpus.Result{Passage: s.Passage, Document: s.Document}.ShareOf(words) == 1
	})
}

// restsOnTools reports whether an answer needs no footnotes because it says what tools returned that show no passages.
// At least one sentence must say so, or no sentence states anything and the run has searched the documents. A list of
// documents or a sum is such an answer: what it says is checked against the stored output of the call instead of a
// passage. Where passages were shown, each sentence must give the result of a calculation.
func (k *knowledge) restsOnTools(markdown string) bool {
	if k.evidence.Results.IsEmpty() {
		return false
	}
	said := k.evidence.FactualClaims(markdown)
	if !k.toolContext.Sources.IsEmpty() && k.asked.Type != question.Metadata {
		isOther := func(c cite.Claim) bool { return !k.evidence.IsResult(c.Text) }
		return len(said) > 0 && !slices.ContainsFunc(said, isOther)
	}
	if len(said) == 0 {
		return k.searchedDocuments() // a word on what was searched is true of a search only
	}
	return slices.ContainsFunc(said, func(c cite.Claim) bool { return k.evidence.ResemblesTools(c.Text) })
}

// saidBefore reports whether what was said in the conversation bears out each claim of an answer.
func (k *knowledge) saidBefore(answer string) bool {
	said := strings.Join(k.conversation.evidence, "\n\n")
	if said == "" {
		return false
	}
	stated := k.evidence.FactualClaims(answer)
	for _, c := range stated {
		if !k.cite.Judge.Resembles(c.Text, "", said) {
			return false
		}
	}
	return len(stated) > 0
}

// statesResult reports whether a sentence says the result of the calculation that is the question.
func (k *knowledge) statesResult(said string) bool {
	v, ok := k.sumAsked()
	if !ok {
		return false
	}
	result, _ := v.Decimal()
	return k.cite.Judge.States("", said, cite.SumMetaWords+k.run.Request.Message, k.run.Request.Message, result)
}

// speaksOf reports whether a sentence of the answer that its passages bear out holds, together with what its footnotes
// quote, more than half of the content words of a part. It closes the parts of a plan that the model found by searches
// of its own, which carry no part's id.
func (k *knowledge) speaksOf(answer, part string) bool {
	language := text.Detect(part)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(part, []string{language})
	return slices.ContainsFunc(k.evidence.ClaimsOf(answer), func(c cite.Claim) bool {
		if len(c.Numbers) == 0 || !k.evidence.PartlyResembles(c) {
			return false
		}
		said := corpus.Result{Passage: corpus.Passage{Text: c.Text}}
		for _, n := range c.Numbers {
			if n >= 1 && n <= len(k.cite.Citations) {
				cited := k.cite.Citations[n-1]
				said.Passage.Text += "\n" + cited.Quote
				said.Passage.Section += " " + cited.Section
			}
		}
		return said.ShareOf(words) > 0.5
	})
}

// sourcesOf lists the documents behind an answer: the cited ones in order of their first footnote, then those only
// read. It is never nil: it goes into JSON as a list.
func (k *knowledge) sourcesOf(citations []chat.Citation) []chat.Source {
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
	readDocs, _, _, _ := k.toolContext.Sources.Readings()
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
// them. Results that do not fit are left out.
func (k *knowledge) rankedResults(most int) []corpus.Result {
	var hits []corpus.Result
	for _, s := range k.toolContext.Sources.All() {
		hit := k.toolContext.Sources.HitOf(s)
		hit.Score = k.toolContext.Sources.ScoreOf(s.Passage.ID)
		hit.Cosine, hit.Similarity = nil, nil
		hits = append(hits, hit)
	}
	hits = corpus.Fitting(k.run.Request.Message, hits)
	return hits[:min(most, len(hits))]
}

// addListed adds the first passage of each document that a call found by its properties, as far as there is room and
// none of its passages is among the results. Such a document has all of the properties that were asked for: its score
// is 1, or that of the last passage where passages were found by their words.
func (k *knowledge) addListed(
	ctx context.Context, results []corpus.Result, steps []chat.Step, most int,
) ([]corpus.Result, error) {
	score := 1.0
	if len(results) > 0 {
		score = results[len(results)-1].Score
	}
	for _, s := range steps {
		if s.Capability != chat.CapabilityList || s.Result == nil || s.Result.Query == "" {
			continue
		}
		for _, hit := range s.Result.Hits {
			if len(results) == most {
				return results, nil
			}
			doc, known := k.toolContext.Sources.Document(hit.DocumentID)
			if !known || slices.ContainsFunc(results, func(r corpus.Result) bool { return r.Document.ID == doc.ID }) {
				continue
			}
			read, err := k.cfg.Library.Read(ctx, k.toolContext.ReadScope(), corpus.ReadRequest{Document: doc.ID})
			if err != nil {
				return results, fmt.Errorf("read a listed document: %w", err)
			}
			if len(read.Passages) > 0 {
				first := read.Passages[0]
				results = append(results, corpus.Result{Passage: first, Document: doc, Score: score, Page: first.Page})
			}
		}
	}
	return results, nil
}

// restoreSources gives passages, and parts of them, their numbers back. Passages that are gone by now lose theirs,
// which nobody else gets.
func (k *knowledge) restoreSources(ctx context.Context, shown map[cite.PassageRange]chat.Hit) error {
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
		k.toolContext.Sources.Reserve(hit.N)
	}
	slices.Sort(wanted)
	passages, err := k.cfg.Library.Passages(ctx, k.toolContext.ReadScope(), wanted)
	if err != nil {
		return fmt.Errorf("fetch passages: %w", err)
	}
	documents := map[string]corpus.Document{}
	for _, p := range passages {
		doc, ok := documents[p.DocumentID]
		if !ok {
			doc, err = k.cfg.Library.Document(ctx, k.toolContext.ReadScope(), p.DocumentID)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				return fmt.Errorf("find document: %w", err)
			}
			if err != nil || !k.toolContext.InReach(doc) {
				continue
			}
			documents[p.DocumentID] = doc
		}
		for _, hit := range hits[p.ID] {
			part := p
			if hit.End > 0 {
				part = p.Cut(hit.Start, hit.End, hit.Section)
			}
			k.toolContext.Sources.Restore(hit.N, part, doc)
		}
	}
	return nil
}

// noteShown adds the passages that a call showed, and parts of them, with their numbers.
func noteShown(r *chat.StepResult, shown map[cite.PassageRange]chat.Hit) {
	if r == nil {
		return
	}
	for _, hit := range r.Hits {
		if hit.N > 0 && hit.ChunkID != "" {
			shown[cite.PassageRange{PassageID: hit.ChunkID, Start: hit.Start, End: hit.End}] = hit
		}
	}
}

// restoreSourceChanges repeats what a finished call changed in the sources. Documents that are gone by now were read
// all the same, but nobody can name them any more: they are left out.
func (k *knowledge) restoreSourceChanges(ctx context.Context, s chat.Step) error {
	t := k.set.Find(s.ToolName)
	if t == nil || s.Result == nil || s.Status != chat.StatusComplete {
		return nil
	}
	for _, part := range s.Result.Opened {
		if _, known := k.toolContext.Sources.Document(part.DocumentID); known {
			continue
		}
		doc, err := k.cfg.Library.Document(ctx, k.toolContext.ReadScope(), part.DocumentID)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return fmt.Errorf("find document: %w", err)
		}
		if err == nil && k.toolContext.InReach(doc) {
			k.toolContext.Sources.AddDocuments(doc)
		}
	}
	t.NoteResult(k.toolContext.Sources, *s.Result)
	return nil
}
