-- Tables over many documents.
CREATE TABLE grids (
	id         text   COLLATE "C" PRIMARY KEY,
	user_id    text   COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	due_at     bigint NOT NULL, -- when there is something to do; 0: nothing is
	body       text   NOT NULL  -- chat.Grid
);
CREATE INDEX grids_by_user ON grids (user_id, created_at);
CREATE INDEX grids_by_due ON grids (due_at) WHERE due_at > 0;

CREATE TABLE grid_cells (
	grid text   COLLATE "C" NOT NULL,
	row  bigint NOT NULL,
	col  bigint NOT NULL,
	seq  bigint NOT NULL, -- grows with every change within the grid
	body text   NOT NULL, -- chat.GridCell
	PRIMARY KEY (grid, row, col)
);
CREATE UNIQUE INDEX grid_cells_by_seq ON grid_cells (grid, seq);
