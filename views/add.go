package views

import (
	"net/url"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// AddPage is the data of the page that adds a web page to the library.
type AddPage struct {
	URL    string         // the URL in the form
	Title  string         // the page's title, supplied by another page; empty: unknown
	Given  bool           // another page supplied the URL: it is shown read-only
	Said   locale.Message // the error message; empty: no attempt
	Origin string         // the server's public URL
	Focus  bool           // the URL's field gets the focus

	Added *corpus.Document // the added document; nil: none
	Again bool             // it existed already
}

// Live reports whether the document is still being parsed or indexed.
//
// The page then reloads itself until the document is ready.
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

// bookmarklet returns the URL of a bookmark that opens the add form with the current page's URL and title. It opens
// a popup window, or reuses the tab where popups are blocked.
//
// origin is the server's URL without a path. The popup's size fits the form.
func bookmarklet(origin string) string {
	const open = "javascript:void(a=>open(a,'_blank','popup,width=520,height=560')||(location.href=a))('"
	return open + origin + "/add?'+new URLSearchParams({url:location.href,title:document.title}))"
}

func addedURL(d corpus.Document) string {
	return "/add?" + url.Values{"added": {d.ID}}.Encode()
}

// FoldersPage lists a folder of the server's machine, so that a user can choose one to follow.
//
// It is served only to the local user of the server's machine, so paths are not hidden.
type FoldersPage struct {
	Dir     string // the folder that is shown
	Above   []FolderPlace
	Folders []FolderPlace  // in it
	More    bool           // the list is truncated
	Typed   string         // an invalid path in the form
	Trouble locale.Message // its error message
	Refused locale.Message // why this folder can't be followed; empty: it can
}

// FolderPlace is a folder on that page.
type FolderPlace struct{ Name, Path string }

// FollowedFolder is a folder that this server follows.
//
// Files is 0 until the first report about the folder.
type FollowedFolder struct {
	Dir      string
	Files    int
	LookedAt time.Time // time of the last sync; zero: never
	Chosen   bool      // on the page, where it can be removed; otherwise in the settings
	Unread   bool      // it is missing or unreadable
	Stuck    bool      // the library rejects its files
}

// FoldersTitle is the title of that page.
var FoldersTitle = txtFollow

var (
	txtFollow     = locale.T("Watch a folder")
	txtFollowText = locale.T("Choose a folder of this machine. Its files become documents, and what changes " +
		"there later follows by itself.")
	txtFollowHow = locale.T("Footnote reads all that is in it and below it, and changes nothing. Hidden " +
		"files and links stay out.")
	txtFollowPath   = locale.T("Path of a folder")
	txtFollowShow   = locale.T("Show it")
	txtFollowThis   = locale.T("Watch this folder")
	txtFollowAbove  = locale.T("Where it lies")
	txtFollowIn     = locale.T("Folders in it")
	txtFollowNoneIn = locale.T("There are no folders in it.")
	txtFollowMoreIn = locale.T("There are more folders in it. To see another, type its path.")
	txtFollowed     = locale.T("Watched folders")
	txtFollowOther  = locale.T("Watch another folder")
	txtFollowEnd    = locale.T("Stop watching")
	txtFollowStays  = locale.T("When you stop, the documents stay.")
	txtFollowSet    = locale.T("set by the settings")
	txtFollowFirst  = locale.T("being looked at for the first time")
	txtFollowUnread = locale.T("It can't be read now, so its documents stay as they are.")
	txtFollowStuck  = locale.T("The library does not take its files now. They are tried again every few seconds.")
	filesFollowed   = locale.N("{n} file", "{n} files")
)
