package sqlite

import (
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/footnote/footnote/sql/pack"
)

// Statements that read content without Go in between say unpacked(body, packed). Deterministic functions may be used
// wherever SQLite plans with them. What can't be unpacked fails the statement.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("unpacked", 2, func(
		_ *sqlite.FunctionContext, args []driver.Value,
	) (driver.Value, error) {
		body, _ := args[0].(string)
		packed, _ := args[1].([]byte)
		out, err := pack.Unpacked([]byte(body), packed)
		return string(out), err
	})
}
