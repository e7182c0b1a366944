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
	txtAddPage     = locale.T("Add a web page")
	txtAddPageText = locale.T("Import a web page once, as a document that links to the original. To keep it in " +
		"sync, add it as a connected source.")
	txtPageAddress  = locale.T("Page URL")
	txtPasteAddress = locale.T("Or paste the URL of a web page")
	txtAddThisPage  = locale.T("Add page")
	txtFetchingPage = locale.T("Fetching page…")
	txtPageAdded    = locale.T("Page added to your library.")
	txtPageAgain    = locale.T("This page is already in your library with the same content.")
	txtOpenDocument = locale.T("Open document")
	txtAnotherPage  = locale.T("Add another page")
	txtMark         = locale.T("Add pages from your browser")
	txtMarkText     = locale.T("Drag this link to your browser's bookmarks bar. Click it there to add the page you " +
		"are reading.")
	txtMarkHere  = locale.T("To use this link, drag it to the bookmarks bar.")
	txtMarkPhone = locale.T("On a phone, install Footnote from the browser's menu and share a page with it. Or " +
		"paste the page's URL under “Add a web page”.")
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
	txtFollowText = locale.T("Choose a folder on this machine. Footnote imports its files and keeps them in sync.")
	txtFollowHow  = locale.T("Subfolders are included. Your files are never changed. Hidden files and symbolic " +
		"links are skipped.")
	txtFollowPath   = locale.T("Folder path")
	txtFollowShow   = locale.T("Go to folder")
	txtFollowThis   = locale.T("Watch this folder")
	txtFollowAbove  = locale.T("Parent folders")
	txtFollowIn     = locale.T("Subfolders")
	txtFollowNoneIn = locale.T("No subfolders.")
	txtFollowMoreIn = locale.T("Not all subfolders are shown. Enter a path to open another one.")
	txtFollowed     = locale.T("Watched folders")
	txtFollowOther  = locale.T("Watch another folder")
	txtFollowEnd    = locale.T("Stop watching")
	txtFollowStays  = locale.T("Documents stay after you stop watching.")
	txtFollowSet    = locale.T("set in the server settings")
	txtFollowFirst  = locale.T("not synced yet")
	txtFollowUnread = locale.T("Folder missing or unreadable. Its documents stay unchanged.")
	txtFollowStuck  = locale.T("The files can't be imported right now. Footnote retries automatically.")
	filesFollowed   = locale.N("{n} file", "{n} files")
)
