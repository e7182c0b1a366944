package api

import (
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// sharedFields are the manifest's names of shared text fields, in their order in a draft.
var sharedFields = []string{"title", "text", "url"}

// maxDraft is the maximum number of characters of shared text in a question's draft. It equals the limit of a link
// with a question.
const maxDraft = 2000

// sharedWords are the text fields of a share; nil: the upload is no share.
type sharedWords map[string]string

// Share handles POST /share, the share target of the installed page: files are added to the library; a link alone
// redirects to the page that adds it, and text becomes the draft of a question.
//
// Only browsers call it: it answers with 303, or with the page of refused files. It fetches and asks nothing before
// the user submits the form.
func (a *Documents) Share(c httpio.Context) error {
	words := sharedWords{}
	up, err := a.readUpload(c, words)
	if err != nil {
		return err
	}
	if len(up.res.Documents)+len(up.res.Rejected) > 0 {
		return a.sendUploadResult(c, up.res)
	}
	if address := words.address(); address != "" {
		add := url.Values{"url": {address}, "title": {words["title"]}}
		return c.Redirect(http.StatusSeeOther, "/add?"+add.Encode())
	}
	to := "/"
	if draft := words.draft(); draft != "" {
		to += "?" + url.Values{"q": {draft}}.Encode()
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// readSharedWords reads a part into the words of a share. taken is false for any other part.
//
// A field that is too long or not UTF-8 fails the whole request, since the page of refused files would not list it.
func readSharedWords(part *multipart.Part, words sharedWords) (taken bool, err error) {
	name := part.FormName()
	if words == nil || !slices.Contains(sharedFields, name) {
		return false, nil
	}
	value, err := readField(part, &chat.Error{
		Code: chat.CodeTooLarge, Message: "The shared text exceeds the limit of 64 KiB.",
	})
	if err != nil {
		return false, err
	}
	if !utf8.Valid(value) {
		return false, httpio.Invalid("The shared text isn't valid UTF-8.")
	}
	words[name] = strings.TrimSpace(httpio.CleanText(strings.ReplaceAll(string(value), "\r\n", "\n")))
	return true, nil
}

// draft joins the words without duplicates: many programs repeat a link or a title in the text.
func (w sharedWords) draft() string {
	var parts []string
	for _, name := range sharedFields {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, w[name]) }) {
			parts = slices.DeleteFunc(parts, func(part string) bool { return strings.Contains(w[name], part) })
			parts = append(parts, w[name])
		}
	}
	draft := []rune(strings.TrimSpace(strings.Join(parts, "\n")))
	return string(draft[:min(len(draft), maxDraft)])
}
