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

// Default limits of the conversation's context for a model; the settings (--memory-turns and its neighbours)
// override them. With as many tokens again for passages, this is less than a seventh of a run's token limit for its
// history (contextTokens).
const (
	memoryQuestions = 10
	memoryTokens    = 4000
	memoryPassages  = 50
)

// Memory limits the context that a run gets from its conversation. Zero fields take their defaults: 10, 4,000 and
// 50. A negative field disables that kind.
type Memory struct {
	Questions int // questions with their answers
	Tokens    int // of these questions and answers, and as many again for passages
	Passages  int // cited by earlier answers or retrieved for them: the latest, deduplicated
}

// orDefaults fills in zero fields with their defaults; a negative field becomes 0, which disables that kind.
func (m Memory) orDefaults() Memory {
	return Memory{
		Questions: orDefault(m.Questions, memoryQuestions), Tokens: orDefault(m.Tokens, memoryTokens),
		Passages: orDefault(m.Passages, memoryPassages),
	}
}

// orDefault returns n, usual for 0, and 0 for a negative n.
func orDefault(n, usual int) int {
	if n == 0 {
		return usual
	}
	return max(0, n)
}

// conversation is the context of a question: the earlier turns of its conversation.
type conversation struct {
	messages  []llm.Message   // questions and answers, oldest first
	evidence  []string        // of these, texts that later answers may rest on: without unsupported sentences
	documents []chat.Source   // sources of the last answer that has any, in order
	citations []chat.Citation // of the last answer that has any
	passages  []string        // ids of passages retrieved or cited earlier, latest first, deduplicated
	lost      int             // turns whose stored rows are damaged
	err       error           // why the conversation could not be read; the answer is written without it
}

// historyStep is the step id that reports an unreadable conversation.
const historyStep = "history"

// readConversation reads the shown branch that a run continues. Turns in the request's history come before those of
// the session, since a client had them before the session began.
func (k *knowledge) readConversation(ctx context.Context) (conversation, error) {
	out, err := k.readBranch(ctx)
	outside := k.requestHistory()
	for _, m := range outside {
		out.evidence = append(out.evidence, m.Text)
	}
	out.messages = append(outside, out.messages...)
	return out, err
}

// requestHistory converts the last turns of the request's history to messages. Each text gets an equal share of the
// tokens, so that one long answer does not displace all others.
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

// readBranch reads the shown branch from the run's parent back to its first question, within the limits of Memory.
// It excludes answers that were replaced by newer versions. A run with damaged stored rows is counted in lost and
// skipped. If the store fails, it returns an error and no partial result.
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
			if len(out.documents) == 0 { // an answer without sources, such as a reply to thanks, keeps the earlier ones
				out.documents = known.sources
			}
			if len(out.citations) == 0 { // an answer without footnotes keeps the earlier ones
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
		// a question is never skipped: without it the earlier answer makes no sense
		question := clipTokens(past.Request.Message, max(left, 50))
		out.messages = append(out.messages, llm.Message{Role: llm.RoleUser, Text: question})
		out.evidence = append(out.evidence, question)
		left -= estimateTokens(question)
	}
	slices.Reverse(out.messages)
	return out, nil
}

// addPassages appends passages that are not known yet, up to a total limit. The walk goes backwards, so passages of
// later answers come first and the newest are kept.
func (r *conversation) addPassages(passages []string, limit int) {
	for _, id := range passages {
		if len(r.passages) < limit {
			r.passages = text.AppendNew(r.passages, id)
		}
	}
}

const (
	// maxMemories is the size of the cache of finished runs' memories. With the cache, reading the sources of 25
	// answers takes 0.7 ms, without it 2.2 ms (BenchmarkRecollect, two busy cores).
	maxMemories = 2000

	// firstRecalled is the number of the first passage recalled from earlier in the conversation. It is far above
	// the run's own numbers, so that a resumed run assigns the same numbers again.
	firstRecalled = 501
)

// runMemory is the context that a finished run leaves to later ones. It is small compared with the log that it is
// read from, which holds every result.
type runMemory struct {
	sources   []chat.Source
	citations []chat.Citation
	passages  []string // ids, cited ones first
	begun     string   // partial answer of a run that the user cancelled

	isSupported bool     // the answer's confidence is above 0
	unsupported []string // unsupported sentences of the answer
}

// readRunMemory reads the memory of an answered run from its log. That of a finished run is cached, since its log
// never changes. A run in progress, such as a parent that still runs, is read each time.
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

// shownIn appends the passages of a tool's result, in the order of its hits. It stops at memoryPassages in total.
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

