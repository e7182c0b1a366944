package page

import (
	"net/http"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/folders"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// ShowFolders handles GET /folders: the folders of this machine, for the local user to choose from.
//
// ?at= is a folder's path. Folders refuses other users, who must not see the machine's folders.
func (h *Handlers) ShowFolders(c httpio.Context) error {
	return h.foldersPage(c, c.QueryParam("at"), nil)
}

// FollowFolder handles POST /folders: a form that starts to follow a folder.
//
// It answers 303 to the documents, or the page with 400 for a folder that can't be followed.
func (h *Handlers) FollowFolder(c httpio.Context, form url.Values) error {
	folder := form.Get("folder")
	err := h.Folders.Choose(c, h.Guard, folder)
	switch {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, "/documents")
	// An error of the folder is shown beside it, and the user can choose another.
	case chat.CodeOf(err) == chat.CodeInvalid:
		return h.foldersPage(c, folder, err)
	}
	return err
}

// StopFollowing handles POST /folders/stop: a form that stops following a folder. The documents stay.
//
// It answers 303 to the documents.
func (h *Handlers) StopFollowing(c httpio.Context, form url.Values) error {
	if err := h.Folders.End(c, h.Guard, form.Get("folder")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/documents")
}

// foldersPage renders the page at a path; refused is why following it failed, if it was tried.
func (h *Handlers) foldersPage(c httpio.Context, at string, refused error) error {
	found, err := h.Folders.List(c, h.Guard, at)
	if err != nil {
		return err
	}
	p := views.FoldersPage{
		Dir: found.Dir, Above: httpio.Each(found.Above, folderPlace), Folders: httpio.Each(found.Folders, folderPlace),
		More:    found.More,
		Trouble: found.Trouble, Refused: found.Refused,
	}
	if refused != nil {
		p.Trouble = chat.MessageOf(refused)
	}
	status := http.StatusOK
	// The input stays in the field, for correction.
	if p.Trouble != "" {
		status, p.Typed = http.StatusBadRequest, at
	}
	return h.show(c, status, views.Page{
		Title: views.FoldersTitle.In(c.Request().Context()), Place: "documents",
	}, views.Folders(p))
}

func folderPlace(p folders.Place) views.FolderPlace { return views.FolderPlace(p) }

// followedFolders returns the folders that this server follows, with their last report, for users who may see them.
func (h *Handlers) followedFolders(c httpio.Context, seen []corpus.Watched) (shown []views.FollowedFolder) {
	if h.Folders.Check(c, h.Guard) != nil {
		return nil
	}
	for _, f := range h.Folders.Followed() {
		one := views.FollowedFolder{
			Dir: f.Dir, LookedAt: f.LookedAt, Chosen: f.Chosen,
			Unread: f.Trouble == folders.Unread, Stuck: f.Trouble == folders.Stuck,
		}
		for _, w := range seen {
			if w.Folder == f.Dir {
				one.Files = w.Files
			}
		}
		shown = append(shown, one)
	}
	return shown
}
