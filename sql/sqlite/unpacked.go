package sqlite

import (
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/footnote/footnote/sql/pack"
)

// init registers the SQL function unpacked(body, packed), which decompresses content in statements. It is
// deterministic, so SQLite may use it anywhere. Invalid data fails the statement.
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
