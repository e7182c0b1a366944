package sqlite

import (
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/footnote/footnote/sql/pack"
)

// init registers the SQL functions unpacked(body, packed), which decompresses content in statements, and packed(body,
// packed), which compresses content that is not yet. They are deterministic, so SQLite may use them anywhere. Invalid
// data fails the statement.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("unpacked", 2, func(
		_ *sqlite.FunctionContext, args []driver.Value,
	) (driver.Value, error) {
		body, _ := args[0].(string)
		packed, _ := args[1].([]byte)
		out, err := pack.Unpacked([]byte(body), packed)
		return string(out), err
	})
	sqlite.MustRegisterDeterministicScalarFunction("packed", 2, func(
		_ *sqlite.FunctionContext, args []driver.Value,
	) (driver.Value, error) {
		if args[1] != nil {
			return args[1], nil
		}
		body, _ := args[0].(string)
		return pack.Pack(body)
	})
}
