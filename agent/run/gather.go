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
	"github.com/footnote/footnote/text/locale"
)

var (
	//go:embed gather.md
	gatherPrompt string
	//go:embed reflect_found.md
	reflectFoundDoc string
)

const gatherSeconds = 20 // of the caller's timeout of 30 s; the rest is for a plain search

// Gathered holds the passages that an agent retrieved for a query.
type Gathered struct {
	Results []corpus.Result // best first, deduplicated, with one score for all tools: 0–1
	Steps   []chat.Step     // steps, in the order they began, in their last state
	Notes   []string
	Spent   chat.Spent // usage of models; the cost is nil if a part of it has no price
}

// Gather has a run choose how to search for its question, and returns the passages instead of an answer. Nothing is
// stored: steps are collected in memory, and all else is as in any run. It fails if the model does; results so far
// are returned with the error, and the caller falls back to a plain search.
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
	// a run without run_done must be counted here
	e.stats.countGathered(&w.budget)
	return out, err
}

// collectSteps replaces the run's event store by one that collects steps in memory, each in its last state.
func (w *Runner) collectSteps(steps *[]chat.Step) {
	place := map[string]int{}
	w.log.store = func(ctx context.Context, ps ...chat.Payload) error {
		w.countEvents(ctx, ps)
		for _, p := range ps {
			if s, ok := p.(chat.Step); ok {
				// the end of a step replaces its beginning
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

// gatherPassages has the model plan, call tools until it has enough, and judge the results. It is answerLoop without
// an answer: the text of the last turn is dropped, and a spent budget is no error. Rules may choose as in any run;
// then the phase is not gathering any more and the model chooses no tools.
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
	// the rule-based model matches words of questions, not properties of documents
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

// callTools has the model call tools until a turn has no calls or the budget is spent.
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
				Text: r.text, Message: "Removed an answer: only passages were requested",
			})
		}
		if err := w.runTurnCalls(ctx, r); err != nil {
			return fmt.Errorf("gather: %w", err)
		}
	}
	return nil
}

// reconsiderFound has the model judge, once, whether the retrieved passages answer the question. again is true if
// its confidence is low and the budget allows another search. It skips simple questions if one passage holds all of
// their words.
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
	step := w.log.newStep("reflect", chat.ActionAnalysing, chat.StatusComplete, "Evaluated the results")
	judged, err := w.requestJudgement(ctx, &step, []llm.Message{
		{Role: llm.RoleSystem, Text: rules}, {Role: llm.RoleUser, Text: fenceData(w.nonce, b.String())},
	}, nil)
	if err != nil {
		return false, err
	}
	if judged.text == "" {
		step.Status, step.Message = chat.StatusSkipped, "The model did not evaluate the results"
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
	step = w.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, locale.Message(fmt.Sprintf(
		"Score %.2f: searching for missing information", *judged.score,
	)))
	step.Summary = judged.text
	return true, w.log.emitEvents(ctx, step)
}

// searchedDocuments reports whether the documents were searched: a search completed and none failed, a document was
// read, or passages were retrieved.
func (k *knowledge) searchedDocuments() bool {
	readDocs, _, _, searches := k.toolContext.Sources.Readings()
	return searches > 0 && len(k.failedSearches) == 0 || len(readDocs) > 0 || !k.toolContext.Sources.IsEmpty()
}

// noteFailed records a search that failed or was cut off. Refusals name it, since after a failed search “nothing was
// found” would be untrue.
func (k *knowledge) noteFailed(t *tools.Tool, s chat.Step) {
	if t != nil && t.Action == chat.ActionSearching && !slices.Contains(k.failedSearches, s.Message) {
		k.failedSearches = append(k.failedSearches, s.Message)
	}
}

// forgetFailed removes a recorded search failure after a successful retry.
func (k *knowledge) forgetFailed(s chat.Step) {
	k.failedSearches = slices.DeleteFunc(k.failedSearches, func(message string) bool { return message == s.Message })
}

// onePassageSuffices reports whether one retrieved passage holds every content word of the question. It is false for
// a question with fewer than two content words. An undetected language is treated as English.
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

// restsOnTools reports whether an answer needs no footnotes because it states results of tools that return no
// passages. At least one sentence must state such a result, or none is factual and the run searched the documents.
// Lists of documents and sums are checked against the stored output of the call. If passages were retrieved, each
// sentence must give the result of a calculation, except for questions about documents' metadata.
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
		return k.searchedDocuments() // a sentence on the searches is true only after a search
	}
	return slices.ContainsFunc(said, func(c cite.Claim) bool { return k.evidence.ResemblesTools(c.Text) })
}

