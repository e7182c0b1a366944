package api

import (
	"encoding/base64"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/server/httpio"
)

// Places serves the followed places. Routes fail with 404 for a place that the user does not have.
type Places struct {
	Follower *follow.Follower
	Guard    *httpio.Guard
}

// FollowedPlace is a followed place, without its secrets.
type FollowedPlace struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // A kind from GET /places/kinds.
	Name string `json:"name"`
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace string            `json:"namespace"`
	Settings  map[string]string `json:"settings"` // Without its secrets.
	// The names of the secret settings. No response contains their values.
	Secrets  []string            `json:"secrets"`
	Schedule placestore.Schedule `json:"schedule" api:"shared"` // The schedule of its syncs.
	// waiting, looking, idle, failed, paused or removing.
	State       string     `json:"state"`
	LookedAt    *time.Time `json:"looked_at,omitempty"`    // When the last sync ended.
	SucceededAt *time.Time `json:"succeeded_at,omitempty"` // When the last successful sync ended.
	NextAt      *time.Time `json:"next_at,omitempty"`      // The time of the next sync; left out: on request only.
	// The reason why the last sync failed. It is retried unless the state is paused.
	Failure  *PlaceFailure `json:"failure,omitempty"`
	Note     string        `json:"note,omitempty"` // Notes on the last sync.
	Items    int           `json:"items"`          // The number of items of the source.
	Refused  int           `json:"refused"`        // The number of items that could not be imported.
	Waiting  int           `json:"waiting"`        // The number of items that are not fetched yet.
	LastLook PlaceReport   `json:"last_look"`      // The last sync's changes in the library.
}

// PlaceFailure is the reason for a failed sync or item.
type PlaceFailure struct {
	Code   chat.Code `json:"code"`
	Detail string    `json:"detail"`
}

// PlaceReport is the changes of the last sync in the library.
type PlaceReport struct {
	Added     int             `json:"added"`     // New documents.
	Changed   int             `json:"changed"`   // Documents with a new version.
	Removed   int             `json:"removed"`   // Documents whose items were removed.
	Documents []PlaceDocument `json:"documents"` // The first of these documents.
}

// PlaceDocument is a document that a sync changed.
type PlaceDocument struct {
	ID   string `json:"document_id"`
	Name string `json:"name"`
	What string `json:"what"` // added, changed or removed.
}

// PlaceList is the response of GET /places.
type PlaceList struct {
	Places []FollowedPlace `json:"places"` // The connected sources.
}

// PlaceKinds is the response of GET /places/kinds.
type PlaceKinds struct {
	Kinds []PlaceKind `json:"kinds"` // The kinds of sources.
}

// PlaceKind is a kind of place.
type PlaceKind struct {
	Name   string       `json:"name"` // The value of kind in POST /places.
	Title  string       `json:"title"`
	Help   string       `json:"help"`   // The scope of the sync and its requirements.
	Fields []PlaceField `json:"fields"` // The settings of the kind.
}

// PlaceField is a setting of a kind.
type PlaceField struct {
	Name     string `json:"name"` // The key in settings of POST /places.
	Title    string `json:"title"`
	Help     string `json:"help,omitempty"`    // Further help.
	Example  string `json:"example,omitempty"` // An example of a value.
	Required bool   `json:"required"`          // Whether it is required.
	Secret   bool   `json:"secret"`            // Whether the value is a secret, which no response contains.
	Lines    bool   `json:"lines"`             // Whether the value has several lines.
}

// NewPlace is the body of POST /places.
type NewPlace struct {
	Kind string `json:"kind" api:"need,min=1,max=100"` // A kind from GET /places/kinds.
	// The folder of its documents in the library. Default: a new folder.
	Name      string `json:"name" api:"max=placestore.MaxNameLen"`
	Namespace string `json:"namespace" api:"form=namespace"` // The namespace of its documents; "default" if empty.
	// The settings by the names of the kind's fields, including secrets.
	Settings map[string]string   `json:"settings"`
	Schedule placestore.Schedule `json:"schedule" api:"values=placestore.Schedule,initial=day"`
}

// PlaceChange is the body of PATCH /places/{id}. Omitted fields are unchanged.
type PlaceChange struct {
	// The folder of documents added from now on.
	Name     *string              `json:"name" api:"min=1,max=placestore.MaxNameLen"`
	Schedule *placestore.Schedule `json:"schedule" api:"values=placestore.Schedule"`
	Paused   *bool                `json:"paused"` // Whether its sync is paused.
	// The changed settings, by the names of the kind's fields. If the scheme, host or port of the server changes,
	// stored secrets must be sent again; otherwise the request is rejected with 400.
	Settings map[string]string `json:"settings"`
}

// PlaceItems is the response of GET /places/{id}/items.
type PlaceItems struct {
	Items []PlaceItem `json:"items"` // A page of items, sorted by key.
	Next  string      `json:"next,omitempty"`
}

// PlaceItem is an item of a place.
type PlaceItem struct {
	Key        string        `json:"key"` // The item's key in its source.
	Name       string        `json:"name"`
	Link       string        `json:"link,omitempty"` // The URL of the item.
	DocumentID string        `json:"document_id,omitempty"`
	Refused    *PlaceFailure `json:"refused,omitempty"` // The reason why it is not in the library, or not up to date.
}

