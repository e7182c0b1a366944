package answering

import (
	"context"
	"log/slog"
	"sync"

	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// smallProfiles returns the function that selects models for the small profile, by the setting or, for local
// models, by a measurement at their first use. nil means that no model gets the profile.
//
// The function is safe for concurrent use. It returns the reason why a model is small; it is empty for other and
// unknown models. It calls measuring before a measurement, which takes time, so that the run can report it.
func smallProfiles(s *settings.Settings, models map[string]*openai.Model, log *slog.Logger) func(
	ctx context.Context, model string, measuring func(),
) string {
	switch s.AgentProfile {
	case "full":
		return nil
	case "small":
		return func(context.Context, string, func()) string { return "configured in the settings" }
	}
	sizes := newSizes()
	turn := make(chan struct{}, 1) // one measurement at a time, as two on one machine would slow each other
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
				return "", false // the run reports its error
			}
			log.InfoContext(
				ctx, "the model was measured", "model", name, "found", found.String(), "small", found.Small(),
			)
			return found.Small(), true
		})
	}
}

// sizes caches the measured models by name. It is safe for concurrent use. No lock is held during a measurement, so
// callers never wait for another model's measurement, nor for a cached result.
type sizes struct {
	mu      sync.Mutex
	known   map[string]string       // the reason why a model is small; "" for other models
	running map[string]*measurement // running measurements
}

func newSizes() *sizes { return &sizes{known: map[string]string{}, running: map[string]*measurement{}} }

// measurement is one measurement. Its fields are read after done is closed.
type measurement struct {
	done    chan struct{}
	why     string
	stopped bool // its run was cancelled
}

// whySmall returns the reason why a model is small. Concurrent calls for an unknown model share one measurement:
// the others wait for its result or their own cancellation. An unsure result is not cached, so later runs retry it.
// The waiting calls do not retry, since an unresponsive server would delay them one after the other. If the
// measuring run is cancelled, one of the waiting calls measures instead.
func (s *sizes) whySmall(ctx context.Context, name string, find func() (why string, sure bool)) string {
	for {
		s.mu.Lock()
		why, known := s.known[name]
		l := s.running[name]
		first := !known && l == nil
		if first {
			l = &measurement{done: make(chan struct{})}
			s.running[name] = l
		}
		s.mu.Unlock()
		switch {
		case known:
			return why
		case first:
			s.measure(ctx, name, l, find)
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

// measure runs a measurement and wakes the waiting calls, even if find panics.
func (s *sizes) measure(ctx context.Context, name string, l *measurement, find func() (why string, sure bool)) {
	sure := false
	defer func() {
		l.stopped = !sure && ctx.Err() != nil
		s.mu.Lock()
		defer s.mu.Unlock()
		if sure {
			s.known[name] = l.why
		}
		delete(s.running, name)
		close(l.done)
	}()
	l.why, sure = find()
}
