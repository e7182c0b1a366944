package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// asked are the fields of a form that make a question.
var asked = []string{"message", "session_id", "context_text", "document_ids", "namespace", "toolset", "model"}

// keptFields returns the fields of a form that make up a question, nil if it has none. When a question comes without a
// valid key, the form that asks for the key carries them, so that the question is not lost. They are only in bodies:
// no address, cookie or log has them.
//
// They are in order of their names, so that the same question gives the same form. It reads a form that was parsed
// before.
func keptFields(c httpio.Context) []views.Field {
	form := c.Request().PostForm
	if corpus.Blank(form.Get("message")) {
		return nil
	}
	// Other fields, such as a key that was typed, are left behind.
	var fields []views.Field
	for name, values := range form {
		if slices.Contains(asked, name) {
			for _, value := range values {
				fields = append(fields, views.Field{Name: name, Value: value})
			}
		}
	}
	// Forms of a conversation name it in their address, which the form for the key does not have.
	if strings.HasPrefix(c.Path(), "/c/:id/") && !form.Has("session_id") {
		fields = append(fields, views.Field{Name: "session_id", Value: c.Param("id")})
	}
	slices.SortStableFunc(fields, func(a, b views.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// showKept draws the page of a question that waited for its user to sign in, with the question in the box. It reports
// whether it did.
//
// The question is not asked: its user sends it once more.
func (h *Handlers) showKept(c httpio.Context) bool {
	q, err := h.Questions.Read(c)
	if err != nil {
		return false
	}
	err = h.refusedPage(c, httpio.Problem{Status: http.StatusOK}, q)
	return err == nil || httpio.Committed(c)
}

// pageOf is the page that a request comes from, on this server.
//
// It is told by the header Referer, which any client may make up, so only an address on this server is taken, else the
// first page.
func pageOf(c httpio.Context) string {
	u, err := url.Parse(c.Request().Referer())
	if err != nil || u.Host != c.Request().Host {
		return "/"
	}
	return localTarget(u.RequestURI())
}
