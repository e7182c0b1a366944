package chat

import (
	"context"
	"time"
)

// Bounds of a grid.
const (
	MaxGridRows    = 500       // documents
	MaxGridColumns = 12        // questions about each
	MaxGrids       = 50        // of a user
	MaxGridName    = 120       // runes of a column's name
	MaxGridText    = 4_000     // runes of what a person writes into a cell
	GridTokens     = 1_000_000 // that a grid takes of a model before its user is asked whether it shall go on
)

// GridSessions is how the ids of conversations begin that hold the work on cells. Lists of conversations leave them
// out. The underscore is a letter that ids of sessions may have (see CheckSessionID), so these pass every check that
// others pass.
const GridSessions = "_cells-"

// Grid is a table over many documents: the same questions are asked about each of them, a row a document, a column a
// question, and each cell is answered by a run of its own that reads this document only. package grid fills it, a claim
// at a time; the stores keep it. Rows are named when it is made, so a document that comes later is no row of it.
type Grid struct {
	ID        string       `json:"id"`
	User      string       `json:"-"`
	Name      string       `json:"name"`
	Columns   []GridColumn `json:"columns"` // at most MaxGridColumns
	Rows      []GridRow    `json:"rows"`    // at most MaxGridRows, as the library had them when the grid was made
	Model     string       `json:"model,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	State     GridState    `json:"state"`
	Trouble   string       `json:"trouble,omitempty"` // why nothing goes on just now, for people
	Failed    int          `json:"failed,omitempty"`  // times in a row that filling did not work
	Done      int          `json:"done"`              // cells that were filled
	Tokens    int64        `json:"tokens"`            // that filling them took of a model
	MaxTokens int64        `json:"max_tokens"`        // at which filling stops until its user wants more

	// DueAt is when there is something to do; zero: nothing is.
	DueAt time.Time `json:"-"`
}

// GridColumn is one question about every document.
type GridColumn struct {
	Name     string `json:"name"`               // The column's name.
	Question string `json:"question,omitempty"` // What is asked about each document; absent: the name is.
}

// Asked is the question as it is asked about each document.
func (c GridColumn) Asked() string {
	if c.Question != "" {
		return c.Question
	}
	return c.Name
}

// GridRow is a document that the questions are asked about.
type GridRow struct {
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
}

// GridState is how a grid stands.
type GridState string

// The states of a grid.
const (
	GridFilling GridState = "filling"
	GridStopped GridState = "stopped" // by its user, or at MaxTokens
	GridDone    GridState = "done"
)

// Cells is how many cells the grid has.
func (g Grid) Cells() int { return len(g.Rows) * len(g.Columns) }

// Has reports whether the grid has a cell. It guards whatever comes from an address or a body.
func (g Grid) Has(row, column int) bool {
	return row >= 0 && row < len(g.Rows) && column >= 0 && column < len(g.Columns)
}

// GridCell is what is said of one document about one question.
type GridCell struct {
	Row       int        `json:"row"`               // Its row, from 0.
	Column    int        `json:"column"`            // Its column, from 0.
	State     CellState  `json:"state"`             // Whether the document says it.
	Text      string     `json:"text"`              // As it was found, or the closest words; else empty.
	Citations []Citation `json:"citations"`         // What the text rests on, the best first.
	Edited    *string    `json:"edited"`            // What a person wrote in its place; null: nothing.
	RunID     string     `json:"run_id"`            // The run that answered; empty before.
	Trouble   string     `json:"trouble,omitempty"` // Why it failed, as a sentence.
	Turn      int        `json:"turn"`              // How often it was asked again.
	At        time.Time  `json:"at"`                // When it was filled.
	// Grows with every change of any cell of the table.
	Seq int64 `json:"seq"`
}

// Shown is the cell's text as people see it.
func (c GridCell) Shown() string {
	if c.Edited != nil {
		return *c.Edited
	}
	return c.Text
}

// CellsByPlace are cells of a grid by row and column. A cell that never changed is in no store, so most of a new grid's
// places are missing here: read them by At.
type CellsByPlace map[[2]int]GridCell

// ByPlace puts cells in their places.
func ByPlace(cells []GridCell) CellsByPlace {
	byPlace := make(CellsByPlace, len(cells))
	for _, cell := range cells {
		byPlace[[2]int{cell.Row, cell.Column}] = cell
	}
	return byPlace
}

// At is the cell at a place; one that is left out waits.
func (c CellsByPlace) At(row, column int) GridCell {
	if cell, ok := c[[2]int{row, column}]; ok {
		return cell
	}
	return GridCell{Row: row, Column: column, State: CellWaiting}
}

// CellState is how a cell stands.
type CellState string

// The states of a cell.
const (
	CellWaiting CellState = "waiting"
	CellFound   CellState = "found"
	CellClosest CellState = "closest" // the nearest words of the document, which may not be what was asked for
	CellAbsent  CellState = "absent"  // the document does not say
	CellFailed  CellState = "failed"
)

// RoomForGrid fails with an *Error if a user who has so many grids can't have another. Stores call it inside the
// transaction that adds the grid, with the count that they read there.
func RoomForGrid(there int64) error {
	if there < MaxGrids {
		return nil
	}
	return &Error{Code: CodeTooMany, Message: "You have 50 tables, as many as there can be. Remove one first."}
}

// GridStore keeps grids. Its promises are those of Store. Its claims work like those of kept questions: the due time is
// moved ahead, so a server that dies loses its claim by the clock alone, and nobody has to notice its death.
type GridStore interface {
	// KeepGrid stores a grid for the scope's user under a new id, all its cells waiting, and returns it as stored. It
	// fails with CodeTooMany if the user has MaxGrids of them.
	KeepGrid(ctx context.Context, s Scope, g Grid) (Grid, error)

	// Grid returns a grid.
	Grid(ctx context.Context, s Scope, id string) (Grid, error)

	// Grids returns the user's grids, newest first.
	Grids(ctx context.Context, s Scope) ([]Grid, error)

	// ChangeGrid changes a grid and returns it as stored. change may be called more than once; nothing is stored when
	// it fails. What is changed at the same time is not lost.
	ChangeGrid(ctx context.Context, s Scope, id string, change func(*Grid) error) (Grid, error)

	// DropGrid forgets a grid with its cells.
	DropGrid(ctx context.Context, s Scope, id string) error

	// GridCells returns the grid's cells that changed after a Seq, 0 for all that ever did, by their Seq. Those that
	// are left out are waiting.
	GridCells(ctx context.Context, s Scope, id string, after int64) ([]GridCell, error)

	// GridCell returns a cell as GridCells has it; one that is left out there is waiting.
	GridCell(ctx context.Context, s Scope, id string, row, column int) (GridCell, error)

	// ChangeGridCell changes a cell and returns it as stored, with another Seq. change gets a waiting cell if there is
	// none, may be called more than once, and nothing is stored when it fails.
	ChangeGridCell(ctx context.Context, s Scope, id string, row, column int, change func(*GridCell) error,
	) (GridCell, error)

	// DueGrids returns the users whose grids have work that is due.
	DueGrids(ctx context.Context, now time.Time) (users []string, err error)

	// ClaimGrid returns the grid of a user for which there is something to do since the longest time, to one caller
	// only until its DueAt, which it sets to the given time; ok is false when no row is due. A caller that dies leaves
	// it to others then.
	ClaimGrid(ctx context.Context, user string, now, until time.Time) (g Grid, ok bool, err error)

	// FreeGrids ends all claims that end within a time from now. No other process may use the store.
	FreeGrids(ctx context.Context, now time.Time, within time.Duration) error
}
