package page

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// shownRefused is the maximum number of a place's refused items on the page; GET /places/{id}/items has all of them.
const shownRefused = 50

// ShowPlaces handles GET /places for a browser: the followed places.
//
// Each user sees only their own places. The page reloads while one of them is syncing, waiting or being removed.
func (h *Handlers) ShowPlaces(c httpio.Context) error {
	return h.placesPage(c, http.StatusOK, views.PlacesPage{}, nil)
}

// placesPage sends the page of places. wrong has the form of a place, by id, whose new credentials were refused.
func (h *Handlers) placesPage(
	c httpio.Context, status int, p views.PlacesPage, wrong map[string]*views.PlaceForm,
) error {
	ctx, user := c.Request().Context(), httpio.Scope(c).User
	all, err := h.Places.Store.Places(ctx, user)
	if err != nil {
		return err
	}
	p.Now, p.Origin = time.Now(), httpio.Origin(c)
	for _, place := range all {
		row := views.PlaceRow{
			ID: place.ID, Name: place.Name, Kind: place.Kind, State: place.State(), LookedAt: place.LookedAt,
			NextAt: place.NextAt, Items: place.Counts.Items, Waiting: place.Counts.Waiting,
			Refused: place.Counts.Refused,
			Added:   place.Report.Added, Changed: place.Report.Changed, Removed: place.Report.Removed, Note: place.Note,
		}
		// A place of an unknown kind is still shown, under the kind's name.
		kind, known := h.kindOf(place.Kind)
		if known {
			row.Kind = kind.Title.In(ctx)
		}
		if row.State == "failed" && !place.NextAt.IsZero() && !place.NextAt.After(p.Now) {
			row.State = "waiting" // the last sync's problems may be fixed
		} else if failure := place.Trouble(); failure != nil {
			row.Failure = failure.Message
			// The local user can set a place's network reach, which is not stored for places of earlier versions.
			mends := failure.Code == chat.CodeUnauthorized || failure.Code == chat.CodeForbidden &&
				!place.Local && h.Guard.ByLocalUser(c.Request())
			if known && row.State == "failed" && mends {
				row.Mend = mendForm(c, kind, place.Settings, place.Secrets)
			}
		}
		if form := wrong[place.ID]; form != nil {
			row.Mend, row.Failure = form, "" // the form shows it
		}
		if row.Refused > 0 && row.State != "removing" {
			items, err := h.Places.Store.Items(ctx, user, place.ID, true, "", shownRefused)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				return err
			}
			for _, item := range items {
				row.RefusedItems = append(row.RefusedItems, views.RefusedItem{
					Name: item.Name, Link: chat.WebLink(item.Link), Reason: item.Refusal.Message,
				})
			}
		}
		// These states end without the user; the others need an action.
		p.Live = p.Live || row.State == "looking" || row.State == "waiting" || row.State == "removing"
		p.Places = append(p.Places, row)
	}
	for _, kind := range h.Places.Kinds {
		p.Kinds = append(p.Kinds, views.PlaceKindRow{
			Name: kind.Name, Title: kind.Title.In(ctx), Help: kind.Help.In(ctx),
		})
	}
	frame, err := h.pageFrame(c, views.PlacesTitle.In(ctx))
	if err != nil {
		return err
	}
	frame.Place = "documents"
	return h.showPage(c, status, frame, views.Places(p), nil)
}

func (h *Handlers) kindOf(name string) (sources.Kind, bool) {
	for _, kind := range h.Places.Kinds {
		if kind.Name == name {
			return kind, true
		}
	}
	return sources.Kind{}, false
}

// NewPlace handles GET /places/new: the form of a kind of place.
//
// ?kind= is the kind; for an unknown one the list is shown.
func (h *Handlers) NewPlace(c httpio.Context) error {
	kind, ok := h.kindOf(c.QueryParam("kind"))
	if !ok {
		return h.placesPage(c, http.StatusOK, views.PlacesPage{}, nil)
	}
	return h.placeForm(c, http.StatusOK, kind, views.PlaceForm{Schedule: string(placestore.EveryDay)}, nil)
}

// AddPlace handles POST /places/new: a form that adds a place. If the place does not answer, the form keeps its
// input except secrets.
//
// It answers 303 to the list, or the form with 400 and the invalid field. It waits for the connection to the place.
func (h *Handlers) AddPlace(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	form := c.Request().PostForm
	kind, ok := h.kindOf(form.Get("kind"))
	if !ok {
		return h.placesPage(
			c, http.StatusBadRequest, views.PlacesPage{Said: "There is no such kind of place."}, nil,
		)
	}
	// Other fields than the kind's are ignored.
	given := map[string]string{}
	for _, field := range kind.Fields {
		given[field.Name] = form.Get("set." + field.Name)
	}
	_, err := h.Places.Create(
		c.Request().Context(),
		httpio.Scope(c).User,
		h.Guard.ByLocalUser(c.Request()),
		follow.Draft{
			Kind: kind.Name, Name: form.Get("name"), Settings: given,
			Schedule: placestore.Schedule(form.Get("schedule")),
		},
	)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/places")
	}
	if code := chat.CodeOf(err); code == chat.CodeInternal || c.Request().Context().Err() != nil {
		return err
	}
	f := views.PlaceForm{Name: form.Get("name"), Schedule: form.Get("schedule"), Said: chat.MessageOf(err)}
	if wrong, ok := errors.AsType[*follow.FieldError](err); ok {
		f.Field = wrong.Field
	}
	return h.placeForm(c, http.StatusBadRequest, kind, f, given)
}

