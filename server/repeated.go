package server

import (
	"slices"
	"sync"

	"github.com/labstack/echo/v4"
)

// queryNames are the parameters in the address that each route takes, by method and path.
var queryNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for _, op := range operations() {
		for _, p := range op.params {
			if p.in == "query" {
				names[op.method+" "+op.path] = append(names[op.method+" "+op.path], p.name)
			}
		}
	}
	return names
})

// checkQuery refuses parameters that can't be read, and one that stands in the address twice: one of the two would have no effect.
func (s *Server) checkQuery(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := legibleQuery(c.Request().URL.RawQuery); err != nil {
			return err
		}
		for name, values := range c.QueryParams() {
			if len(values) > 1 && slices.Contains(queryNames()[c.Request().Method+" "+c.Path()], name) {
				return invalid("The parameter " + name + " stands in the address more than once. Give it once.")
			}
		}
		return next(c)
	}
}
