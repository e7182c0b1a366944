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
	txtPlaces     = locale.T("Places")
	txtPlacesText = locale.T("Web pages, feeds, cloud folders and buckets: their documents come here, and what " +
		"changes there follows.")
	txtPlacesNone    = locale.T("No places yet. Add the first one.")
	txtPlaceAdd      = locale.T("Add a place")
	txtPlaceAddThis  = locale.T("Add this place")
	txtPlaceTrying   = locale.T("Trying it…")
	txtPlaceName     = locale.T("Name")
	txtPlaceNameHelp = locale.T("Its documents lie in a folder of this name. Leave it empty for a name that fits.")
	txtPlaceOptional = locale.T("optional")
	txtPlaceSecret   = locale.T("It is kept on this server, readable by it alone, and never shown again.")
	txtPlaceWhen     = locale.T("Look there")
	txtPlaceRequest  = locale.T("only on request")
	txtPlaceHour     = locale.T("every hour")
	txtPlaceDay      = locale.T("every day")
	txtPlaceWeek     = locale.T("every week")
	txtPlaceOther    = locale.T("Another kind of place")
	txtPlaceLook     = locale.T("Look now")
	txtPlacePause    = locale.T("Pause")
	txtPlaceResume   = locale.T("Resume")
	txtPlaceRemove   = locale.T("Remove")
	txtPlaceKeep     = locale.T("Remove, keep its documents")
	txtPlaceDrop     = locale.T("Remove with its documents")
	txtPlaceSure     = locale.T("The place is not followed any more. What about the documents that came from it?")
	txtPlaceLooking  = locale.T("looking")
	txtPlaceWaiting  = locale.T("waiting for its turn")
	txtPlacePaused   = locale.T("paused")
	txtPlaceRemoving = locale.T("being removed")
	txtPlaceFirst    = locale.T("not looked at yet")
	txtPlaceNext     = locale.T("next look")
	txtPlaceNoNext   = locale.T("on request")
	txtPlaceNothing  = locale.T("nothing had changed")
	txtPlaceItem     = locale.T("Item")
	txtPlaceMend     = locale.T("Try and keep")
	placeItems       = locale.N("{n} item", "{n} items")
	placeLeft        = locale.N("{n} still to fetch", "{n} still to fetch")
	placeRefused     = locale.N("{n} item is not in the library", "{n} items are not in the library")
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
