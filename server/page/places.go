package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
			row.RefusedItems = httpio.Each(items, func(item placestore.Item) views.RefusedItem {
				return views.RefusedItem{Name: item.Name, Link: chat.WebLink(item.Link), Reason: item.Refusal.Message}
			})
		}
		// These states end without the user; the others need an action.
		p.Live = p.Live || row.State == "looking" || row.State == "waiting" || row.State == "removing"
		p.Places = append(p.Places, row)
	}
	p.Kinds = httpio.Each(h.Places.Kinds, func(k sources.Kind) views.PlaceKindRow { return kindRow(ctx, k) })
	return h.show(c, status, views.Page{Title: views.PlacesTitle.In(ctx), Place: "documents"}, views.Places(p))
}

func kindRow(ctx context.Context, k sources.Kind) views.PlaceKindRow {
	return views.PlaceKindRow{Name: k.Name, Title: k.Title.In(ctx), Help: k.Help.In(ctx)}
}

func (h *Handlers) kindOf(name string) (kind sources.Kind, known bool) {
	at := slices.IndexFunc(h.Places.Kinds, func(k sources.Kind) bool { return k.Name == name })
	if at < 0 {
		return kind, false
	}
	return h.Places.Kinds[at], true
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

// PlaceRefused shows the form of a new place again, with its input except secrets.
func (h *Handlers) PlaceRefused(c httpio.Context, err error) error {
	form := c.Request().PostForm
	kind, ok := h.kindOf(form.Get("kind"))
	if !ok {
		return h.placesPage(c, http.StatusBadRequest, views.PlacesPage{Said: "There is no such kind of place."}, nil)
	}
	return h.placeForm(c, http.StatusBadRequest, kind, views.PlaceForm{
		Name: form.Get("name"), Schedule: form.Get("schedule"), Said: chat.MessageOf(err), Field: fieldOf(err),
	}, form)
}

// fieldOf returns the field that an error is about, if any.
func fieldOf(err error) string {
	if wrong, ok := errors.AsType[*follow.FieldError](err); ok {
		return wrong.Field
	}
	return ""
}

func (h *Handlers) placeForm(
	c httpio.Context, status int, kind sources.Kind, f views.PlaceForm, given url.Values,
) error {
	ctx := c.Request().Context()
	f.Kind = kindRow(ctx, kind)
	for _, field := range kind.Fields {
		shown := formField(ctx, field, given.Get("settings."+field.Name))
		shown.Help, shown.Example, shown.Lines = field.Help.In(ctx), field.Example, field.Lines
		f.Fields = append(f.Fields, shown)
	}
	page := views.Page{Title: f.Kind.Title, Place: "documents", Assets: h.Assets}
	return h.show(c, status, page, views.NewPlace(page, f))
}

// formField returns a field with a value, unless that is secret: a browser may cache a page.
func formField(ctx context.Context, field sources.Field, value string) views.PlaceFormField {
	if field.Secret {
		value = ""
	}
	return views.PlaceFormField{
		Name: field.Name, Title: field.Title.In(ctx), Required: field.Required, Secret: field.Secret, Value: value,
	}
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
		shown := formField(ctx, field, values[field.Name])
		shown.Required = field.Required || slices.Contains(stored, field.Name)
		form.Fields = append(form.Fields, shown)
	}
	if len(form.Fields) == 0 {
		return nil
	}
	return form
}

// PlacesRefused shows the list again with the reason, or, for new credentials, with their form and its input except
// secrets.
func (h *Handlers) PlacesRefused(c httpio.Context, err error) error {
	id, given, code := c.Param("id"), map[string]string{}, chat.CodeOf(err)
	for name := range c.Request().PostForm {
		if setting, ok := strings.CutPrefix(name, "settings."); ok {
			given[setting] = c.Request().PostForm.Get(name)
		}
	}
	switch {
	case code == chat.CodeNotFound, len(given) == 0 && code != chat.CodeConflict:
		return err
	case len(given) == 0:
		return h.placesPage(c, http.StatusConflict, views.PlacesPage{Said: chat.MessageOf(err)}, nil)
	}
	place, missing := h.Places.Store.Place(c.Request().Context(), httpio.Scope(c).User, id)
	if missing != nil {
		return missing
	}
	kind, _ := h.kindOf(place.Kind)
	form := mendForm(c, kind, given, place.Secrets)
	if form == nil {
		return err
	}
	form.Said, form.Field = chat.MessageOf(err), fieldOf(err)
	return h.placesPage(c, http.StatusBadRequest, views.PlacesPage{}, map[string]*views.PlaceForm{id: form})
}
