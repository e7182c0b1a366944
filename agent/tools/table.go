package tools

// row is a tool and its toolsets.
type row struct {
	build func() (*Tool, error)
	sets  string // names of toolsets, separated by spaces
}

// tableOf returns all tools with their toolsets. To add one, write its entry here, and its own file with the text
// for models beside it. Requests to a model list the tools of a toolset in this order.
func tableOf(cfg Config) []row {
	return []row{
		{searchDocuments, "cursor"},
		{semanticSearch, "strategy"},
		{readDocument, "cursor strategy"},
		{readMultipleDocuments, "cursor"},
		{documentSummary, "cursor"},
		{rerankDocuments, "cursor"},
		{metadataSearch, "cursor strategy"},
		{hybridSearch, "strategy"},
		{listDocuments, "cursor"},
		{grepDocuments, "cursor"},
		{retrieve, "react"},
		{retrieveMore, "react"},
		{queryTable, "cursor react"},
		{calculate, "cursor react"},
		{webSearch(cfg.Web, cfg.ApproveWeb), "react"},
		{citeSource, "cursor"},
		{checkPassages, ""},
		{openDocument, "cursor"},
		{lookup, "react"},
		{summarize, "react"},
		{finish, "react"},
		{generateAnswer, "cursor"},
		{retrieveDocumentation, "documentation"},
		{retrieveBookContent, "documentation"},
	}
}
