package openapi

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/export"
)

func tableRoutes() []Operation {
	return []Operation{
		route("POST /agent/table", "Create a table").
			says(`Asks the same questions about each document: one row per document, one column per question. A separate
			run answers each cell from its document alone, with quotes. The table is filled in the background and
			stops at max_tokens. With preview no table is created: the response has its rows and its number of
			cells.`).
			takes(api.NewTable{}, `{
				"columns": [{"name": "Notice period"}, {"name": "Rent", "question": "How much is the rent a month?"}],
				"preview": true
			}`).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "The table was created and is being filled.", api.DocumentTable{}).
			gives("The preview.", api.DocumentTable{}),
		route("GET /tables", "List tables").
			gives("The tables, newest first, without their cells.", api.TableList{}),
		route("GET /tables/:id", "Get a table with its cells").
			says("Cells are returned row by row. Omitted cells are pending.").
			gives("The table.", api.DocumentTable{}),
		route("DELETE /tables/:id", "Delete a table").
			empty("The table was deleted, with its runs.").
			redirects(tablesPage),
		route("POST /tables/:id/stop", "Stop filling a table").
			says("Active cells are completed.").
			gives("The table.", api.DocumentTable{}).
			redirects(tablesPage),
		route("POST /tables/:id/resume", "Resume filling a table").
			says(`Fills the pending and failed cells. For a table that stopped at max_tokens, the limit increases by
			1,000,000 tokens.`).
			gives("The table.", api.DocumentTable{}).
			redirects(tablesPage),
		route("GET /tables/:id/events", "Stream a table's events").
			says(`Server-sent events: table, then a cell event for each changed cell, and table_done when filling
			stops.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("The event stream."),
		route("GET /tables/:id/export", "Export a table").
			says(`xlsx is a workbook with a second sheet of quotes. csv has a quote and its URL after each column. No
			cell is a formula.`).
			with(query("format", oneOf("xlsx", "csv", "json"), "The file format. Default: xlsx.")).
			also(filesOf(export.TableTypes, "The table as a file.", "xlsx", "csv")...).
			gives("The table with its cells.", api.DocumentTable{}),
		route("PATCH /tables/:id/cells/:row/:column", "Edit a cell").
			says("Overrides the extracted value, which is kept; null restores it.").
			takes(api.CellEdit{}, `{"text":"3 months"}`).
			gives("The cell.", chat.GridCell{}).
			redirects(tablesPage),
		route("POST /tables/:id/cells/:row/:column/ask", "Rerun a cell").
			says("Discards the cell's edited text.").
			ends(http.StatusAccepted, "The run is queued.", api.DocumentTable{}).
			redirects(tablesPage),
	}
}
