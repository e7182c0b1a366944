package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
)

// refusal is the sentence for a question without results, from the product's own instructions.
const refusal = "I couldn't find relevant information about that in your documents."

// searchers are the search tools in order of preference. The run's toolset determines which exist.
var searchers = []string{"search_documents", "hybrid_search", "retrieve", "retrieve_documentation"}

// Librarian is the script of a well-behaved model: it searches, reads the best one or two documents, and answers
// with sentences of their text, each with its number. A question may request a fault: see makeTrouble.
//
// Its reply depends only on the history: it is stateless, so any number of runs can be concurrent, and a run can
// continue at another server. Its answer contains only text of tool results, unless a fault is requested.
func Librarian(r Request) Reply {
	question := r.Question()
	if reply, ok := makeTrouble(r, question); ok {
		return reply
	}
	// Without a requested fault it continues like a good model.
	hits, found, read, searched := gatherResults(r.Messages)
	switch {
	case len(read) > 0:
		return Reply{Text: copySentences(read, question)}
	case len(found) > 0 && (r.NoTools || !hasTool(r, "read_document")): // it has to answer before it has read anything
		return Reply{Text: copySentences(found, question)}
	case len(hits) > 0 && !r.NoTools && hasTool(r, "read_document"):
		var reply Reply
		for _, id := range hits[:min(2, len(hits))] {
			reply.Calls = append(
				reply.Calls,
				toolCall("read_document", map[string]any{"doc_id": id, "focus_query": contentWords(question)}),
			)
		}
		return reply
	case searched || r.NoTools:
		return Reply{Text: refusal + " I searched for: " + contentWords(question) + "."}
	}
	for _, tool := range searchers {
		if hasTool(r, tool) {
			return Reply{Calls: []llm.Call{toolCall(tool, map[string]any{"query": contentWords(question)})}}
		}
	}
	return Reply{Text: "This is the scripted model. There are no tools to use."}
}

