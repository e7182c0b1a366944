package placestore

import (
	"strconv"

	"github.com/footnote/footnote/chat"
)

// NoSuch says that a user has no such place. Another user's place looks the same.
func NoSuch() error {
	return &chat.Error{Code: chat.CodeNotFound, Message: "There is no such place. It may have been removed."}
}

// NameTaken says that a user has a place of that name.
func NameTaken() error {
	return &chat.Error{Code: chat.CodeConflict, Message: "You have a place of this name. Choose another name."}
}

// TooMany says that a user has as many places as one may have.
func TooMany() error {
	return &chat.Error{
		Code:    chat.CodeTooMany,
		Message: "You have " + strconv.Itoa(MaxPlaces) + " places, and may not have more. Remove one first.",
	}
}

// Changed says that somebody else changed a place meanwhile.
func Changed() error {
	return &chat.Error{
		Code: chat.CodeConflict, Message: "The place was changed meanwhile. Look at it again, then try again.",
	}
}
