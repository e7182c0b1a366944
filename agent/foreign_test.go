package agent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

// lend puts a document of another user in and returns its id and that of its first passage.
func (h *house) lend(user, name, body, words string) (id, passage string) {
	h.Helper()
	ctx, stop := context.WithCancel(h.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.library.Run(ctx); err != nil && ctx.Err() == nil {
			h.Errorf("library: %v", err)
		}
	})
	defer wg.Wait()
	defer stop()
	theirs := chat.Scope{User: user}
	doc, _, err := h.library.Add(h.Context(), corpus.Upload{User: user, Filename: name, Body: strings.NewReader(body)})
	if err != nil {
		h.Fatal(err)
	}
	if err := h.library.Wait(h.Context(), theirs, func(corpus.Counts) {}); err != nil {
		h.Fatal(err)
	}
	found, err := h.library.Search(h.Context(), theirs, queryFor(words))
	if err != nil || len(found.Results) == 0 {
		h.Fatalf("the owner finds nothing: %v", err)
	}
	return doc.ID, found.Results[0].Passage.ID
}

// Whoever names another user's document learns as much as of one that never was.
func TestAnotherUsersDocumentIsLikeOneThatNeverWas(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	id, passage := h.lend("ben", "Quokka.md", "# Quokka ledger\n\nThe quokka account holds 977 marsupial coins.\n",
		"quokka account")
	foreign := strings.NewReplacer("ID", id, "PASSAGE", passage, "FILE", "Quokka.md", "TITLE", "Quokka ledger",
		"WORD", "quokka")
	unknown := strings.NewReplacer("ID", chat.NewID(), "PASSAGE", strings.Repeat("x", len(passage)), "FILE",
		"Zyzzyv.md", "TITLE", "Zyzzyv ledger", "WORD", "zyzzyv")
	read := call("read_document", `{"doc_id":"Survey.md"}`)
	for _, tt := range []struct {
		Set, tool, args string
	}{
		{"cursor", "search_documents", `{"query":"WORD marsupial coins"}`},
		{"cursor", "read_document", `{"doc_id":"ID"}`},
		{"cursor", "read_document", `{"doc_id":"ID","focus_query":"WORD","page":2}`},
		{"cursor", "read_document", `{"doc_id":"FILE"}`},
		{"cursor", "read_document", `{"doc_id":"TITLE"}`},
		{"cursor", "read_document", `{"doc_id":"PASSAGE"}`},
		{"cursor", "read_multiple_documents", `{"doc_ids":["ID"]}`},
		{"cursor", "read_multiple_documents", `{"doc_ids":["Survey.md","ID","FILE"]}`},
		{"cursor", "get_document_summary", `{"doc_id":"ID"}`},
		{"cursor", "rerank_documents", `{"doc_ids":["ID"],"query":"coins"}`},
		{"cursor", "rerank_documents", `{"doc_ids":["Survey.md","ID"],"query":"coins"}`},
		{"cursor", "grep_documents", `{"pattern":"marsupial","doc_ids":["ID"]}`},
		{"cursor", "grep_documents", `{"pattern":"WORD"}`},
		{"cursor", "metadata_search", `{"filters":{"title":"TITLE"}}`},
		{"cursor", "metadata_search", `{"filters":{"id":"ID"}}`},
		{"cursor", "list_documents", `{"filters":{"title":"WORD"}}`},
		{"cursor", "cite_source",
			`{"cited_text":"The WORD account holds 977 marsupial coins","block_id":"PASSAGE","citation_number":3}`},
		{"cursor", "cite_source",
			`{"cited_text":"The WORD account holds 977 marsupial coins","block_id":"b1","citation_number":1}`},
		{"cursor", "open_document", `{"citation_number":9,"reason":"TITLE"}`},
		{"react", "retrieve", `{"query":"WORD marsupial coins"}`},
		{"react", "lookup", `{"doc_id":"ID","query":"coins"}`},
		{"react", "lookup", `{"doc_id":"FILE","query":"coins"}`},
		{"strategy", "hybrid_search", `{"query":"WORD marsupial coins"}`},
		{"strategy", "semantic_search", `{"query":"WORD marsupial coins"}`},
		{"documentation", "retrieve_documentation", `{"query":"WORD marsupial coins","top_k":3}`},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			told := func(who *strings.Replacer, only ...string) string {
				cs := []llm.Call{call(tt.tool, who.Replace(tt.args))}
				if tt.Set == "cursor" {
					cs = append([]llm.Call{read}, cs...)
				}
				req := asks("What is known of it?")
				req.Toolset, req.DocumentIDs = tt.Set, only
				steps := h.used(unplanned(req), cs...)
				s := steps[len(steps)-1]
				if s.ToolName != tt.tool {
					t.Fatalf("%s was called, want %s", s.ToolName, tt.tool)
				}
				all, err := json.Marshal([]any{s.Status, s.Message, s.Summary, s.Error, s.ToolOutput, s.Details})
				if err != nil {
					t.Fatal(err)
				}
				return string(all)
			}
			blank := func(text string) string {
				for _, pair := range [][2]string{{"Quokka.md", "Zyzzyv.md"}, {"Quokka", "Zyzzyv"}, {"quokka", "zyzzyv"},
					{id, unknown.Replace("ID")}, {passage, unknown.Replace("PASSAGE")}} {
					text = strings.ReplaceAll(text, pair[0], pair[1])
				}
				return text
			}
			theirs, nobodys := told(foreign), told(unknown)
			if blank(theirs) != nobodys {
				t.Errorf("another user's:\n%s\none that never was:\n%s", theirs, nobodys)
			}
			if strings.Contains(theirs, "977 marsupial") && tt.tool != "cite_source" {
				t.Errorf("it tells what stands in it: %s", theirs)
			}
		})
	}
	narrowed := func(only string) string {
		req := asks("What is known of the coins?")
		req.DocumentIDs = []string{only}
		_, _, err := h.runs.Start(t.Context(), chat.LocalUser, req)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("narrowed to %s: %v, want %v", only, err, chat.CodeNotFound)
			return ""
		}
		return strings.ReplaceAll(chat.MessageOf(err), only, "X")
	}
	if theirs, nobodys := narrowed(id), narrowed(chat.NewID()); theirs != nobodys {
		t.Errorf("narrowed to another user's: %s, to none: %s, want %s", theirs, nobodys, nobodys)
	}
}
