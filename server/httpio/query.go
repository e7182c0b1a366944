package httpio

import (
	"slices"
)

// CheckQuery is the middleware that refuses parameters that can't be parsed, and duplicate ones, since one of the
// two would have no effect. names are each route's query parameters, by method and path.
func CheckQuery(names func() map[string][]string) Middleware {
	return func(next Handler) Handler {
		return func(c Context) error {
			if err := legibleQuery(c.Request().URL.RawQuery); err != nil {
				return err
			}
			for name, values := range c.QueryParams() {
				if len(values) > 1 && slices.Contains(names()[c.Request().Method+" "+c.Path()], name) {
					return Invalid("Duplicate query parameter {1}. Send it once.", name)
				}
			}
			return next(c)
		}
	}
}