func (h *Handlers) placeForm(
	c httpio.Context, status int, kind sources.Kind, f views.PlaceForm, given map[string]string,
) error {
	ctx := c.Request().Context()
	f.Kind = views.PlaceKindRow{Name: kind.Name, Title: kind.Title.In(ctx), Help: kind.Help.In(ctx)}
	for _, field := range kind.Fields {
		shown := views.PlaceFormField{
			Name: field.Name, Title: field.Title.In(ctx), Help: field.Help.In(ctx), Example: field.Example,
			Required: field.Required, Secret: field.Secret, Lines: field.Lines,
		}
		// A browser may cache a page, so it never contains a secret.
		if !field.Secret {
			shown.Value = given[field.Name]
		}
		f.Fields = append(f.Fields, shown)
	}
	frame, err := h.pageFrame(c, f.Kind.Title)
	if err != nil {
		return err
	}
	frame.Place = "documents"
	return h.showPage(c, status, frame, views.NewPlace(frame, f), nil)
}

// ActOnPlace handles POST /places/{id}/act: a button of a place.
//
// It answers 303 to the list; 409 renders the list with the reason; 404 for a place that the user does not have. It
// can't change settings, so it does not check for the local user.
func (h *Handlers) ActOnPlace(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	ctx, user, id := c.Request().Context(), httpio.Scope(c).User, c.Param("id")
	change := func(paused bool) error {
		_, err := h.Places.Change(ctx, user, id, false, follow.Change{Paused: &paused})
		return err
	}
	var err error
	switch c.Request().PostForm.Get("do") {
	case "look":
		_, err = h.Places.Look(ctx, user, id)
	case "pause":
		err = change(true)
	case "resume":
		err = change(false)
	case "credentials":
		return h.mendPlace(c, user, id)
	case "keep":
		err = h.Places.Remove(ctx, user, id, placestore.KeepDocuments)
	case "delete":
		err = h.Places.Remove(ctx, user, id, placestore.DropDocuments)
	default:
		err = errUnknownButton
	}
	if chat.CodeOf(err) == chat.CodeConflict && err != nil {
		return h.placesPage(c, http.StatusConflict, views.PlacesPage{Said: chat.MessageOf(err)}, nil)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/places")
}

// mendForm returns the form for a kind's credentials. Secrets stay empty, regardless of values; stored ones must be
// entered.
//
// It is nil for a kind without credentials.
func mendForm(c httpio.Context, kind sources.Kind, values map[string]string, stored []string) *views.PlaceForm {
	ctx, form := c.Request().Context(), &views.PlaceForm{}
	for _, field := range kind.Fields {
		if !field.Secret && !field.Login {
			continue
		}
		shown := views.PlaceFormField{
			Name: field.Name, Title: field.Title.In(ctx), Secret: field.Secret,
			Required: field.Required || slices.Contains(stored, field.Name),
		}
		if !field.Secret {
			shown.Value = values[field.Name]
		}
		form.Fields = append(form.Fields, shown)
	}
	if len(form.Fields) == 0 {
		return nil
	}
	return form
}

// mendPlace stores new credentials of a place if its server accepts them. Otherwise the form keeps its input except
// secrets.
//
// Form fields that the kind does not have are ignored. Accepted credentials trigger a sync.
func (h *Handlers) mendPlace(c httpio.Context, user, id string) error {
	ctx := c.Request().Context()
	place, err := h.Places.Store.Place(ctx, user, id)
	if err != nil {
		return err
	}
	kind, _ := h.kindOf(place.Kind)
	given := map[string]string{}
	for _, field := range kind.Fields {
		if field.Secret || field.Login {
			given[field.Name] = c.Request().PostForm.Get("set." + field.Name)
		}
	}
	_, err = h.Places.Change(ctx, user, id, h.Guard.ByLocalUser(c.Request()), follow.Change{Settings: given})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/places")
	}
	form := mendForm(c, kind, given, place.Secrets)
	code := chat.CodeOf(err)
	if form == nil || code == chat.CodeInternal || code == chat.CodeNotFound || ctx.Err() != nil {
		return err
	}
	form.Said = httpio.AsError(err).Message
	if wrong, ok := errors.AsType[*follow.FieldError](err); ok {
		form.Field = wrong.Field
	}
	return h.placesPage(c, http.StatusBadRequest, views.PlacesPage{}, map[string]*views.PlaceForm{id: form})
}
