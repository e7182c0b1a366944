package openapi

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/export"
)

func tableRoutes() []Operation {
	return []Operation{
		route("POST /agent/table", "Make a table over documents").
			says(`The same questions are asked about each document: a row a document, a column a question. Each cell
			is answered by a run of its own that reads this document only, and has the quotes it rests on. It is
			filled in the background, whoever looks, and stops at max_tokens. With preview nothing is made: the answer
			says which rows and how many cells it would have.`).
			takes(api.NewTable{}, `{
				"columns": [{"name": "Notice period"}, {"name": "Rent", "question": "How much is the rent a month?"}],
				"preview": true
			}`).
			fails(chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull).
			ends(http.StatusCreated, "It is made and being filled.", api.DocumentTable{}).
			gives("What it would be, for a preview.", api.DocumentTable{}),
		route("GET /tables", "List tables").
			gives("The tables, newest first, without their cells.", api.TableList{}),
		route("GET /tables/:id", "Get a table with its cells").
			says("Row by row. Cells that are left out are waiting.").
			gives("The table.", api.DocumentTable{}),
		route("DELETE /tables/:id", "Remove a table").
			empty("It is gone, with the runs that filled it.").
			redirects(tablesPage),
		route("POST /tables/:id/stop", "Stop filling a table").
			says("Cells that are being answered are kept when they are done.").
			gives("The table.", api.DocumentTable{}).
			redirects(tablesPage),
		route("POST /tables/:id/resume", "Go on filling a table").
			says(`With the cells that wait and those that failed. One that stopped at max_tokens may take 1,000,000
			more.`).
			gives("The table.", api.DocumentTable{}).
			redirects(tablesPage),
		route("GET /tables/:id/events", "Follow a table as it fills").
			says(`Server-sent events: table, then a cell event for each cell that changed, and table_done when nothing
			is filled any more.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("The events."),
		route("GET /tables/:id/export", "Export a table").
			says(`As a workbook with a second sheet of quotes, as comma-separated values with a quote and its address
			behind each column, or as JSON. Nothing in it is computed by a spreadsheet.`).
			with(query("format", oneOf("xlsx", "csv", "json"), "xlsx unless named.")).
			also(filesOf(export.TableTypes, "The table as a file.", "xlsx", "csv")...).
			gives("The table with its cells.", api.DocumentTable{}),
		route("PATCH /tables/:id/cells/:row/:column", "Edit a cell").
			says("The text stands in the place of what was found, which is kept; null takes it out again.").
			takes(api.CellEdit{}, `{"text":"3 months"}`).
			gives("The cell.", chat.GridCell{}).
			redirects(tablesPage),
		route("POST /tables/:id/cells/:row/:column/ask", "Ask a cell's question again").
			says("What was written into it goes.").
			ends(http.StatusAccepted, "It is asked as soon as it can be.", api.DocumentTable{}).
			redirects(tablesPage),
	}
}
