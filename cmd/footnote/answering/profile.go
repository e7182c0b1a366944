package answering

import (
	"context"
	"log/slog"
	"sync"

	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// smallProfiles says which models get the profile for small ones: by the setting, or by what those that are served here
// are measured to be able to do when they are used first.
//
// The function that it returns may be called by many runs at once. It returns why the model is small, and nothing for
// one that is not or that is not known to be. measuring is called before a measurement, which takes time, so that the
// run can say so. nil: no model gets it.
func smallProfiles(s *settings.Settings, models map[string]*openai.Model, log *slog.Logger) func(
	ctx context.Context, model string, measuring func(),
) string {
	switch s.AgentProfile {
	case "full":
		return nil
	case "small":
		return func(context.Context, string, func()) string { return "the settings say so" }
	}
	sizes := newSizes()
	turn := make(chan struct{}, 1) // one is measured at a time, as two on one machine would slow each other
	return func(ctx context.Context, name string, measuring func()) string {
		model := models[name]
		if model == nil {
			return ""
		}
		return sizes.whySmall(ctx, name, func() (why string, sure bool) {
			if local, sure := model.IsLocal(ctx); !local {
				return "", sure
			}
			select {
			case turn <- struct{}{}:
			case <-ctx.Done():
				return "", false
			}
			defer func() { <-turn }()
			measuring()
			found, err := model.Measure(ctx)
			if err != nil {
				log.WarnContext(ctx, "the model could not be measured", "model", name, "error", err)
				return "", false // the run says what is wrong with it
			}
			log.InfoContext(
				ctx, "the model was measured", "model", name, "found", found.String(), "small", found.Small(),
			)
			return found.Small(), true
		})
	}
}

// sizes is what is known of models, by name. It is safe for concurrent use. No lock is held while one finds out, so
// that nobody waits for another model's measurement, nor in line for what is known.
type sizes struct {
	mu    sync.Mutex
	known map[string]string // why a model is small; "" for one that is not
	looks map[string]*look  // those under way
}

func newSizes() *sizes { return &sizes{known: map[string]string{}, looks: map[string]*look{}} }

// look is one run's way to find out. Its fields are read after done is closed.
type look struct {
	done    chan struct{}
	why     string
	stopped bool // its run ended before it
}

// whySmall returns why a model is small. What is not known is looked for by one of those who ask; the others wait for
// what it finds, or for their own end. What find is not sure of is asked again by later runs, but not by those that
// have waited: a server that does not answer would have each wait after the other. If the run that looked was stopped,
// one of those that wait takes its place.
func (s *sizes) whySmall(ctx context.Context, name string, find func() (why string, sure bool)) string {
	for {
		s.mu.Lock()
		why, known := s.known[name]
		l := s.looks[name]
		first := !known && l == nil
		if first {
			l = &look{done: make(chan struct{})}
			s.looks[name] = l
		}
		s.mu.Unlock()
		switch {
		case known:
			return why
		case first:
			s.findOut(ctx, name, l, find)
			return l.why
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return ""
		}
		if !l.stopped {
			return l.why
		}
	}
}

// findOut makes a look and tells those who wait for it, even if find panics.
func (s *sizes) findOut(ctx context.Context, name string, l *look, find func() (why string, sure bool)) {
	sure := false
	defer func() {
		l.stopped = !sure && ctx.Err() != nil
		s.mu.Lock()
		defer s.mu.Unlock()
		if sure {
			s.known[name] = l.why
		}
		delete(s.looks, name)
		close(l.done)
	}()
	l.why, sure = find()
}
