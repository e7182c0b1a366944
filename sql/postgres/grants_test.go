package postgres

import (
	"testing"

	"footnote/grants"
	"footnote/grants/grantstest"
)

func TestGrants(t *testing.T) {
	grantstest.TestStore(t, func(t *testing.T) grants.Store { return openNew(t).Grants() })
}