// promptEarlierPassages adds the conversation's earlier passages to the prompt, under numbers of their own. The
// model can cite them without another search. Their token limit is another Memory.Tokens. Passages whose documents
// were deleted, are out of reach, or are not readable for the user any more are skipped silently.
func (w *Runner) promptEarlierPassages(ctx context.Context) error {
	ids := w.conversation.passages
	if len(ids) == 0 || w.givenText() || w.model.isRuleBased() {
		return nil
	}
	found, err := w.fetchPassages(ctx, ids)
	if err != nil {
		return err
	}
	var shown strings.Builder
	left := w.cfg.Memory.Tokens
	for i, id := range ids {
		source, ok := found[id]
		p, doc := source.Passage, source.Document
		if !ok || estimateTokens(p.Text) > left {
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
			fenceData(w.nonce, strings.TrimSpace(shown.String()))
	}
	return nil
}

// knowledge holds a run's question, permissions, conversation and tool results. prepareRun completes the question
// and the conversation before the first turn. After that they are read-only, except that a search within one
// document narrows toolContext while it runs. Parallel tool calls read toolContext too: its Sources and Texts are
// safe for concurrent use.
type knowledge struct {
	engine           *Engine
	cfg              *Config // the engine's
	control          *Control
	run              chat.Run
	set              tools.Set
	nonce            string // delimits data in the prompt, unpredictable for documents; 16 hexadecimal digits
	toolContext      *tools.Context
	documentsInReach int // number of searchable documents
	asked            question.Analysis
	titled           corpus.Document // document whose title the question names; empty: none
	conversation     conversation
	otherLanguages   string // of the documents in reach, if the question is in none of them; else empty
	translated       string // the query translated to these languages; empty: not translated
	small            string // why the run's model has the profile for small models; empty: it has not

	cite           *cite.Citer    // makes the answer's footnotes from tool results
	evidence       *cite.Evidence // compares the answer with its evidence
	failedSearches []string       // messages of the failed searches
}

// newKnowledge returns a run's initial knowledge: its request and the engine's shared parts. It reads nothing.
func (e *Engine) newKnowledge(run chat.Run, set tools.Set, c *Control) knowledge {
	k := knowledge{engine: e, cfg: e.config(), control: c, run: run, set: set, nonce: newNonce()}
	k.toolContext = e.newToolContext(run)
	k.cite = cite.NewCiter(k.toolContext.Sources, k.toolContext.Texts, run.ID)
	k.evidence = cite.NewEvidence(k.toolContext.Sources, k.cite, run.Request)
	return k
}

// newToolContext returns the context that the run's tools share.
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

// reranks reports whether search results are reranked: the request's setting, else whether there is a reranker.
func (e *Engine) reranks(asked *bool) bool {
	if asked == nil {
		return e.config().Reranker
	}
	return *asked
}

// givenText reports whether the answer comes only from the text that the request contains.
func (k *knowledge) givenText() bool { return k.run.Request.ContextText != "" }

// stopCause returns why the run stops on this server; nil: it continues. Callers check it before each turn and each
// round of calls, and after any failure that a stop may have caused.
func (k *knowledge) stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return context.Cause(k.control.leaving)
}

// countSearchable returns the number of searchable documents; 0 for a run with a given text. A question that is
// limited to documents has as many in reach as it names. Otherwise the count is cached for all users of the process,
// by scope and library version, since on a large library it is a query of its own. Reading the version also passes
// it to later tool calls.
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

// findTitled finds the document whose whole title the question names, and sets the question's type to
// SpecificDocument. It checks only question types that may name a document incidentally. PossibleTitles returns at
// most three names, so there are at most three look-ups in the library.
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

// needsFootnotes reports whether the answer must rest on passages or state tool results. Small talk and sums need
// neither.
func (k *knowledge) needsFootnotes() bool { return k.mustCite() && k.asked.NeedsDocuments() }

// mustCite reports whether the answer needs footnotes.
func (k *knowledge) mustCite() bool {
	c := k.run.Request.Config.RequireCitations
	return c == nil || *c
}

// searchWords returns the search query for the question, or its translation if there is one. A follow-up adds the
// keywords of the last question with a subject. The result has at most 1,000 characters, the limit in the search
// tools' schemas.
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

// isRepeatable reports whether a tool has no side effects, so that its call can be retried. It decides how a resumed
// run handles a call that a restart interrupted (docs/decisions/replicas.md).
func (k *knowledge) isRepeatable(name string) bool {
	tool := k.set.Find(name)
	return tool != nil && !tool.HasSideEffects
}
