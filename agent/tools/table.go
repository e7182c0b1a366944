package tools

import (
	"encoding/json"

	"github.com/footnote/footnote/agent/tools/calc"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// label returns the label of a tool. Without an argument it has no object.
func label(doing, done, noun, argument string, form chat.LabelForm) *chat.Label {
	return &chat.Label{Doing: doing, Done: done, Noun: noun, Argument: argument, Form: form}
}

// rows returns all tools: the names, parameters, defaults and outputs by which the toolsets know an implementation.
// Requests to a model list the tools of a toolset in this order. The first arguments of the functions are the name, the
// toolsets and, for tools that can replace each other, the order of fallbacks.
//
// The toolsets differ as follows. cursor searches for documents, the others for passages. The default min_score of
// semantic_search is kept for compatibility with clients; the scale of scores depends on the embedding model. Clients
// of documentation rely on the names of parameters and outputs. generate_answer and the required block_id of
// cite_source are for models that were trained for the tools of cursor (docs/decisions/agent.md).
func rows(cfg Config) []*Tool {
	return []*Tool{
		foundDocuments.tool("search_documents", "cursor", 0,
			query("What to search for: keywords or a short question"),
			count("max_results", 50, 10, "How many documents to return at most")),
		foundByMeaning.tool("semantic_search", "strategy", 3,
			query("The search query to find relevant passages"), topK(mostHits, "Number of results to return"),
			share("min_score", 0.7, "Minimum similarity score, 0 to 1")),
		reading("read_document", "cursor strategy", 1, Tool{
			run: reads("Read {1}", 0), Label: label("Reading", "Read", "reading", "doc_id", chat.LabelTitle),
			params: []param{
				docID("doc_id!"), textParam("focus_query", 1000, "Read the parts about this first"),
				count("page", 100000, 1, "Which reading page of a long document"),
			},
		}),
		reading("read_multiple_documents", "cursor", 0, Tool{
			run: readDocuments, Label: label("Reading", "Read", "reading", "", chat.LabelTitle),
			params: []param{docIDs(10), textParam("focus_query", 1000, "Read the parts about this")},
			describe: func(_ *Context, in args) string {
				return "Reading " + english.Count(len(in.DocIDs), "document")
			},
		}),
		{
			Name: "get_document_summary", sets: "cursor", run: summarizeDocument, params: []param{docID("doc_id!")},
			Action: chat.ActionSummarising, Capability: chat.CapabilitySummarise, Retrieval: true, Cached: true,
			Label:    label("Summarizing", "Summarized", "summary", "doc_id", chat.LabelTitle),
			forModel: without("chunk_id"),
		},
		{
			Name: "rerank_documents", sets: "cursor", run: rerankDocuments, Action: chat.ActionAnalysing,
			Retrieval: true, Cached: true,
			Label:  label("Ranking by relevance to", "Ranked by relevance to", "ranking", "query", chat.LabelQuote),
			params: []param{docIDs(mostHits), query("What they should be about")},
			describe: func(_ *Context, in args) string {
				return "Ranking " + english.Count(len(in.DocIDs), "document") + " for: " + text.Shorten(in.Query, 100)
			},
		},
		listing("metadata_search", "cursor strategy", 1, false, Tool{
			Action: chat.ActionSearching, params: []param{property("filters!", filtersSchema)},
			Label: label("Filtering documents", "Filtered documents", "search", "", ""),
		}),
		foundPassages.tool("hybrid_search", "strategy", 1,
			query("What to search for: keywords or a short question"), topK(mostHits, "Number of results to return")),
		listing("list_documents", "cursor", 0, true, Tool{
			Action: chat.ActionExploring,
			params: []param{property("filters", filtersSchema), count("page", 200, 1, "")},
			Label:  label("Listing documents", "Listed documents", "listing", "", ""),
		}),
		{
			Name: "grep_documents", sets: "cursor", run: grepDocuments, Action: chat.ActionSearching,
			Capability: chat.CapabilitySearch, Retrieval: true, Cached: true, unique: true,
			forModel: without("chunk_id"),
			Label:    label("Searching for", "Searched for", "search", "pattern", chat.LabelCode),
			params: []param{
				textParam("pattern!", 500, "RE2 expression or plain text").also("query"),
				property("doc_ids", `{"type":"array","maxItems":50,"items":{"type":"string","minLength":1,
					"maxLength":500},"description":"Only in these; all documents if left out"}`).also("document_ids"),
				count("max_results", 100, 20, ""),
			},
			describe: func(_ *Context, in args) string {
				return "Looking for the exact text: " + text.Shorten(in.Pattern, 100)
			},
		},
		foundPassages.tool("retrieve", "react", 2,
			query("The search query"), topK(mostHits, "Number of results to return")),
		foundFurther.tool("retrieve_more", "react", 0,
			textParam("query", 1000, "The search to go on with; the last one if left out"),
			topK(mostHits, "Number of further results")),
		{
			Name: "query_table", sets: "cursor react", run: queryTable, params: queryTableParams,
			Action: chat.ActionCalculating, Capability: chat.CapabilityQuery, Retrieval: true, Cached: true,
			unique: true,
			Label:  label("Querying the table", "Queried the table", "table lookup", "document", chat.LabelTitle),
			// an answer may state computed values as it does the result of a calculation
			forModel: without("passages"), computed: computedOf, vocabulary: func(in args) string { return in.words() },
		},
		{
			Name: "calculate", sets: "cursor react", run: calculate,
			Action: chat.ActionCalculating, Capability: chat.CapabilityCalculate, withoutPassages: true,
			Label:    label("Calculating", "Calculated", "calculation", "expression", chat.LabelCode),
			params:   []param{textParam("expression!", 1000, "Like (1250 * 1.19 - 300) / 12")},
			computed: func(output json.RawMessage) json.RawMessage { return output },
			whyImpossible: func(in args) error {
				_, err := calc.Evaluate(in.Expression)
				return err
			},
			// words for its operators: “12 times 4”
			vocabulary: func(in args) string { return calc.SpokenOperators(in.Expression) },
		},
		webSearch(cfg.Web, cfg.ApproveWeb),
		{
			Name: "cite_source", sets: "cursor", run: citeSource, Action: chat.ActionAnalysing,
			Capability: chat.CapabilityCite, forModel: without("chunk_id", "boxes"),
			Label: label("Checking the quote", "Checked the quote", "quote check", "cited_text", chat.LabelQuote),
			params: []param{
				textParam("cited_text!", 4000, "The words, exactly as they stand in the document"),
				property("block_id!", `{"type":"string","maxLength":40,
					"description":"The block they stand in, like b12"}`),
				count("citation_number!", 999, 0, "The passage's number n"),
			},
			describe: func(d *Context, in args) string {
				if src, ok := d.Sources.At(in.CitationNumber); ok {
					return "Checking a quote from " + src.Document.DisplayName()
				}
				return "Checking a quote"
			},
		},
		{
			Name: CheckPassages, run: checkPassages, Action: chat.ActionAnalysing, Capability: chat.CapabilityCheck,
			Label: label("Checking passages", "Checked passages", "check", "", ""),
			params: []param{
				textParam("question!", MaxCheckedQuestion, "The question"), property("quotes!", quotesSchema),
			},
			describe: func(_ *Context, in args) string {
				return "Checking " + english.Count(len(in.Quotes), "passage")
			},
		},
		{
			Name: "open_document", sets: "cursor", run: openDocument, Action: chat.ActionOpening,
			Capability: chat.CapabilityOpen,
			Label:      label("Opening", "Opened", "", "doc_id", chat.LabelTitle),
			params: []param{
				count("citation_number", 999, 0, "The passage's number n: opens its document at the passage, or at "+
					"the words that you quoted from it"),
				property("doc_id", `{"type":"string","minLength":1,"maxLength":500,
					"description":"Instead of a number: the document's id, title or file name"}`).also("document_id"),
				textParam("reason!", 300, "Why, for the user"),
			},
			describe: func(d *Context, in args) string {
				name := "a document"
				if in.DocID != "" {
					name = d.displayName(in.DocID)
				}
				if src, ok := d.Sources.At(in.CitationNumber); ok {
					name = src.Document.DisplayName()
				}
				return "Opening " + name
			},
		},
		reading("lookup", "react", 2, Tool{
			run: reads("Read from {1}", lookupRunes),
			params: []param{
				docID("doc_id!").also("document title"),
				textParam("query", 1000, "What to look for in it; its beginning if left out").
					also("focus_query").as("focus_query"),
			},
			Label: label("Reading from", "Read from", "reading", "doc_id", chat.LabelTitle),
			describe: func(d *Context, in args) string {
				doing := "Reading from " + d.displayName(in.DocID)
				if in.FocusQuery != "" {
					doing += " for: " + text.Shorten(in.FocusQuery, 100)
				}
				return doing
			},
		}),
		{
			Name: "summarize", sets: "react", run: summarize, Action: chat.ActionSummarising,
			Capability: chat.CapabilitySummarise, preference: 1,
			Label: label("Summarizing", "Summarized", "summary", "", chat.LabelTitle),
			params: []param{
				property("texts!", `{"type":"array","minItems":1,"maxItems":50,
					"items":{"type":"string","minLength":1,"maxLength":20000},
					"description":"List of text passages to summarize, or their numbers, like [3]"}`).also("passages"),
				textParam("focus", 500, "What aspect to focus the summary on"),
			},
			describe: func(_ *Context, in args) string {
				doing := "Summarizing " + english.Count(len(in.Texts), "passage")
				if in.Focus != "" {
					doing += " for: " + text.Shorten(in.Focus, 100)
				}
				return doing
			},
		},
		{
			Name: "finish", sets: "react", run: finish, Action: chat.ActionThinking, Capability: chat.CapabilityAnswer,
			EndsRun: true, Label: label("Finishing", "Finished", "", "", ""),
			params:   []param{textParam("answer!", 100000, "The final answer to the question")},
			describe: func(*Context, args) string { return "Finishing with an answer" },
		},
		{
			Name: "generate_answer", sets: "cursor", run: generateAnswer, Action: chat.ActionSummarising,
			AnswersNext: true, describe: func(*Context, args) string { return "Preparing the answer" },
		},
		foundChunks.tool("retrieve_documentation", "documentation", 4,
			query("The question or topic to search for in the documentation"),
			topK(20, "Number of most relevant chunks to retrieve (default: 5)"),
			share("similarity_threshold", 0, "Minimum similarity score for results (0.0-1.0, default: 0.0)").
				as("min_score")),
		foundText.tool("retrieve_book_content", "documentation", 5,
			query("The user's question"), topK(20, "Number of passages to retrieve")),
	}
}