// quotedEarlier reports whether the conversation supports each claim of an answer.
func (k *knowledge) quotedEarlier(answer string) bool {
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

// statesResult reports whether a sentence states the result of the calculation in the question.
func (k *knowledge) statesResult(said string) bool {
	v, ok := k.sumAsked()
	if !ok {
		return false
	}
	result, _ := v.Decimal()
	return k.cite.Judge.States("", said, cite.SumMetaWords+k.run.Request.Message, k.run.Request.Message, result)
}

// coversPart reports whether a supported sentence of the answer covers a part of the plan. Together with its
// footnotes' quotes, the sentence must contain more than half of the part's content words. It completes parts that
// the model found by its own searches, which carry no part's id.
func (k *knowledge) coversPart(answer, part string) bool {
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

// sourcesOf returns the documents behind an answer: the cited ones in order of their first footnote, then those only
// read. It is never nil, so that it encodes to a JSON list.
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

// rankedResults reranks the passages of all calls by the run's question and omits those that don't fit. Gather needs
// it, since scores of different tools and queries are not comparable.
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

// addListed appends the first passage of each document that a metadata search returned, up to most results and once
// per document. Such a document has all requested properties: its score is 1, or that of the last passage if
// passages were found by their words.
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

// restoreSources restores the numbers of passages and of parts of them. The number of a deleted passage stays
// reserved, and is never assigned again.
func (k *knowledge) restoreSources(ctx context.Context, shown map[cite.PassageRange]chat.Hit) error {
	if len(shown) == 0 {
		return nil
	}
	var wanted []string
	hits := map[string][]chat.Hit{} // by passage
	for _, hit := range shown {
		if hits[hit.ChunkID] == nil {
			wanted = append(wanted, hit.ChunkID)
		}
		hits[hit.ChunkID] = append(hits[hit.ChunkID], hit)
		k.toolContext.Sources.Reserve(hit.N)
	}
	slices.Sort(wanted)
	found, err := k.fetchPassages(ctx, wanted)
	for id, source := range found {
		for _, hit := range hits[id] {
			part := source.Passage
			if hit.End > 0 {
				part = part.Cut(hit.Start, hit.End, hit.Section)
			}
			k.toolContext.Sources.Restore(hit.N, part, source.Document)
		}
	}
	return err
}

// fetchPassages returns passages by id, with their documents. Those that were deleted or are out of reach are missing.
func (k *knowledge) fetchPassages(ctx context.Context, ids []string) (map[string]corpus.Result, error) {
	passages, err := k.cfg.Library.Passages(ctx, k.toolContext.ReadScope(), ids)
	if err != nil {
		return nil, fmt.Errorf("fetch passages: %w", err)
	}
	found, documents := map[string]corpus.Result{}, map[string]corpus.Document{}
	for _, p := range passages {
		doc, known := documents[p.DocumentID]
		if !known {
			if doc, err = k.documentInReach(ctx, p.DocumentID); err != nil {
				return nil, err
			}
			documents[p.DocumentID] = doc
		}
		if doc.ID != "" {
			found[p.ID] = corpus.Result{Passage: p, Document: doc}
		}
	}
	return found, nil
}

// documentInReach returns a document, or an empty one if it was deleted or is out of reach.
func (k *knowledge) documentInReach(ctx context.Context, id string) (corpus.Document, error) {
	doc, err := k.cfg.Library.Document(ctx, k.toolContext.ReadScope(), id)
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return corpus.Document{}, fmt.Errorf("find document: %w", err)
	}
	if err != nil || !k.toolContext.InReach(doc) {
		return corpus.Document{}, nil
	}
	return doc, nil
}

// noteShown adds the passages of a call, and parts of them, with their numbers.
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

// restoreSourceChanges applies the changes that a finished call made to the sources. Documents deleted since are
// skipped.
func (k *knowledge) restoreSourceChanges(ctx context.Context, s chat.Step) error {
	t := k.set.Find(s.ToolName)
	if t == nil || s.Result == nil || s.Status != chat.StatusComplete {
		return nil
	}
	for _, part := range s.Result.Opened {
		if _, known := k.toolContext.Sources.Document(part.DocumentID); known {
			continue
		}
		doc, err := k.documentInReach(ctx, part.DocumentID)
		if err != nil {
			return err
		}
		if doc.ID != "" {
			k.toolContext.Sources.AddDocuments(doc)
		}
	}
	t.NoteResult(k.toolContext.Sources, *s.Result)
	return nil
}
