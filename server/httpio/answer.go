package httpio

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
)

// FromPage reports whether a request comes from the page: from its script, or from a form.
func FromPage(c Context) bool { return ByHTMX(c) || WantsHTML(c) }

// ByForm reports whether a request comes from a browser's form, without the page's script.
func ByForm(c Context) bool { return WantsHTML(c) && !ByHTMX(c) }

// OverrideMethod is the middleware for forms, which support only GET and POST: a POST of the page is routed by the
// method in its query, such as ?_method=DELETE.
//
// It is in the query, so that no body is read before the request is authorised.
func OverrideMethod(next Handler) Handler {
	return func(c Context) error {
		if r := c.Request(); r.Method == http.MethodPost && FromPage(c) {
			switch method := c.QueryParam("_method"); method {
			case http.MethodPut, http.MethodPatch, http.MethodDelete:
				r.Method = method
			}
		}
		return next(c)
	}
}

// CheckID is the middleware that validates the id of a conversation or a run in the path.
//
// Clients choose ids of conversations, so an invalid one is 400. An invalid id of a run is 404, like a missing run:
// a truncated link gets the same response as a deleted run.
func CheckID(next Handler) Handler {
	return func(c Context) error {
		switch path := c.Path() + "/"; {
		case len(c.ParamNames()) == 0: // no route has the path and the method
		case strings.HasPrefix(path, "/agent/session/:id/"), strings.HasPrefix(path, "/sessions/:id/"):
			if err := chat.CheckSessionID(c.Param("id")); err != nil {
				return err
			}
		case strings.HasPrefix(path, "/c/:id/"):
			if chat.CheckSessionID(c.Param("id")) != nil {
				return NotFound("Conversation not found. It may have been deleted.")
			}
		case strings.HasPrefix(path, "/agent/runs/:id/"), strings.HasPrefix(path, "/runs/:id/"):
			if !RunIDForm().MatchString(c.Param("id")) {
				return NotFound("Run not found. It may have been deleted with its conversation.")
			}
		}
		return next(c)
	}
}

// Done handles a route that changes the object of the id in its path: it answers 204. A form of the page is
// redirected to page, if there is one; see Give.
func Done(do func(context.Context, chat.Scope, string) error, page ...string) Handler {
	return Handle(http.StatusNoContent, func(c Context) (any, error) {
		return nil, do(c.Request().Context(), Scope(c), c.Param("id"))
	}, page...)
}

// Handle handles a route with the status and what do returns, as JSON; a status of 204 has no body.
//
// With a page, forms may be sent to the route: they are redirected to the page (303). The path parameters in its
// address, such as :id, are those of the request.
func Handle[T any](status int, do func(Context) (T, error), page ...string) Handler {
	return func(c Context) error {
		v, err := do(c)
		switch {
		case err != nil:
			return err
		case len(page) > 0 && ByForm(c):
			to := page[0]
			for _, name := range c.ParamNames() {
				to = strings.ReplaceAll(to, ":"+name, url.PathEscape(c.Param(name)))
			}
			return c.Redirect(http.StatusSeeOther, to)
		}
		// The response is one user's, and it changes.
		c.Response().Header().Set("Cache-Control", "no-store")
		if status == http.StatusNoContent {
			return c.NoContent(status)
		}
		return c.JSON(status, v)
	}
}

// HandleBody is Give for a route with a body: JSON or, with a page, also a form with the same fields.
func HandleBody[B, T any](b Bodies, status int, do func(Context, B) (T, error), page ...string) Handler {
	return Handle(status, func(c Context) (v T, err error) {
		var body B
		if len(page) > 0 {
			err = b.ReadFields(c, &body)
		} else {
			err = b.ReadJSON(c, &body)
		}
		if err != nil {
			return v, err
		}
		return do(c, body)
	}, page...)
}

// ReadFields decodes JSON, or a form with the same fields, into the struct that v points to. Unknown fields of a form
// are ignored; a program's form without any known one is refused as a body that should be JSON.
func (b Bodies) ReadFields(c Context, v any) error {
	if kind := MediaType(c); kind != TypeForm && kind != TypeMultipart {
		return b.ReadJSON(c, v)
	}
	if err := b.ReadForm(c); err != nil {
		return err
	}
	if !fillFields(c.Request().PostForm, reflect.ValueOf(v).Elem()) && !FromPage(c) {
		return b.ReadJSON(c, v)
	}
	return nil
}

// fillFields sets the fields of a struct from those of a form with the same names, and reports whether there was one.
// An entry of a map is named field.key. Texts are trimmed. A number that can't be parsed stays 0.
func fillFields(form url.Values, s reflect.Value) (some bool) {
	for i := range s.NumField() {
		name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("json"), ",")
		field, text := s.Field(i), strings.TrimSpace(FormText(form, name))
		if field.Kind() == reflect.Map {
			for full := range form {
				if key, ok := strings.CutPrefix(full, name+"."); ok {
					if some = true; field.IsNil() {
						field.Set(reflect.MakeMap(field.Type()))
					}
					field.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(FormText(form, full)))
				}
			}
		}
		if !form.Has(name) {
			continue
		}
		some = true
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(text)
		case reflect.Bool:
			field.SetBool(text == "true")
		case reflect.Int:
			n, _ := strconv.ParseInt(text, 10, 0)
			field.SetInt(n)
		}
	}
	return some
}