// newFollowedPlace converts a place to its API form. Unset times are left out, and lists are never null.
func newFollowedPlace(p placestore.Place) FollowedPlace {
	place := FollowedPlace{
		ID: p.ID, Kind: p.Kind, Name: p.Name, Namespace: p.Namespace, Settings: p.Settings,
		Secrets: httpio.NotNil(p.Secrets), Schedule: p.Schedule, State: p.State(), Note: p.Note.String(),
		LookedAt: httpio.Known(p.LookedAt), SucceededAt: httpio.Known(p.SuccessAt), NextAt: httpio.Known(p.NextAt),
		Failure: newPlaceFailure(p.Trouble()), Items: p.Counts.Items, Refused: p.Counts.Refused,
		Waiting:  p.Counts.Waiting,
		LastLook: PlaceReport{p.Report.Added, p.Report.Changed, p.Report.Removed, []PlaceDocument{}},
	}
	for _, d := range p.Report.Documents {
		place.LastLook.Documents = append(place.LastLook.Documents, PlaceDocument{d.Document, d.Name, d.What})
	}
	if place.Settings == nil {
		place.Settings = map[string]string{}
	}
	return place
}

func newPlaceFailure(f *placestore.Failure) *PlaceFailure {
	if f == nil {
		return nil
	}
	return &PlaceFailure{f.Code, f.Message.String()}
}

// List handles GET /places.
func (a *Places) List(c httpio.Context) (PlaceList, error) {
	all, err := a.Follower.Store.Places(c.Request().Context(), httpio.Scope(c).User)
	return PlaceList{httpio.Each(all, newFollowedPlace)}, err
}

// ListKinds handles GET /places/kinds. Titles and help are in the reader's language, names are not.
func (a *Places) ListKinds(c httpio.Context) (PlaceKinds, error) {
	ctx := c.Request().Context()
	return PlaceKinds{httpio.Each(a.Follower.Kinds, func(k sources.Kind) PlaceKind {
		fields := httpio.Each(k.Fields, func(f sources.Field) PlaceField {
			return PlaceField{f.Name, f.Title.In(ctx), f.Help.In(ctx), f.Example, f.Required, f.Secret, f.Lines}
		})
		return PlaceKind{k.Name, k.Title.In(ctx), k.Help.In(ctx), fields}
	})}, nil
}

// Add handles POST /places after a test connection with the settings; the first sync runs in the background. The
// guard reports whether the request is the local user's, which decides the networks that the place may reach.
func (a *Places) Add(c httpio.Context, n NewPlace) (FollowedPlace, error) {
	p, err := a.Follower.Create(
		c.Request().Context(), httpio.Scope(c).User, a.Guard.ByLocalUser(c.Request()), follow.Draft(n),
	)
	return newFollowedPlace(p), err
}

// Get handles GET /places/{id}.
func (a *Places) Get(c httpio.Context) (FollowedPlace, error) {
	p, err := a.Follower.Store.Place(c.Request().Context(), httpio.Scope(c).User, c.Param("id"))
	return newFollowedPlace(p), err
}

// Change handles PATCH /places/{id}. Omitted fields are unchanged. New settings are tested before they are stored.
func (a *Places) Change(c httpio.Context, change PlaceChange) (FollowedPlace, error) {
	p, err := a.Follower.Change(c.Request().Context(), httpio.Scope(c).User, c.Param("id"),
		a.Guard.ByLocalUser(c.Request()), follow.Change(change))
	return newFollowedPlace(p), err
}

// Remove handles DELETE /places/{id}: the place is deleted in the background. Without ?documents= its documents are
// kept.
func (a *Places) Remove(c httpio.Context) (any, error) {
	how := placestore.Removal(c.QueryParam("documents"))
	switch how {
	case placestore.NotRemoved:
		how = placestore.KeepDocuments
	case placestore.KeepDocuments, placestore.DropDocuments:
	default:
		return nil, httpio.Invalid("documents must be keep or delete.")
	}
	return nil, a.Follower.Remove(c.Request().Context(), httpio.Scope(c).User, c.Param("id"), how)
}

// Look handles POST /places/{id}/look: the next free worker syncs the place.
func (a *Places) Look(c httpio.Context) (FollowedPlace, error) {
	p, err := a.Follower.SyncNow(c.Request().Context(), httpio.Scope(c).User, c.Param("id"))
	return newFollowedPlace(p), err
}

// maxPlaceItems is the maximum number of items in a response, equal to that of documents.
const maxPlaceItems = 1000

// ListItems handles GET /places/{id}/items.
//
// It reads one item more than requested, to detect a further page. The cursor is the last key in base64, opaque to
// clients.
func (a *Places) ListItems(c httpio.Context) (list PlaceItems, err error) {
	limit, err := httpio.QueryInt(c, "limit", 100, 1, maxPlaceItems)
	if err != nil {
		return list, err
	}
	state := c.QueryParam("state")
	if state != "" && state != "refused" {
		return list, httpio.Invalid("state must be refused, or omitted.")
	}
	after, err := base64.RawURLEncoding.DecodeString(c.QueryParam("cursor"))
	if err != nil || len(after) > sources.MaxKey {
		return list, httpio.Invalid("Invalid cursor. Omit it to start from the first page.")
	}
	items, err := a.Follower.Store.Items(
		c.Request().Context(), httpio.Scope(c).User, c.Param("id"), state == "refused", string(after), limit+1,
	)
	if len(items) > limit {
		items = items[:limit]
		list.Next = base64.RawURLEncoding.EncodeToString([]byte(items[limit-1].Key))
	}
	list.Items = httpio.Each(items, func(item placestore.Item) PlaceItem {
		return PlaceItem{item.Key, item.Name, item.Link, item.Document, newPlaceFailure(item.Refusal)}
	})
	return list, err
}
