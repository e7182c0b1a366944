package run

import (
	"cmp"
	"context"
	"errors"
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

// How much of a conversation a model is told, unless the settings (--memory-turns and its neighbours) say
// otherwise. With twice the tokens, for passages, it is less than a seventh of what a history may hold (contextTokens).
const (
	memoryQuestions = 10
	memoryTokens    = 4000
	memoryPassages  = 50
)

// Memory is how much of its conversation a run knows. Zero fields take their defaults: 10, 4,000 and 50. A negative
// one means nothing.
type Memory struct {
	Questions int // questions with their answers
	Tokens    int // of these, and as many again of passages
	Passages  int // that earlier answers rested on, or that were shown for them: the last ones, each once
}

// orDefaults fills in the fields that are zero; a negative one comes out as 0, which is no memory of that kind.
func (m Memory) orDefaults() Memory {
	return Memory{
		Questions: orDefault(m.Questions, memoryQuestions), Tokens: orDefault(m.Tokens, memoryTokens),
		Passages: orDefault(m.Passages, memoryPassages),
	}
}

// orDefault is n, usual for 0, and 0 for a negative n.
func orDefault(n, usual int) int {
	if n == 0 {
		return usual
	}
	return max(0, n)
}

// conversation is what came before a question in its conversation.
type conversation struct {
	messages  []llm.Message   // questions and answers, oldest first
	evidence  []string        // of these, what later answers may rest on: no sentence that was unsupported
	documents []chat.Source   // behind the last answer, in order
	citations []chat.Citation // of the last answer that has any
	passages  []string        // that were shown before, by id, the last ones first, each once
	lost      int             // turns whose stored rows are damaged
	err       error           // why all of it could not be read: the answer goes on without it; nil: it could
}

// historyStep is the phase that says that the conversation could not be read.
const historyStep = "history"

// readConversation reads the shown branch that a run continues, after the turns that came with the request. Turns of a
// request come before those of the session: a client that brings some had them before it came here.
func (k *knowledge) readConversation(ctx context.Context) (conversation, error) {
	out, err := k.readBranch(ctx)
	outside := k.requestHistory()
	for _, m := range outside {
		out.evidence = append(out.evidence, m.Text)
	}
	out.messages = append(outside, out.messages...)
	return out, err
}

// requestHistory makes messages of the last turns that a request brought along. Each text gets an equal part of the
// tokens, so that one long answer does not push out all others.
func (k *knowledge) requestHistory() []llm.Message {
	turns, m := k.run.Request.History, k.cfg.Memory
	var messages []llm.Message
	for _, turn := range turns[max(0, len(turns)-m.Questions):] {
		for i, role := range []llm.Role{llm.RoleUser, llm.RoleAssistant} {
			messages = append(messages, llm.Message{
				Role: role, Text: clipTokens(turn[i], m.Tokens/max(1, m.Questions)),
			})
		}
	}
	return messages
}

// readBranch reads what the run continues: from its parent back to the first question of the shown branch, as far as
// Memory goes. Answers that were replaced by newer versions are not among it. A run whose stored rows are damaged is
// counted in lost and left out. It fails when the store does; what was read until then is dropped.
func (k *knowledge) readBranch(ctx context.Context) (conversation, error) {
	if k.run.ParentID == "" {
		return conversation{}, nil
	}
	runs, err := k.cfg.Store.Runs(ctx, chat.Scope{User: k.run.User}, k.run.SessionID)
	if err != nil {
		return conversation{}, fmt.Errorf("read conversation: %w", err)
	}
	byID := make(map[string]chat.Run, len(runs))
	for _, r := range runs {
		byID[r.ID] = r
	}
	var out conversation
	left := k.cfg.Memory.Tokens
	for id, turns := k.run.ParentID, 0; id != "" && turns < k.cfg.Memory.Questions && left > 0; turns++ {
		past, ok := byID[id]
		if !ok {
			break
		}
		id = past.ParentID
		var known runMemory
		if (past.Answer != "" || past.Status == chat.RunCancelled) && !past.Unreadable {
			known, err = k.readRunMemory(ctx, past)
		}
		if past.Unreadable || errors.Is(err, chat.ErrDamaged) {
			out.lost++
			continue
		}
		if err != nil {
			return conversation{}, err
		}
		if past.Answer != "" {
			answer := clipTokens(cite.WithoutMarkers(past.Answer), left)
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: answer})
			if known.isSupported {
				held := cite.WithoutSentences(past.Answer, known.unsupported)
				out.evidence = append(out.evidence, clipTokens(held, left))
			}
			left -= estimateTokens(answer)
			if len(out.documents) == 0 { // thanks, and what rests on none, leave those before in sight
				out.documents = known.sources
			}
			if len(out.citations) == 0 { // an answer without footnotes leaves those before it in sight
				out.citations = known.citations
			}
			out.addPassages(known.passages, k.cfg.Memory.Passages)
		} else {
			begun := cmp.Or(
				clipTokens(cite.WithoutMarkers(known.begun), left), "(This question was not answered.)",
			)
			out.messages = append(out.messages, llm.Message{Role: llm.RoleAssistant, Text: begun})
			left -= estimateTokens(begun)
		}
		// a question is never left out: without it the answer before makes no sense
		question := clipTokens(past.Request.Message, max(left, 50))
		out.messages = append(out.messages, llm.Message{Role: llm.RoleUser, Text: question})
		out.evidence = append(out.evidence, question)
		left -= estimateTokens(question)
	}
	slices.Reverse(out.messages)
	return out, nil
}

