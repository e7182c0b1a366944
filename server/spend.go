package server

import (
	"context"

	"footnote/chat"
)

// spendSearch checks a search and counts it against its user's limit.
func (s *Server) spendSearch(ctx context.Context, scope chat.Scope, body searchQuery) error {
	if _, err := s.corpusQuery(body); err != nil {
		return err
	}
	return s.store.Spend(ctx, scope.User, chat.ResourceSearches, 1)
}

// roomForUpload fails if a user's limits have no room for a single byte more.
func (s *Server) roomForUpload(ctx context.Context, user string) error {
	if err := s.store.Room(ctx, user, chat.ResourceUploadFiles); err != nil {
		return err
	}
	return s.store.Room(ctx, user, chat.ResourceUploadBytes)
}
