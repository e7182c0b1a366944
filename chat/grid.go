package chat

import (
	"context"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// Limits of a grid.
const (
	MaxGridRows    = 500       // documents
	MaxGridColumns = 12        // questions about each
	MaxGrids       = 50        // of a user
	MaxGridName    = 120       // runes of a column's name
	MaxGridText    = 4_000     // runes of a user's edit of a cell
	GridTokens     = 1_000_000 // model tokens that a grid uses before its user must confirm
)

// GridSessions is the id prefix of sessions that hold the runs of cells. Lists of conversations leave them out. The
// prefix is valid in a session id (see CheckSessionID).
const GridSessions = "_cells-"

// Grid is a table over many documents: each row is a document, each column a question. Each cell is answered by its
// own run, which reads only that document. Package grid fills it, one claim at a time; the stores keep it. Rows are
// fixed when it is created: documents added later are not included.
type Grid struct {
	ID        string         `json:"id"`
	User      string         `json:"-"`
	Name      string         `json:"name"`
	Columns   []GridColumn   `json:"columns"` // at most MaxGridColumns
	Rows      []GridRow      `json:"rows"`    // at most MaxGridRows, the documents when it was created
	Model     string         `json:"model,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	State     GridState      `json:"state"`
	Trouble   locale.Message `json:"trouble,omitempty"` // why filling is paused, for people
	Failed    int            `json:"failed,omitempty"`  // consecutive failed attempts to fill it
	Done      int            `json:"done"`              // the number of filled cells
	Tokens    int64          `json:"tokens"`            // model tokens used by filling them
	MaxTokens int64          `json:"max_tokens"`        // the token limit, where filling stops until its user raises it

	// DueAt is the time of the next work; zero: none.
	DueAt time.Time `json:"-"`
}

// GridColumn is one question about every document.
type GridColumn struct {
	Name     string `json:"name"`               // The column's name.
	Question string `json:"question,omitempty"` // The question about each document; absent: the name.
}

// Asked returns the question as it is sent for each document.
func (c GridColumn) Asked() string {
	if c.Question != "" {
		return c.Question
	}
	return c.Name
}

// GridRow is a document of a grid.
type GridRow struct {
	DocumentID string `json:"document_id"`
	Title      string `json:"title"`
}

// GridState is the state of a grid.
type GridState string

// The states of a grid.
const (
	GridFilling GridState = "filling"
	GridStopped GridState = "stopped" // by its user, or at MaxTokens
	GridDone    GridState = "done"
)

// Cells returns the number of cells.
func (g Grid) Cells() int { return len(g.Rows) * len(g.Columns) }

// Has reports whether the grid has a cell. It validates positions from an address or a body.
func (g Grid) Has(row, column int) bool {
	return row >= 0 && row < len(g.Rows) && column >= 0 && column < len(g.Columns)
}

// GridCell is the answer about one document to one question.
type GridCell struct {
	Row       int            `json:"row"`               // Its row, from 0.
	Column    int            `json:"column"`            // Its column, from 0.
	State     CellState      `json:"state"`             // Whether the document has the answer.
	Text      string         `json:"text"`              // The extracted value, or the closest words; else empty.
	Citations []Citation     `json:"citations"`         // The sources of the text, the best first.
	Edited    *string        `json:"edited"`            // The user's edit; null: none.
	RunID     string         `json:"run_id"`            // The run that answered; empty before.
	Trouble   locale.Message `json:"trouble,omitempty"` // The reason for the failure.
	Turn      int            `json:"turn"`              // The number of times it was asked again.
	At        time.Time      `json:"at"`                // When it was filled.
	// The sequence number of the last change in the table.
	Seq int64 `json:"seq"`
}

// Shown returns the displayed text: the user's edit, else the extracted value.
func (c GridCell) Shown() string {
	if c.Edited != nil {
		return *c.Edited
	}
	return c.Text
}

// CellsByPlace indexes the cells of a grid by row and column. A cell that never changed is in no store, so most
// cells of a new grid are missing: read them with At.
type CellsByPlace map[[2]int]GridCell

// ByPlace indexes cells by row and column.
func ByPlace(cells []GridCell) CellsByPlace {
	byPlace := make(CellsByPlace, len(cells))
	for _, cell := range cells {
		byPlace[[2]int{cell.Row, cell.Column}] = cell
	}
	return byPlace
}

// At returns the cell at a position; a missing one is waiting.
func (c CellsByPlace) At(row, column int) GridCell {
	if cell, ok := c[[2]int{row, column}]; ok {
		return cell
	}
	return GridCell{Row: row, Column: column, State: CellWaiting}
}

// CellState is the state of a cell.
type CellState string

// The states of a cell.
const (
	CellWaiting CellState = "waiting"
	CellFound   CellState = "found"
	CellClosest CellState = "closest" // the closest words of the document, possibly no answer
	CellAbsent  CellState = "absent"  // the document has no answer
	CellFailed  CellState = "failed"
)

// CheckGridQuota fails with an *Error if a user with that many grids can't have another. Stores call it in the
// transaction that adds the grid, with the count read there.
func CheckGridQuota(there int64) error {
	if there < MaxGrids {
		return nil
	}
	return &Error{Code: CodeTooMany, Message: "You have reached the limit of 50 tables. Delete one first."}
}

// GridStore keeps grids. Its guarantees are those of Store. Claims work like those of kept questions: a claim moves
// the due time ahead, as a lease. A server that dies loses its lease when that time passes.
type GridStore interface {
	// AddGrid stores a grid for the scope's user under a new id, with all cells waiting, and returns it as stored.
	// It fails with CodeTooMany if the user has MaxGrids.
	AddGrid(ctx context.Context, s Scope, g Grid) (Grid, error)

	// Grid returns a grid.
	Grid(ctx context.Context, s Scope, id string) (Grid, error)

	// Grids returns the user's grids, newest first.
	Grids(ctx context.Context, s Scope) ([]Grid, error)

	// ChangeGrid changes a grid and returns it as stored. change may be called more than once; nothing is stored if
	// it fails. Concurrent changes are not lost.
	ChangeGrid(ctx context.Context, s Scope, id string, change func(*Grid) error) (Grid, error)

	// DropGrid deletes a grid with its cells.
	DropGrid(ctx context.Context, s Scope, id string) error

	// GridCells returns the cells changed after a Seq, in order of Seq; 0 returns all changed cells. Missing cells
	// are waiting.
	GridCells(ctx context.Context, s Scope, id string, after int64) ([]GridCell, error)

	// GridCell returns a cell as GridCells does; a missing one is waiting.
	GridCell(ctx context.Context, s Scope, id string, row, column int) (GridCell, error)

	// ChangeGridCell changes a cell and returns it as stored, with a new Seq. change gets a waiting cell if none is
	// stored. It may be called more than once; nothing is stored if it fails.
	ChangeGridCell(ctx context.Context, s Scope, id string, row, column int, change func(*GridCell) error,
	) (GridCell, error)

	// DueGrids returns the users with grids that are due.
	DueGrids(ctx context.Context, now time.Time) (users []string, err error)

	// ClaimGrid returns the user's grid that has been due longest and sets its DueAt to until, as a lease for one
	// caller. ok is false when no grid is due. If the caller dies, the lease expires at that time.
	ClaimGrid(ctx context.Context, user string, now, until time.Time) (g Grid, ok bool, err error)

	// FreeGrids ends all leases that expire within a time from now. No other process may use the store.
	FreeGrids(ctx context.Context, now time.Time, within time.Duration) error
}
