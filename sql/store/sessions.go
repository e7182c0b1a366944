package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/sql/cursor"
)

// inLists excludes the sessions of table cells.
var inLists = fmt.Sprintf(` AND substr(s.name, 1, %d) <> '%s' `, len(chat.GridSessions), chat.GridSessions)

// scanSession decodes a row of a dialect's SelectSession, with title and head of the shown branch.
func scanSession(row Row) (f numbered[chat.Session], err error) {
	var created, updated int64
	s := &f.entry
	err = row.Scan(&f.n, &s.ID, &s.User, &s.Title, &s.HeadID, &s.TurnCount, &created, &updated, &s.Running)
	s.CreatedAt, s.UpdatedAt = TimeOf(created), TimeOf(updated)
	return f, err
}

// Session implements chat.Store.
func (c *Chats) Session(ctx context.Context, s chat.Scope, id string) (chat.Session, error) {
	found, err := readOne(c.db.Autocommit(ctx, 0), scanSession,
		c.sql.SelectSession+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0`, id, s.User)
	return found.entry, NotFound(err, "read session", "session")
}

// Sessions implements chat.Store. The index sessions_by_activity has this order. Without a search text it reads one
// page. With one it scans until the page is full, and checks a session's questions only if the title does not match.
func (c *Chats) Sessions(ctx context.Context, s chat.Scope, q chat.SessionQuery) ([]chat.Session, string, error) {
	from, err := cursor.Parse(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cursor.Limit(q.Limit, chat.DefaultPage, chat.MaxPage)
	found, err := readList(c.db.Autocommit(ctx, 0), scanSession, c.sql.SelectSession+`
		WHERE s.user_id = $1 AND s.deleted_at = 0`+inLists+`AND (s.updated_at, s.n) < ($2, $3)
		AND ($4 = '' OR `+c.sql.Contains("s.title_fold", "$4")+` OR EXISTS (
			SELECT 1 FROM runs r JOIN run_texts t ON t.run = r.n WHERE r.session = s.n
			AND `+c.sql.Contains("t.question_fold", "$4")+`))
		ORDER BY s.updated_at DESC, s.n DESC LIMIT CAST($5 AS bigint)`,
		s.User, from.At, from.N, strings.ToLower(q.Text), limit+1)
	if err != nil {
		return nil, "", wrap(err, "list sessions")
	}
	page, next := pageOf(found, limit, func(s chat.Session) time.Time { return s.UpdatedAt })
	return page, next, nil
}

// HasRuns implements chat.Store. CROSS JOIN makes SQLite start from the few running runs instead of the user's
// sessions, which include one for each table cell.
func (c *Chats) HasRuns(ctx context.Context, s chat.Scope) (has bool, err error) {
	err = c.db.Autocommit(ctx, 0).One(
		`SELECT EXISTS (SELECT 1 FROM runs r CROSS JOIN sessions s WHERE r.status = 'running'
		AND s.n = r.session AND s.user_id = $1 AND s.deleted_at = 0`+inLists+`)`, []any{s.User}, &has)
	return has, wrap(err, "look for runs")
}

// CountSessions implements chat.Store.
func (c *Chats) CountSessions(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.Autocommit(ctx, 0).One(
		`SELECT count(*) FROM sessions s WHERE s.user_id = $1 AND s.deleted_at = 0`+inLists, []any{s.User}, &n,
	)
	return n, wrap(err, "count sessions")
}

// RenameSession implements chat.Store.
func (c *Chats) RenameSession(ctx context.Context, s chat.Scope, id, title string) error {
	if err := chat.CheckTitle(title); err != nil {
		return err
	}
	return c.changeSession(ctx, "rename session", `UPDATE sessions SET title = $1, title_fold = $2 WHERE name = $3
		AND user_id = $4 AND deleted_at = 0`, title, strings.ToLower(title), id, s.User)
}

// SetHead implements chat.Store. The statement joins the run to the session, so a run of another session changes no
// row.
func (c *Chats) SetHead(ctx context.Context, s chat.Scope, sessionID, runID string) error {
	n, err := c.db.Autocommit(ctx, 0).ExecNotify(HeadMoved, c.sql.SetHead, runID, sessionID, s.User)
	return ChangedOne(n, err, "set head", "session or run")
}

// DeleteSession implements chat.Store.
func (c *Chats) DeleteSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "delete session", `UPDATE sessions SET deleted_at = $1 WHERE name = $2
		AND user_id = $3 AND deleted_at = 0`, time.Now().UnixMicro(), id, s.User)
}

// RestoreSession implements chat.Store.
func (c *Chats) RestoreSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "restore session", `UPDATE sessions SET deleted_at = 0 WHERE name = $1
		AND user_id = $2 AND deleted_at <> 0`, id, s.User)
}

// changeSession runs an update that must change its session.
func (c *Chats) changeSession(ctx context.Context, op, statement string, args ...any) error {
	n, err := c.db.Autocommit(ctx, 0).Exec(statement, args...)
	return ChangedOne(n, err, op, "session")
}

// Grants is grants.Store. Records of all kinds are in one table (docs/decisions/access.md).
type Grants struct {
	db  Database
	sql *Dialect
}

var _ grants.Store = (*Grants)(nil)

// NewGrants returns a database's store of OAuth grants.
func NewGrants(db Database, sql *Dialect) *Grants { return &Grants{db, sql} }

// Put implements grants.Store. Beyond `most`, the owner's oldest records of that kind are deleted in the same
// transaction. A client with a grant or an open consent page is kept, so unknown programs that register can't evict
// it.
func (g *Grants) Put(ctx context.Context, r grants.Record, most int) error {
	return g.db.Write(ctx, Durable, func(t Tx) error {
		if _, err := t.Exec(`INSERT INTO oauth (kind, id, owner, used, made, expires, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(r.Kind), r.ID, r.Owner, r.Used, r.Made.UnixMicro(),
			r.Expires.UnixMicro(), string(r.Body)); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM oauth WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
			AND NOT (kind = 'client' AND id IN (SELECT owner FROM oauth WHERE kind = 'consent'))
			AND id NOT IN (SELECT id FROM oauth WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
				ORDER BY made DESC, `+g.sql.Age+` DESC LIMIT CAST($3 AS bigint))`, string(r.Kind), r.Owner, most)
		return err
	})
}

const selectGrants = `SELECT kind, id, owner, used, made, expires, body FROM oauth `

func scanGrant(row Row) (r grants.Record, err error) {
	var body string
	var made, expires int64
	err = row.Scan((*string)(&r.Kind), &r.ID, &r.Owner, &r.Used, &made, &expires, &body)
	r.Body, r.Made, r.Expires = []byte(body), TimeOf(made), TimeOf(expires)
	return r, err
}

// Get implements grants.Store.
func (g *Grants) Get(ctx context.Context, kind grants.Kind, id string) (grants.Record, error) {
	return readGrant(g.db.Autocommit(ctx, 0), kind, id)
}

// readGrant reads a record, in a transaction or outside. It also returns an expired one, which the caller checks.
func readGrant(by Statements, kind grants.Kind, id string) (grants.Record, error) {
	r, err := readOne(by, scanGrant, selectGrants+`WHERE kind = $1 AND id = $2`, string(kind), id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, &chat.Error{Code: chat.CodeNotFound, Message: "Record not found."}
	}
	return r, wrap(err, "read a "+string(kind))
}

// Use implements grants.Store. The update succeeds only once, so a code or a refresh token is usable once. A used
// record is still returned for the caller.
func (g *Grants) Use(ctx context.Context, kind grants.Kind, id string) (r grants.Record, first bool, err error) {
	err = g.db.Write(ctx, Durable, func(t Tx) error {
		n, err := t.Exec(`UPDATE oauth SET used = true WHERE kind = $1 AND id = $2 AND NOT used`, string(kind), id)
		if err != nil {
			return wrap(err, "use a "+string(kind))
		}
		first = n == 1
		r, err = readGrant(t, kind, id)
		return err
	})
	return r, first && err == nil, err
}

// Drop implements grants.Store.
func (g *Grants) Drop(ctx context.Context, kind grants.Kind, id string) error {
	_, err := g.db.Autocommit(ctx, Durable).Exec(`DELETE FROM oauth WHERE kind = $1 AND id = $2`, string(kind), id)
	return err
}

// List implements grants.Store.
func (g *Grants) List(ctx context.Context, kind grants.Kind, owner string) ([]grants.Record, error) {
	return readList(g.db.Autocommit(ctx, 0), scanGrant,
		selectGrants+`WHERE kind = $1 AND owner = $2 ORDER BY made, `+g.sql.Age, string(kind), owner)
}

// Sweep implements grants.Store. It deletes expired records. A client with a valid grant is kept, or the grant's
// program could not return.
func (g *Grants) Sweep(ctx context.Context, now time.Time) error {
	_, err := g.db.Autocommit(ctx, Durable).Exec(`DELETE FROM oauth WHERE expires < $1
		AND NOT (kind = 'client' AND used AND id IN
			(SELECT `+g.sql.Field("body", "client")+` FROM oauth WHERE kind = 'grant' AND expires >= $1))`,
		now.UnixMicro())
	return err
}
