package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// translateError converts a driver's error into a *chat.Error with a user-facing message. pgx.ErrNoRows, errors with
// a code and the cancelled caller's ctx are returned unchanged. Every error of a statement is translated before it
// leaves the package.
func (db *DB) translateError(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return err
	}
	if db.closed.Load() {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The database is closed.", Hint: "Start Footnote again.", Err: err,
		}
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return serverFailure(e, err)
	}
	if errors.Is(err, context.DeadlineExceeded) || isConnectionFailure(err) {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The database isn't responding. Try again in a moment.", Err: err,
		}
	}
	return err
}

// isConnectionFailure reports whether the connection failed instead of the statement, whose effect is then unknown.
func isConnectionFailure(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err)
}

// serverFailure classifies the server's errors by SQLSTATE. They are in appendix A of PostgreSQL's manual: 53100
// disk_full, 53300 too_many_connections, 25006 read_only_sql_transaction, 28 invalid authorization, 3D000
// invalid_catalog_name, 42501 insufficient_privilege, 08 connection exceptions, 53 insufficient resources, 57
// operator intervention, 58 system errors, 55P03 lock_not_available.
func serverFailure(e *pgconn.PgError, err error) error {
	unavailable := func(message locale.Message, hint string) error {
		return &chat.Error{Code: chat.CodeUnavailable, Message: message, Hint: hint, Err: err}
	}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case e.Code == "53100":
		return &chat.Error{
			Code: chat.CodeDiskFull, Message: "The database's disk is full. Free some space and try again.", Err: err,
		}
	case e.Code == "53300":
		return unavailable(
			"The database takes no more connections.",
			"Raise its max_connections, or lower pool_max_conns in DATABASE_URL.",
		)
	case e.Code == "25006":
		return unavailable(
			"The database is read-only just now. Try again in a moment.",
			"Or point DATABASE_URL at the primary server.",
		)
	case class == "28":
		return unavailable(
			"The database refuses this server.",
			"Correct the user or the password in DATABASE_URL and start Footnote again.",
		)
	case e.Code == "3D000":
		return unavailable(
			"The database is not there.", "Create the one that DATABASE_URL names and start Footnote again.",
		)
	case e.Code == "42501":
		return unavailable(
			"The database does not let this server do its work.", "Grant its user CREATE and USAGE on the schema.",
		)
	case class == "08", class == "53", class == "57", class == "58", e.Code == "55P03":
		return unavailable("The database is busy or restarting. Try again in a moment.", "")
	}
	return err
}

// isRetryable reports whether a failed statement had no effect and may be retried: it was never sent, it was rolled
// back by a shutdown or a deadlock, or the server is starting. 40P01 is a deadlock, 40001 a serialization failure,
// 57P01 an administrator's shutdown, 57P03 a server that can't accept connections now. An error with an unknown
// effect must never be retried.
func isRetryable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "40P01", "40001", "57P01", "57P03", "53300":
			return true
		}
		return false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || pgconn.SafeToRetry(err)
}

// violatesConstraint reports whether err is a violation of a constraint or unique index (SQLSTATE class 23).
func violatesConstraint(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.ConstraintName == constraint && strings.HasPrefix(e.Code, "23")
}
