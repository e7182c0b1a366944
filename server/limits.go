package server

import (
	"context"
	"time"

	"footnote/chat"
)

// openStream takes one of the places for streams, and one of the user's; closeStream gives both back.
func (s *Server) openStream(user string) error {
	limits := s.cfg.Users.For(user)
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	if err := s.streamRoom(limits, user); err != nil {
		return err
	}
	s.streams++
	if limits != nil {
		s.streamsOf[user]++
	}
	return nil
}

// streamRoom fails if there is no place for another stream. The caller holds streamsMu.
func (s *Server) streamRoom(limits chat.Limits, user string) error {
	if s.streams >= s.limits.Streams {
		return &chat.Error{Code: chat.CodeTooMany, Message: "Too many live views are open at once. Close some and try again in a moment."}
	}
	if most, holds := limits.Of(chat.StreamsAtOnce); holds && s.streamsOf[user] >= most {
		return limits.Over(chat.StreamsAtOnce, time.Now(), time.Time{})
	}
	return nil
}

// checkStream fails if there is no place for a stream: for a question that is to be asked only if its answer can be followed.
func (s *Server) checkStream(user string) error {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	return s.streamRoom(s.cfg.Users.For(user), user)
}

func (s *Server) closeStream(user string) {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	s.streams--
	if s.streamsOf[user]--; s.streamsOf[user] <= 0 {
		delete(s.streamsOf, user)
	}
}

// openStreams is how many streams there are.
func (s *Server) openStreams() int {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	return s.streams
}

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
