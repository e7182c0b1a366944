package page

import (
	"errors"
	"net/http"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// mendForm is the form for a kind's credentials. Secrets stay empty, whatever values has; those that are
// stored must be entered.
//
// It is nil for a kind without any such field.
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

// mendPlace keeps other credentials of a place if its server takes them. What was typed comes back when it does not,
// but for secrets.
//
// A field of the form that the kind does not have is passed over. The place is looked at again by itself once its
// credentials are taken.
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