// addPassages keeps passages that are not known yet, up to a limit in all. Passages of later answers come first,
// because the walk goes backwards: with little room, the newest stay.
func (r *conversation) addPassages(passages []string, limit int) {
	for _, id := range passages {
		if len(r.passages) < limit {
			r.passages = text.AppendNew(r.passages, id)
		}
	}
}

const (
	// maxMemories is of how many finished runs it is kept what they rested on. What 25 answers rested on is read in 0.7
	// ms with it and in 2.2 without (BenchmarkRecollect, two busy cores).
	maxMemories = 2000

	// firstRecalled is the number of the first passage that is known from earlier in the conversation: far from those
	// of the run's own, so that a run that goes on after a restart gives out the same numbers again.
	firstRecalled = 501
)

// runMemory is what a finished run leaves to those after it. It is small beside the log that it is read from, which
// holds every result.
type runMemory struct {
	sources   []chat.Source
	citations []chat.Citation
	passages  []string // ids, those of cited ones first
	begun     string   // what was written of an answer that a user stopped

	isSupported bool     // the confidence in its answer is above 0
	unsupported []string // sentences of its answer
}

// readRunMemory reads what an answered run rested on. The memory of a finished run is cached: its log never changes.
// One under way, such as a parent that still runs, is read each time.
func (k *knowledge) readRunMemory(ctx context.Context, run chat.Run) (runMemory, error) {
	if known, ok := k.engine.memories.Get(run.ID); ok {
		return known, nil
	}
	log, err := k.engine.ReadLog(ctx, run)
	if err != nil {
		return runMemory{}, fmt.Errorf("read an earlier answer: %w", err)
	}
	transcript, err := chat.Fold(log)
	if err != nil {
		return runMemory{}, fmt.Errorf("read an earlier answer: %w", err)
	}
	var out runMemory
	if run.Status == chat.RunCancelled {
		out.begun = transcript.Text()
	}
	if a := transcript.Answer; a != nil {
		out.sources, out.citations = a.Sources[:min(len(a.Sources), 20)], a.Citations
		out.isSupported, out.unsupported = a.Confidence > 0, a.Unsupported
	}
	var shown []string
	for _, s := range transcript.Steps {
		if s.Status == chat.StatusComplete && s.ToolName != "" {
			shown = shownIn(s.Result, shown)
		}
	}
	for _, c := range out.citations {
		out.passages = text.AppendNew(out.passages, c.ChunkID)
	}
	for _, id := range shown {
		out.passages = text.AppendNew(out.passages, id)
	}
	if run.Status != chat.RunRunning {
		k.engine.memories.Add(run.ID, out)
	}
	return out, nil
}

// shownIn adds the passages of a tool's result. At most memoryPassages are taken, in the order in which tools showed
// them.
func shownIn(r *chat.StepResult, out []string) []string {
	if r == nil {
		return out
	}
	for _, hit := range r.Hits {
		if hit.ChunkID != "" && len(out) < memoryPassages {
			out = text.AppendNew(out, hit.ChunkID)
		}
	}
	return out
}

