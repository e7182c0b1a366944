package sqlite

import (
	"testing"

	"footnote/places/placestore"
	"footnote/places/placestore/storetest"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) placestore.Store { return openNew(t).Places() })
}
