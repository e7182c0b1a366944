package answering

import (
	"context"
	"log/slog"
	"sync"

	"footnote/cmd/footnote/settings"
	"footnote/llm/openai"
)

// smallProfiles says which models get the profile for small ones: by the setting, or by what those that are served here
// are measured to be able to do when they are used first.
//
// The function that it returns may be called by many runs at once. What is known of a model is read without a lock: a
// lock that every run takes has a thousand of them stand in line for seconds. Of those that come before it is known,
// one measures and the others wait for that, or for their own end. It returns why the model is small, and nothing for
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
	var known sync.Map             // why a model is small, by name: strings, "" for one that is not
	turn := make(chan struct{}, 1) // one at a time measures
	return func(ctx context.Context, name string, measuring func()) string {
		model := models[name]
		if model == nil {
			return ""
		}
		if why, ok := known.Load(name); ok {
			return why.(string)
		}
		if local, sure := model.IsLocal(ctx); !local {
			if sure {
				known.Store(name, "")
			}
			return ""
		}
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return ""
		}
		defer func() { <-turn }()
		if why, ok := known.Load(name); ok { // whoever had the turn before has measured it
			return why.(string)
		}
		measuring()
		found, err := model.Measure(ctx)
		if err != nil {
			log.WarnContext(ctx, "the model could not be measured", "model", name, "error", err)
			return "" // the run says what is wrong with it
		}
		log.InfoContext(ctx, "the model was measured", "model", name, "found", found.String(), "small", found.Small())
		known.Store(name, found.Small())
		return found.Small()
	}
}
