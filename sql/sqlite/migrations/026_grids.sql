-- Tables over many documents.
CREATE TABLE grids (
	id         TEXT    NOT NULL PRIMARY KEY,
	user       TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	due_at     INTEGER NOT NULL, -- when there is something to do; 0: nothing is
	body       TEXT    NOT NULL  -- chat.Grid
) STRICT;
CREATE INDEX grids_by_user ON grids (user, created_at);
CREATE INDEX grids_by_due ON grids (due_at) WHERE due_at > 0;

CREATE TABLE grid_cells (
	grid   TEXT    NOT NULL,
	row    INTEGER NOT NULL,
	col    INTEGER NOT NULL,
	seq    INTEGER NOT NULL, -- grows with every change within the grid
	body   TEXT    NOT NULL, -- chat.GridCell
	PRIMARY KEY (grid, row, col)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX grid_cells_by_seq ON grid_cells (grid, seq);
