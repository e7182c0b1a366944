package httpio

import (
	"io"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// Only this package imports Echo. The other rooms know it by these names, so another major version of it is a change
// here.
type (
	// Context is a request and its answer. The router uses it again after the handler returns, so it must not be kept.
	Context = echo.Context
	// Handler answers a request, or returns the error to answer with.
	Handler = echo.HandlerFunc
	// Middleware wraps the handlers of a router.
	Middleware = echo.MiddlewareFunc
	// Router finds the handler of a request by its method and path.
	Router = echo.Echo
)

// Media types of bodies, without parameters.
const (
	TypeJSON      = "application/json"
	TypeForm      = "application/x-www-form-urlencoded"
	TypeMultipart = "multipart/form-data"
	TypeHTML      = "text/html"
	TypeText      = "text/plain"
	TypeBytes     = "application/octet-stream"
)

// Route is a method and a path that a router answers. Parameters of the path begin with a colon.
type Route struct{ Method, Path string }

// NewRouter returns a router without routes. It logs nothing by itself, and takes the peer's address for the client's,
// whatever headers say.
func NewRouter() *Router {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.IPExtractor = echo.ExtractIPDirect()
	return e
}

// Routes returns the routes of a router, in no order.
func Routes(r *Router) []Route {
	var routes []Route
	for _, route := range r.Routes() {
		routes = append(routes, Route{Method: route.Method, Path: route.Path})
	}
	return routes
}

// Compress packs answers of 1 KiB and more for clients that take gzip, but for the requests that skip chooses. The
// level is low: a page waits for it.
func Compress(skip func(Context) bool) Middleware {
	return middleware.GzipWithConfig(middleware.GzipConfig{Skipper: skip, Level: 2, MinLength: 1024})
}

// Committed reports whether the status of the answer is sent, after which nothing else can be answered.
func Committed(c Context) bool { return c.Response().Committed }

// Fail answers a request with an error, by the router's ErrorHandler.
func Fail(c Context, err error) { c.Error(err) }

// StatusError returns an error that is answered with a status and its usual sentence.
func StatusError(status int) error { return echo.NewHTTPError(status) }
