package corpus

import (
	"context"
	"fmt"
	"slices"

	"github.com/footnote/footnote/chat"
)

// CheckNamed refuses with chat.CodeNotFound what a question or a search is narrowed to and is not there: a namespace
// without documents of the scope's user, or documents that are not in it. Somebody else's are refused in the same
// words. An empty namespace is all of them, and chat.DefaultNamespace is always there. A question about a document that
// was deleted would otherwise be answered from all others, or from none.
func (l *Library) CheckNamed(ctx context.Context, s chat.Scope, namespace string, ids []string) error {
	s = s.In(namespace)
	if len(ids) == 0 {
		if namespace == "" || namespace == chat.DefaultNamespace {
			return nil
		}
		docs, _, err := l.cfg.Documents.List(ctx, s, Filter{Limit: 1})
		if err == nil && len(docs) == 0 {
			err = &chat.Error{Code: chat.CodeNotFound, Message: "There are no documents in the namespace “" +
				shortenRunes(namespace, 128) + "”. Check its name, or leave it out to look everywhere."}
		}
		return err
	}
	for some := range slices.Chunk(ids, findAmong) {
		docs, _, err := l.cfg.Documents.List(ctx, s, Filter{IDs: some, Limit: findAmong})
		if err != nil {
			return fmt.Errorf("look up documents: %w", err)
		}
		there := make(map[string]bool, len(docs))
		for _, d := range docs {
			there[d.ID] = true
		}
		for _, id := range some {
			if !there[id] {
				return notNamed(id, namespace)
			}
		}
	}
	return nil
}

// notNamed is the error for a chosen document that is not there. It names the id, which the asker has sent.
func notNamed(id, namespace string) error {
	where := ""
	if namespace != "" {
		where = " in the namespace “" + shortenRunes(namespace, 128) + "”"
	}
	return &chat.Error{Code: chat.CodeNotFound, Message: "One of the chosen documents is not there" + where + ": “" +
		shortenRunes(id, 80) + "”. It may have been deleted. Choose again, or ask without it."}
}
