package run

import (
	"context"
	"strings"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

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

	cite           *ground.Citer    // makes the footnotes that the answer takes from what was found
	evidence       *ground.Evidence // what the answer is compared with
	failedSearches []string         // their messages
}

// newKnowledge is what a run knows before anything was read: its request, and what the engine has for all runs.
func (e *Engine) newKnowledge(run chat.Run, set tools.Set, c *Control) knowledge {
	k := knowledge{engine: e, cfg: e.config(), control: c, run: run, set: set, nonce: newNonce()}
	k.toolContext = e.newToolContext(run)
	k.cite = ground.NewCiter(k.toolContext.Sources, k.toolContext.Texts, run.ID)
	k.evidence = ground.NewEvidence(k.toolContext.Sources, k.cite, run.Request)
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
		Sources: ground.NewSources(),
	}
	c.Texts = ground.NewTexts(e.config().Library, c.ReadScope())
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
