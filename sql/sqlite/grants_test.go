package sqlite

import (
	"testing"

	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/grants/grantstest"
)

func TestGrants(t *testing.T) {
	grantstest.TestStore(t, func(t *testing.T) grants.Store { return openNew(t).Grants() })
}
