package placestore

import (
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// NoSuch returns the error for a place that does not exist or belongs to another user.
func NoSuch() error {
	return &chat.Error{Code: chat.CodeNotFound, Message: "Source not found. It may have been removed."}
}

// NameTaken returns the error for a place whose name the user already has.
func NameTaken() error {
	return &chat.Error{Code: chat.CodeConflict, Message: "You already have a source with this name. Choose another " +
		"name."}
}

// TooMany returns the error for a user with MaxPlaces places.
func TooMany() error {
	return &chat.Error{
		Code: chat.CodeTooMany,
		Message: locale.Say(
			"You have reached the limit of {1} sources. Remove one first.", strconv.Itoa(MaxPlaces),
		),
	}
}

// Changed returns the error for an update of an outdated revision.
func Changed() error {
	return &chat.Error{
		Code: chat.CodeConflict, Message: "The source was changed in the meantime. Reload it and try again.",
	}
}
