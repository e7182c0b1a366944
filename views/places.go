package views

import (
	"context"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// PlacesPage is the data of the page of synced places.
type PlacesPage struct {
	Places []PlaceRow
	Kinds  []PlaceKindRow // kinds that can be added
	Live   bool           // in progress: the page polls
	Said   locale.Message // result of the last action; empty: none
	Now    time.Time
	Origin string // the server's public URL
}

// PlaceRow is a place on that page.
//
// Counts are of items, except Added, Changed and Removed, which are the documents of the last sync.
type PlaceRow struct {
	ID, Name, Kind          string
	State                   string // as in the API
	LookedAt, NextAt        time.Time
	Items, Waiting, Refused int
	Added, Changed, Removed int
	Failure, Note           locale.Message
	RefusedItems            []RefusedItem // the first ones
	Mend                    *PlaceForm    // form for new credentials; nil: the stored ones are valid
}

// RefusedItem is an item that was not added to the library, with the reason.
type RefusedItem struct {
	Name, Link string
	Reason     locale.Message
}

// PlaceKindRow is a kind of place that can be added.
type PlaceKindRow struct{ Name, Title, Help string }

// PlaceForm is the form that adds a place of a kind.
type PlaceForm struct {
	Kind     PlaceKindRow
	Fields   []PlaceFormField
	Name     string
	Schedule string
	Said     locale.Message // the error message
	Field    string         // the field with the error; empty: none
}

// PlaceFormField is a field of that form. A secret has no Value.
type PlaceFormField struct {
	Name, Title, Help, Example, Value string
	Required, Secret, Lines           bool
}

// PlacesTitle is the title of the page.
var PlacesTitle = txtPlaces

var (
	txtPlaces     = locale.T("Connected sources")
	txtPlacesText = locale.T("Import documents from web pages, feeds, cloud folders and buckets, and keep them in " +
		"sync.")
	txtPlacesNone    = locale.T("No connected sources yet.")
	txtPlaceAdd      = locale.T("Add a source")
	txtPlaceAddThis  = locale.T("Add source")
	txtPlaceTrying   = locale.T("Testing connection…")
	txtPlaceName     = locale.T("Name")
	txtPlaceNameHelp = locale.T("Its documents appear in a folder with this name. Leave empty for an automatic name.")
	txtPlaceOptional = locale.T("optional")
	txtPlaceSecret   = locale.T("Stored on this server, readable only by Footnote, and never shown again.")
	txtPlaceWhen     = locale.T("Sync schedule")
	txtPlaceRequest  = locale.T("Manual only")
	txtPlaceHour     = locale.T("Every hour")
	txtPlaceDay      = locale.T("Every day")
	txtPlaceWeek     = locale.T("Every week")
	txtPlaceOther    = locale.T("Choose another source type")
	txtPlaceLook     = locale.T("Sync now")
	txtPlacePause    = locale.T("Pause")
	txtPlaceResume   = locale.T("Resume")
	txtPlaceRemove   = locale.T("Remove")
	txtPlaceKeep     = locale.T("Remove and keep documents")
	txtPlaceDrop     = locale.T("Remove and delete documents")
	txtPlaceSure     = locale.T("Footnote stops syncing this source. Keep or delete its documents?")
	txtPlaceLooking  = locale.T("syncing")
	txtPlaceWaiting  = locale.T("queued")
	txtPlacePaused   = locale.T("paused")
	txtPlaceRemoving = locale.T("removing")
	txtPlaceFirst    = locale.T("not synced yet")
	txtPlaceNext     = locale.T("next sync")
	txtPlaceNoNext   = locale.T("manual")
	txtPlaceNothing  = locale.T("no changes")
	txtPlaceItem     = locale.T("Item")
	txtPlaceMend     = locale.T("Test and save")
	placeItems       = locale.N("{n} item", "{n} items")
	placeLeft        = locale.N("{n} pending", "{n} pending")
	placeRefused     = locale.N("{n} item not imported", "{n} items not imported")
	placeAdded       = locale.N("{n} added", "{n} added")
	placeChanged     = locale.N("{n} changed", "{n} changed")
	placeRemoved     = locale.N("{n} removed", "{n} removed")
)

// state returns the text of a place's state. It is empty for an idle place.
func (r PlaceRow) state(ctx context.Context) string {
	switch r.State {
	case "looking":
		return txtPlaceLooking.In(ctx)
	case "waiting":
		return txtPlaceWaiting.In(ctx)
	case "paused":
		return txtPlacePaused.In(ctx)
	case "removing":
		return txtPlaceRemoving.In(ctx)
	}
	return ""
}

// changes returns the counts of documents that the last sync added, changed and removed.
func (r PlaceRow) changes(ctx context.Context) string {
	text := ""
	for _, part := range []struct {
		n    int
		said locale.Counted
	}{{r.Added, placeAdded}, {r.Changed, placeChanged}, {r.Removed, placeRemoved}} {
		if part.n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += part.said.Count(ctx, part.n)
	}
	if text == "" {
		return txtPlaceNothing.In(ctx)
	}
	return text
}

// placeSchedules returns the form's schedules.
//
// The values are those of the API.
func placeSchedules() []struct {
	Value string
	Text  locale.Text
} {
	return []struct {
		Value string
		Text  locale.Text
	}{{"request", txtPlaceRequest}, {"hour", txtPlaceHour}, {"day", txtPlaceDay}, {"week", txtPlaceWeek}}
}