// makeTrouble returns the reply for a requested fault: #429, #500, #cut, #stall, #empty, #malformed, #loop, #muse,
// #silent, #filter, #invent, #notes, #length, #another and #call.
//
// The word may be anywhere in the question. Some faults wait for a later turn or for tools, and have no effect
// until then; ok reports whether reply is used.
func makeTrouble(r Request, question string) (Reply, bool) {
	query := map[string]any{"query": contentWords(question)}
	switch {
	case strings.Contains(question, "#429"):
		return Reply{Fault: Fault{Status: 429, RetryAfter: "90"}}, true
	case strings.Contains(question, "#500"):
		return Reply{Fault: Fault{Status: 500}}, true
	case strings.Contains(question, "#cut"):
		return Reply{Text: "This reply breaks off in the middle of", Fault: Fault{CutAfter: 4}}, true
	case strings.Contains(question, "#stall"):
		return Reply{Text: "This reply falls silent", Fault: Fault{StallAfter: 2}}, true
	case strings.Contains(question, "#empty"):
		return Reply{Chunks: []string{}}, true
	case strings.Contains(question, "#filter"):
		return Reply{Text: "I can't", Finish: llm.FinishFilter}, true
	case strings.Contains(question, "#invent") && r.Turn() > 1: // it has searched and read
		return Reply{Text: "The king keeps seven dragons in the cellar [1]."}, true
	case strings.Contains(question, "#notes") && r.Turn() > 1:
		// It cites a passage that is not in its context, and miscalculates.
		_, found, read, _ := gatherResults(r.Messages)
		return Reply{
			Text: copySentences(append(read, found...), question) +
				" That was in 1999 [99]. Altogether it is 2 + 3 = 6.",
		}, true
	case strings.Contains(question, "#length") && r.Turn() > 1: // like a server's token limit
		_, found, read, _ := gatherResults(r.Messages)
		return Reply{
			Text: copySentences(append(read, found...), question) + " The other gable", Finish: llm.FinishLength,
		}, true
	case strings.Contains(question, "#another") && r.Turn() > 1: // it does not end with its turn
		_, found, read, _ := gatherResults(r.Messages)
		return Reply{
			Text: copySentences(append(read, found...), question) +
				"<|im_end|>\n<|im_start|>user\nAnd the south gable?",
		}, true
	case len(spelledCalls(question, r.Turn())) > 0 && !r.NoTools:
		return Reply{Calls: spelledCalls(question, r.Turn())}, true
	case strings.Contains(question, "#call "):
		return Reply{Text: repeatResults(r.Messages)}, true
	case strings.Contains(question, "#malformed") && r.Turn() == 0:
		return Reply{Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query": "ro`)}}}, true
	case strings.Contains(question, "#loop") && !r.NoTools:
		return Reply{Calls: []llm.Call{toolCall("search_documents", query)}}, true
	case strings.Contains(question, "#muse") && r.Turn() == 0: // a long thought
		return Reply{Chunks: []string{strings.Repeat("Slate or tile? ", 1000), "Slate."}, Calls: []llm.Call{
			toolCall("search_documents", query),
		}}, true
	case strings.Contains(question, "#silent") && r.Turn() > 0 && !r.NoTools: // no text until it must answer
		return Reply{Text: "This is never said.", Fault: Fault{StallAfter: -1}}, true
	}
	return Reply{}, false
}

// hasTool reports whether the request offers a tool.
func hasTool(r Request, tool string) bool {
	return slices.ContainsFunc(r.Tools, func(t llm.ToolSpec) bool { return t.Name == tool })
}

// toolCall returns a call without an id; fillReply adds one.
func toolCall(name string, arguments map[string]any) llm.Call {
	raw, _ := json.Marshal(arguments) // encoding strings and numbers can't fail
	return llm.Call{Name: name, Arguments: raw}
}

// passage is a passage in a tool result, with its citation number. N is 1 or more.
type passage struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// gatherResults parses the tool results since the last question.
//
// hits are document ids, the best first, found the passages of searches, and read those of opened documents.
// searched reports whether a search ran, also one without results or with an error. The formats of all toolsets are
// parsed, each by its fields.
func gatherResults(history []llm.Message) (hits []string, found, read []passage, searched bool) {
	for _, msg := range slices.Backward(history) {
		if msg.Role == llm.RoleUser {
			break
		}
		if msg.Role != llm.RoleTool {
			continue
		}
		var out struct {
			Documents []struct {
				DocID    string    `json:"doc_id"`
				Passages []passage `json:"passages"`
			} `json:"documents"`
			TotalFound *int      `json:"total_found"`
			Passages   []passage `json:"passages"`
			Results    []struct {
				DocID     string `json:"doc_id"`
				N         int    `json:"n"`
				Content   string `json:"content"`
				ChunkText string `json:"chunk_text"`
			} `json:"results"`
		}
		// The JSON may follow a note about the tool's input.
		start := strings.IndexByte(msg.Text, '{')
		if start < 0 || json.NewDecoder(strings.NewReader(msg.Text[start:])).Decode(&out) != nil {
			searched = true
			continue
		}
		searched = searched || out.TotalFound != nil || out.Results != nil
		for _, hit := range out.Results {
			found = append(found, passage{hit.N, hit.Content + hit.ChunkText})
			if hit.DocID != "" && !slices.Contains(hits, hit.DocID) {
				hits = append(hits, hit.DocID)
			}
		}
		read = append(slices.Clone(out.Passages), read...)
		for _, doc := range out.Documents {
			if out.TotalFound == nil {
				read = append(read, doc.Passages...)
			} else if doc.DocID != "" {
				hits = append(hits, doc.DocID)
				found = append(found, doc.Passages...)
			}
		}
	}
	return hits, found, read, searched
}

// copySentences copies the sentences that share most words with the question, each with its passage's number. It
// copies at most three, the best first. Ties are in document order, also if none shares a word.
func copySentences(passages []passage, question string) string {
	// n is the passage's number, score the number of the question's words in the sentence.
	type found struct {
		text  string
		n     int
		score int
	}
	wanted := strings.Fields(strings.ToLower(contentWords(question)))
	var all []found
	for _, p := range passages {
		for _, sentence := range cutSentences(p.Text) {
			score := 0
			lower := strings.ToLower(sentence)
			for _, word := range wanted {
				if strings.Contains(lower, word) {
					score++
				}
			}
			all = append(all, found{sentence, p.N, score})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.score - a.score })
	var b strings.Builder
	for i, f := range all[:min(3, len(all))] {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s [%d]", f.text, f.n)
	}
	return b.String()
}

// cutSentences splits a text at full stops and line ends. A full stop counts only before a space or at the end, so
// “3.5” stays whole. Headings and segments of eight bytes or less are skipped.
func cutSentences(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for len(line) > 0 {
			end := strings.IndexAny(line, ".!?")
			for end >= 0 && end+1 < len(line) && line[end+1] != ' ' {
				next := strings.IndexAny(line[end+1:], ".!?")
				if next < 0 {
					end = -1
					break
				}
				end += 1 + next
			}
			if end < 0 {
				end = len(line) - 1
			}
			if s := strings.TrimSpace(line[:end+1]); len(s) > 8 && !strings.HasPrefix(s, "#") {
				out = append(out, s)
			}
			line = line[end+1:]
		}
	}
	return out
}

// stopWords are English words without meaning for a search.
var stopWords = strings.Fields("a an and are as at be by can did do does for from had has have how i in is it its me " +
	"my of on or that the " +
	"their there this to was we were what when where which who why will with would you your about tell give please")

// contentWords returns a question's content words, at most twelve, in order. A question without any keeps all of
// its words. Hyphens stay in words.
func contentWords(question string) string {
	words := strings.FieldsFunc(
		question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' },
	)
	kept := slices.DeleteFunc(
		slices.Clone(words), func(w string) bool { return slices.Contains(stopWords, strings.ToLower(w)) },
	)
	if len(kept) == 0 {
		kept = words
	}
	return strings.Join(kept[:min(12, len(kept))], " ")
}
