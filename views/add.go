package views

import (
	"net/url"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// AddPage is the page that adds a page of the web.
type AddPage struct {
	URL    string // as it was typed or given
	Title  string // what the page at it is called, as another page says; empty: not known
	Given  bool   // another page gave the URL: it is shown and not typed
	Said   string // why it was not added; empty: nothing was tried
	Origin string // where this server is reached
	Focus  bool   // somebody is going to type the URL

	Added *corpus.Document // that was just added; nil: none
	Again bool             // it was there already
}

// Live reports whether the document is still being read.
//
// The page then loads itself again, to show when it is ready.
func (a AddPage) Live() bool { return a.Added != nil && working(*a.Added) }

// AddPageTitle is the title of the page.
var AddPageTitle = txtAddPage

var (
	txtAddPage     = locale.T("Add a page")
	txtAddPageText = locale.T("A page of the web becomes a document that leads back to its address. It is fetched " +
		"once: to follow it, add it as a place.")
	txtPageAddress  = locale.T("Address of the page")
	txtPasteAddress = locale.T("Or paste the address of a web page")
	txtAddThisPage  = locale.T("Add this page")
	txtFetchingPage = locale.T("Fetching the page…")
	txtPageAdded    = locale.T("The page is among your documents now.")
	txtPageAgain    = locale.T("The page was among your documents already, with the same content.")
	txtOpenDocument = locale.T("Open the document")
	txtAnotherPage  = locale.T("Add another page")
	txtMark         = locale.T("Add pages while you read them")
	txtMarkText     = locale.T("Drag this link to the bookmarks bar of your browser. There, a click on it adds the " +
		"page that you are reading.")
	txtMarkHere  = locale.T("It works from the bookmarks bar: drag it there.")
	txtMarkPhone = locale.T("On a phone, install Footnote from the browser's menu and share a page with it, or copy " +
		"the address of the page and paste it here under “Add a page”.")
)

// bookmarklet is the address of a bookmark that opens the page which adds the page that is being read: in a window of
// its own, or in the same one where windows are not opened.
//
// origin is the server's address without a path. The size of the window is a choice that fits the form.
func bookmarklet(origin string) string {
	const open = "javascript:void(a=>open(a,'_blank','popup,width=520,height=560')||(location.href=a))('"
	return open + origin + "/add?'+new URLSearchParams({url:location.href,title:document.title}))"
}

func addedURL(d corpus.Document) string {
	return "/add?" + url.Values{"added": {d.ID}}.Encode()
}