// promptEarlierPassages tells the model of the passages that the conversation rested on so far, as far as there is
// room, under numbers of their own: what was found out is still known, and can be cited, without another search.
// Passages of documents that are gone, or not in reach any more, are left out without a word. The room is Memory.Tokens
// once more. Whoever may not see a document gets nothing of it, although it was shown before.
func (w *Runner) promptEarlierPassages(ctx context.Context) error {
	ids := w.conversation.passages
	if len(ids) == 0 || w.givenText() || w.model.isRuleBased() {
		return nil
	}
	passages, err := w.cfg.Library.Passages(ctx, w.toolContext.ReadScope(), ids)
	if err != nil {
		return fmt.Errorf("fetch passages of the conversation: %w", err)
	}
	byID := map[string]corpus.Passage{}
	for _, p := range passages {
		byID[p.ID] = p
	}
	var shown strings.Builder
	left, documents := w.cfg.Memory.Tokens, map[string]corpus.Document{}
	for i, id := range ids {
		p, ok := byID[id]
		if !ok || left <= 0 {
			continue
		}
		doc, known := documents[p.DocumentID]
		if !known {
			if doc, err = w.cfg.Library.Document(ctx, w.toolContext.ReadScope(), p.DocumentID); err != nil &&
				chat.CodeOf(err) != chat.CodeNotFound {
				return fmt.Errorf("find a document of the conversation: %w", err)
			}
			documents[p.DocumentID] = doc
		}
		if doc.ID == "" || !w.toolContext.InReach(doc) || estimateTokens(p.Text) > left {
			continue
		}
		left -= estimateTokens(p.Text)
		w.toolContext.Sources.AddEarlier(firstRecalled+i, p, doc)
		fmt.Fprintf(
			&shown, "[%d] (%s, doc_id %s, %s)\n%s\n\n", firstRecalled+i, text.Shorten(doc.DisplayTitle(), 80), doc.ID,
			text.Shorten(p.Section, 120), p.Text,
		)
	}
	if shown.Len() > 0 {
		w.messages.list[0].Text += "\nWhat tools showed earlier in this conversation. Cite these passages by their " +
			"numbers; search again only for what they do not hold:\n" +
			fenceData(
				w.nonce,
				strings.TrimSpace(shown.String()),
			)
	}
	return nil
}

// knowledge is what a run knows: what it is asked and what it may use, what was said before, and what its tools have
// found. prepareRun completes the first two before the first turn; then they are read only, except that a search within
// one document narrows toolContext for its time. Calls of tools, which run side by side, read toolContext too: its
// Sources and Texts are safe for concurrent use.
type knowledge struct {
	engine           *Engine
	cfg              *Config // the engine's
	control          *Control
	run              chat.Run
	set              tools.Set
	nonce            string // marks what is data, in a way that no document can know; 16 hexadecimal digits
	toolContext      *tools.Context
	documentsInReach int // how many documents can be searched
	asked            question.Analysis
	titled           corpus.Document // that the question names by its title; empty: none
	conversation     conversation
	otherLanguages   string // of the documents in reach, if the question is in none of them; empty: it is
	translated       string // the question as it is searched for in these languages; empty: as it was asked
	small            string // why the run's model has the profile for small ones; empty: it has not

	cite           *cite.Citer    // makes the footnotes that the answer takes from what was found
	evidence       *cite.Evidence // what the answer is compared with
	failedSearches []string       // their messages
}

// newKnowledge is what a run knows before anything was read: its request, and what the engine has for all runs.
func (e *Engine) newKnowledge(run chat.Run, set tools.Set, c *Control) knowledge {
	k := knowledge{engine: e, cfg: e.config(), control: c, run: run, set: set, nonce: newNonce()}
	k.toolContext = e.newToolContext(run)
	k.cite = cite.NewCiter(k.toolContext.Sources, k.toolContext.Texts, run.ID)
	k.evidence = cite.NewEvidence(k.toolContext.Sources, k.cite, run.Request)
	return k
}

// newToolContext is what the tools of a run work with.
func (e *Engine) newToolContext(run chat.Run) *tools.Context {
	top := tools.DefaultTopK
	if k := run.Request.Config.RetrievalTopK; k != nil {
		top = *k
	}
	c := &tools.Context{
		Library: e.config().Library, Scope: chat.Scope{User: run.User}.In(run.Request.Namespace),
		DocumentIDs: run.Request.DocumentIDs,
		RunID:       run.ID, TopK: top, Rerank: e.reranks(run.Request.Config.RerankResults),
		Sources: cite.NewSources(),
	}
	c.Texts = cite.NewTexts(e.config().Library, c.ReadScope())
	return c
}

