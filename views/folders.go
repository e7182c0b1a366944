package views

import (
	"time"

	"github.com/footnote/footnote/text/locale"
)

// FoldersPage lists a folder of the server's machine, so that a user can choose one to follow.
//
// It is served only to the local user of the server's machine, so paths are not hidden.
type FoldersPage struct {
	Dir     string // the folder that is shown
	Above   []FolderPlace
	Folders []FolderPlace // in it
	More    bool          // the list is truncated
	Typed   string        // an invalid path in the form
	Trouble string        // its error message
	Refused string        // why this folder can't be followed; empty: it can
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
