package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/openapi"
	"github.com/footnote/footnote/text/locale"
)

// directory lists the router's routes, for error responses to requests that match none.
//
// It is built once with the router and read-only afterwards, so it is safe for concurrent use. It helps to diagnose
// programs that are configured with a wrong base address.
type directory struct {
	programs []string        // routes for programs, such as "GET /v1/models/{model}", sorted by path
	pages    map[string]bool // first path segments of pages
	forms    map[string]bool // paths of forms
}

// newDirectory builds a directory from the routes for programs and those of the page.
func newDirectory(programs, pages []httpio.Route) *directory {
	d := &directory{pages: map[string]bool{}, forms: map[string]bool{}}
	for _, r := range pages {
		d.pages[pathParts(r.Path)[0]] = true
	}
	for _, op := range openapi.Operations() {
		if op.TakesForm() {
			d.forms[op.Path] = true
		}
	}
	programs = slices.Clone(programs)
	slices.SortFunc(programs, func(a, b httpio.Route) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	for _, r := range programs {
		d.programs = append(d.programs, r.Method+" "+openapi.TemplatePath(r.Path))
	}
	return d
}

// pathParts splits a path at its slashes; the result has at least one part.
func pathParts(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// isLost reports whether a request failed because no route matches its path or its method.
func isLost(c httpio.Context, p httpio.Problem) bool {
	return p.Status == http.StatusNotFound && c.Path() == "" || p.Status == http.StatusMethodNotAllowed
}

// isForPrograms reports whether an address is for programs only: no page has the first segment of its path, and no
// form posts to it.
func (d *directory) isForPrograms(c httpio.Context) bool {
	first := pathParts(c.Request().URL.Path)[0]
	return !d.pages[first] && !d.forms[c.Path()] && slices.ContainsFunc(d.programs, func(route string) bool {
		return pathParts(routePath(route))[0] == first
	})
}

// routePath returns the path of one of the directory's routes.
func routePath(route string) string {
	_, path, _ := strings.Cut(route, " ")
	return path
}

// fewRoutes is the maximum number of routes in a sentence, to fit a few lines of a terminal. The field routes of a
// problem has all of them.
const fewRoutes = 8

// suggestRoutes adds the existing routes to the problem of a request without a route.
//
// For a wrong method (405) those are the routes of the same path, else the nearest ones, or all. It changes only the
// detail and the routes: clients depend on status and code.
func (d *directory) suggestRoutes(c httpio.Context, p *httpio.Problem) {
	before := " There is: "
	if p.Status == http.StatusMethodNotAllowed {
		p.Routes = d.at(openapi.TemplatePath(c.Path()))
	} else {
		p.Routes = d.nearest(c.Request().URL.Path)
		p.Detail = "URL not found."
	}
	few := p.Routes[:min(len(p.Routes), fewRoutes)]
	if len(few) < len(p.Routes) {
		before = " Similar routes: "
	}
	if len(few) > 0 {
		p.Detail = locale.Message(
			p.Detail.String() + before + strings.Join(few, ", ") + ". GET /openapi.json describes every route.",
		)
	}
}

// at returns the routes for programs at a path.
func (d *directory) at(path string) []string {
	return slices.DeleteFunc(slices.Clone(d.programs), func(route string) bool { return routePath(route) != path })
}

// nearest returns the routes nearest to a path: those with the longest common suffix, which a wrong base address
// misses, and those with the same first part; without any, all routes for programs.
func (d *directory) nearest(path string) []string {
	asked := pathParts(path)
	var alike, beside []string
	// A single part must match at least, so that an unrelated path has no similar routes.
	most := 1
	for _, route := range d.programs {
		parts := pathParts(routePath(route))
		switch n := equalAtEnd(asked, parts); {
		case n > most:
			most, alike = n, []string{route}
		case n == most:
			alike = append(alike, route)
		}
		if parts[0] == asked[0] {
			beside = append(beside, route)
		}
	}
	for _, route := range beside {
		if !slices.Contains(alike, route) {
			alike = append(alike, route)
		}
	}
	if len(alike) == 0 {
		return d.programs
	}
	return alike
}

// equalAtEnd returns the number of equal parts at the end of two paths.
func equalAtEnd(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