// reranks reports whether what searches find is put in order once more: as the request says, else when there is a
// reranker for it.
func (e *Engine) reranks(asked *bool) bool {
	if asked == nil {
		return e.config().Reranker
	}
	return *asked
}

// givenText reports whether the answer comes from the text that came with the question, and from nothing else.
func (k *knowledge) givenText() bool { return k.run.Request.ContextText != "" }

// stopCause returns why the run is not carried on here, nil as long as it is. It is asked before each turn and each
// round of calls, and after whatever a stop may have made fail.
func (k *knowledge) stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return context.Cause(k.control.leaving)
}

// countSearchable counts the documents that can be searched, none of a run that has its text given. All of them are
// counted once for each version of the library, which calls of tools know from here on. A question that was narrowed to
// documents has as many in reach as it names. The count is cached for all users of the process, by scope and version:
// on a large library it is a query of its own.
func (k *knowledge) countSearchable(ctx context.Context) (int, error) {
	version, err := k.cfg.Library.Version(ctx, k.toolContext.Scope)
	if err != nil {
		return 0, err
	}
	if k.givenText() {
		return 0, nil
	}
	if n := len(k.toolContext.DocumentIDs); n > 0 {
		return n, nil
	}
	key := k.toolContext.CacheKey("count", "", version)
	if n, ok := k.engine.counts.Get(key); ok {
		return n, nil
	}
	counts, err := k.cfg.Library.Count(ctx, k.toolContext.Scope)
	if err == nil {
		k.engine.counts.Add(key, counts.Ready)
	}
	return counts.Ready, err
}

// findTitled notes the document that a question names by its whole title: what it asks for stands in that one. Only
// questions of kinds that may name a document unawares are looked at. PossibleTitles gives three names at most, so it
// asks the library three times at most.
func (k *knowledge) findTitled(ctx context.Context) error {
	asked := strings.TrimSpace(k.run.Request.Message)
	if k.givenText() || len(asked) > question.MaxAnalysed {
		return nil
	}
	switch k.asked.Type {
	case question.Factual, question.Exploratory, question.Metadata:
	default:
		return nil
	}
	for _, name := range question.PossibleTitles(asked) {
		doc, ok, err := k.toolContext.FindByTitle(ctx, name)
		if err != nil {
			return err
		}
		if ok {
			k.titled, k.asked = doc, k.asked.WithType(question.SpecificDocument, asked)
			return nil
		}
	}
	return nil
}

// needsFootnotes reports whether the answer must rest on passages, or say what tools returned: not so for talk and
// sums.
func (k *knowledge) needsFootnotes() bool { return k.mustCite() && k.asked.NeedsDocuments() }

// mustCite reports whether the answer needs footnotes.
func (k *knowledge) mustCite() bool {
	c := k.run.Request.Config.RequireCitations
	return c == nil || *c
}

// searchWords is the question as it is searched for; one that points back borrows the words of the last one that was
// about something. At most 1,000 characters: what the schemas of the search tools take. What was translated is
// searched for in its translation.
func (k *knowledge) searchWords() string {
	if k.translated != "" {
		return k.translated
	}
	words := k.run.Request.Message
	if k.asked.Type == question.FollowUp {
		for i := len(k.conversation.messages) - 1; i >= 0; i-- {
			if m := k.conversation.messages[i]; m.Role == llm.RoleUser && question.HasSubject(m.Text) {
				words += " " + strings.Join(question.Keywords(m.Text), " ")
				break
			}
		}
	}
	return text.Shorten(words, 1000)
}

// readTool is the tool of the set that reads a document; nil if it has none. It may be another one of its capability
// (tools.Set.Available).
func (k *knowledge) readTool() *tools.Tool {
	for _, name := range k.set.Available([]string{"read_document"}) {
		return k.set.Find(name)
	}
	return nil
}

// isRepeatable reports whether a call of a tool changes nothing elsewhere, so that it may be made twice. It decides
// what becomes of a call that a restart cut off (docs/decisions/replicas.md).
func (k *knowledge) isRepeatable(name string) bool {
	tool := k.set.Find(name)
	return tool != nil && !tool.HasSideEffects
}
