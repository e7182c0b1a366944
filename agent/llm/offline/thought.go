package offline

import "strconv"

// why says in a sentence what the rules make calls for, which all have one reason. It is shown as the model's
// reasoning. It must say what the rules really did.
func why(t turn, calls []step) string {
	tool, n := calls[0].tool, len(calls)
	switch {
	case isSearch(tool) && t.rounds() == 0:
		return "Nothing was searched for this question yet: I look for its words."
	case isSearch(tool):
		return "What was found does not answer the question yet: I search again, in other words."
	case isReading(tool) && calls[0].input["page"] != nil:
		return "What is asked for may stand anywhere: I read the whole of what fits best."
	case isReading(tool) && n == 1 && t.rounds() == 0:
		return "The question is about this document: I read what it says."
	case isReading(tool) && n == 1:
		return "This document fits best: I read what stands around the words that were found."
	case isReading(tool):
		return "These " + strconv.Itoa(n) + " documents fit best: I read what stands around the words that were found."
	case tool == "calculate":
		return "All figures of the sum are known: I calculate it."
	case tool == queryTool:
		return "The question asks for something of many rows: I ask the table, which has them all."
	case tool == "get_document_summary" && n == 1:
		return "The question is about one document: its own sentences sum it up."
	case tool == "get_document_summary":
		return "A summary of the documents is asked for: each is summed up from its own sentences."
	}
	return "The question asks which documents there are: I look through the list of them."
}
