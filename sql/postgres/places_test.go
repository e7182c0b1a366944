package postgres

import (
	"testing"

	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/placestore/storetest"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) placestore.Store { return openNew(t).Places() })
}
