package openapi

import (
	"net/http"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/export"
	"footnote/server/api"
)

// tableGroup is the heading of these routes.
const tableGroup = "Tables"

// tableOperations describe tables over many documents.
func tableOperations() []Operation {
	missing := []chat.Code{chat.CodeNotFound}
	id := parameter{in: "path", name: "id", need: true, schema: textSchema(), about: "The table's id."}
	one := []parameter{id}
	cell := []parameter{
		id,
		{
			in: "path", name: "row", need: true, schema: wholeSchema(0, chat.MaxGridRows-1, ""),
			about: "The cell's row, from 0.",
		},
		{
			in: "path", name: "column", need: true, schema: wholeSchema(0, chat.MaxGridColumns-1, ""),
			about: "Its column, from 0.",
		},
	}
	table := func(status int, about string) []outcome {
		return []outcome{{status: status, about: about, body: api.DocumentTable{}}}
	}
	return []Operation{
		{
			Method: "POST", Path: "/agent/table", group: tableGroup, summary: "Make a table over documents",
			about: "The same questions are asked about each document: a row a document, a column a question. Each " +
				"cell is answered by a run of its own that reads this document only, and has the quotes it rests on. " +
				"It is filled in the background, whoever looks, and stops at max_tokens. With preview nothing is " +
				"made: the answer says which rows and how many cells it would have.",
			body: api.NewTable{}, example: map[string]any{
				"columns": []any{
					map[string]any{"name": "Notice period"},
					map[string]any{"name": "Rent", "question": "How much is the rent a month?"},
				},
				"preview": true,
			},
			fails: slices.Concat(bodyFails, []chat.Code{
				chat.CodeNotFound, chat.CodeConflict, chat.CodeTooMany, chat.CodeDiskFull,
			}),
			outcomes: slices.Concat(table(http.StatusCreated, "It is made and being filled."),
				table(http.StatusOK, "What it would be, for a preview.")),
		},
		{
			Method: "GET", Path: "/tables", group: tableGroup, summary: "List tables",
			outcomes: []outcome{{
				status: http.StatusOK, about: "The tables, newest first, without their cells.", body: api.TableList{},
			}},
		},
		{
			Method: "GET", Path: "/tables/:id", group: tableGroup, summary: "Get a table with its cells",
			about:  "Row by row. Cells that are left out are waiting.",
			params: one, fails: missing, outcomes: table(http.StatusOK, "The table."),
		},
		{
			Method: "DELETE", Path: "/tables/:id", group: tableGroup, summary: "Remove a table",
			params: one, fails: missing,
			outcomes: []outcome{{status: http.StatusNoContent, about: "It is gone, with the runs that filled it."}},
		},
		{
			Method: "POST", Path: "/tables/:id/stop", group: tableGroup, summary: "Stop filling a table",
			about:  "Cells that are being answered are kept when they are done.",
			params: one, fails: missing, outcomes: table(http.StatusOK, "The table."),
		},
		{
			Method: "POST", Path: "/tables/:id/resume", group: tableGroup, summary: "Go on filling a table",
			about: "With the cells that wait and those that failed. One that stopped at max_tokens may take " +
				"1,000,000 more.",
			params: one, fails: missing, outcomes: table(http.StatusOK, "The table."),
		},
		{
			Method: "GET", Path: "/tables/:id/events", group: tableGroup, summary: "Follow a table as it fills",
			about: "Server-sent events: table, then a cell event for each cell that changed, and table_done when " +
				"nothing is filled any more.",
			params: slices.Concat(one, afterParams), fails: []chat.Code{
				chat.CodeInvalid, chat.CodeNotFound, chat.CodeTooMany,
			},
			outcomes: []outcome{{status: http.StatusOK, about: "The events.", kind: eventsKind}},
		},
		{
			Method: "GET", Path: "/tables/:id/export", group: tableGroup, summary: "Export a table",
			about: "As a workbook with a second sheet of quotes, as comma-separated values with a quote and its " +
				"address behind each column, or as JSON. Nothing in it is computed by a spreadsheet.",
			params: []parameter{id, {
				in: "query", name: "format", schema: choiceSchema("xlsx", "csv", "json"), about: "xlsx unless named.",
			}},
			fails:    []chat.Code{chat.CodeInvalid, chat.CodeNotFound},
			outcomes: tableFiles(),
		},
		{
			Method: "PATCH", Path: "/tables/:id/cells/:row/:column", group: tableGroup, summary: "Edit a cell",
			about: "The text stands in the place of what was found, which is kept; null takes it out again.",
			body:  api.CellEdit{}, example: map[string]any{"text": "3 months"}, params: cell,
			fails: slices.Concat(bodyFails, missing),
			outcomes: []outcome{
				{status: http.StatusOK, about: "The cell.", body: chat.GridCell{}},
			},
		},
		{
			Method: "POST", Path: "/tables/:id/cells/:row/:column/ask", group: tableGroup,
			summary: "Ask a cell's question again", about: "What was written into it goes.",
			params: cell, fails: missing,
			outcomes: table(http.StatusAccepted, "It is asked as soon as it can be."),
		},
	}
}

// tableFiles are the files that a table is exported as.
func tableFiles() (list []outcome) {
	for _, format := range []string{"xlsx", "csv"} {
		kind, _, _ := strings.Cut(export.TableTypes[format], ";")
		list = append(list, outcome{status: http.StatusOK, about: "The table as a file.", kind: kind})
	}
	return append(list, outcome{status: http.StatusOK, about: "The table with its cells.", body: api.DocumentTable{}})
}
