package corpus

import (
	"context"
	"fmt"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// CheckNamed validates the namespace and documents that a question or a search is restricted to. It returns
// chat.CodeNotFound for a namespace without documents of the scope's user, or for documents outside of it; the
// error is the same for other users' documents. An empty namespace means all, and chat.DefaultNamespace always
// exists. Without this check a question about a deleted document would be answered from all others, or from none.
func (l *Library) CheckNamed(ctx context.Context, s chat.Scope, namespace string, ids []string) error {
	s = s.In(namespace)
	if len(ids) == 0 {
		if namespace == "" || namespace == chat.DefaultNamespace {
			return nil
		}
		docs, _, err := l.cfg.Documents.List(ctx, s, Filter{Limit: 1})
		if err == nil && len(docs) == 0 {
			err = &chat.Error{Code: chat.CodeNotFound, Message: locale.Say(
				"No documents in the namespace “{1}”. Check its name, or omit it to search "+
					"everywhere.", shortenRunes(namespace, 128),
			)}
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

// notNamed returns the error for a missing document. It includes the ID, which the caller has sent.
func notNamed(id, namespace string) error {
	where := ""
	if namespace != "" {
		where = " in the namespace “" + shortenRunes(namespace, 128) + "”"
	}
	return &chat.Error{Code: chat.CodeNotFound, Message: locale.Say(
		"A selected document was not found{1}: “{2}”. It may have been deleted. Select another, or ask without "+
			"it.", where, shortenRunes(id, 80),
	)}
}
