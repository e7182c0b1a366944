package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/server/httpio"
)

// NewPage is the body of POST /documents for a web page.
type NewPage struct {
	// The URL of the page: http or https. Redirects are followed.
	URL       string `json:"url" api:"need,form=web,min=8,max=2000"`
	Namespace string `json:"namespace" api:"form=namespace"` // The document's namespace; "default" if empty.
	// The document's metadata: author, date, tags and so on. An existing document keeps its own.
	Meta map[string]any `json:"meta"`
}

// addPage handles POST /documents with JSON: it imports the web page at an address as a document. Errors of the page
// are encoded like those of a refused file.
//
// The response is that of an upload of one file: 202 with the document, or the status of the error, with the page in
// rejected. Only a failure of the server and a disconnected client are answered as a problem.
func (a *Documents) addPage(c httpio.Context) error {
	var page NewPage
	if err := a.Bodies.ReadJSON(c, &page); err != nil {
		return err
	}
	if page.URL == "" {
		return httpio.Invalid("The field \"url\" is required.")
	}
	if err := chat.CheckNamespace(page.Namespace); err != nil {
		return err
	}
	res := noUploads()
	d, duplicate, err := a.PutPage(c, addpage.Page{
		User: httpio.Scope(c).User, Namespace: page.Namespace, Address: page.URL, Meta: page.Meta,
	})
	switch {
	case err != nil && (c.Request().Context().Err() != nil || httpio.Status(chat.CodeOf(err)) ==
		http.StatusInternalServerError):
		return err
	case err != nil:
		res.Rejected = append(res.Rejected, rejected(page.URL, err))
	default:
		res.Documents = append(res.Documents, uploaded(d, duplicate))
	}
	return a.sendUploadResult(c, res)
}

// PutPage imports a web page for a program or the page's form, and counts it against the limits.
//
// Over the user's limits it fails before the page is fetched. duplicate means that d existed before.
func (a *Documents) PutPage(c httpio.Context, page addpage.Page) (d corpus.Document, duplicate bool, err error) {
	ctx := c.Request().Context()
	result := "added"
	if err = a.checkUploadQuota(ctx, page.User); err == nil { // before it is fetched
		d, duplicate, err = a.Pages.Add(ctx, page)
	}
	switch {
	case err != nil:
		result = "rejected"
		a.Log.InfoContext(ctx, "page rejected", "code", chat.CodeOf(err), "err", err)
	case duplicate:
		result = "duplicate"
	}
	a.Metrics.Uploaded(result)
	return d, duplicate, err
}

// address returns the shared address, if there is no other content: a link, or a text that is one. Many programs
// share a link as the text, with the page's title.
func (w sharedWords) address() string {
	var links []string
	for _, name := range []string{"url", "text"} {
		text := w[name]
		switch {
		case text == "" || name == "text" && text == w["title"]:
		case strings.ContainsAny(text, " \n\t") || chat.WebLink(text) == "":
			return ""
		case !slices.Contains(links, text):
			links = append(links, text)
		}
	}
	if len(links) != 1 {
		return ""
	}
	return links[0]
}
