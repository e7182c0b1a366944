package answering

import (
	"context"
	"log/slog"

	"footnote/cmd/footnote/settings"
	"footnote/llm/openai"
)

// smallProfiles says which models get the profile for small ones: by the setting, or by what those that are served here
// are measured to be able to do when they are used first.
//
// The function that it returns may be called by many runs at once; one measures and the others wait for that, or for
// their own end. It returns why the model is small, and nothing for one that is not or that is not known to be.
// measuring is called before a measurement, which takes time, so that the run can say so. nil: no model gets it.
func smallProfiles(s *settings.Settings, models map[string]*openai.Model, log *slog.Logger) func(
	ctx context.Context, model string, measuring func(),
) string {
	switch s.AgentProfile {
	case "full":
		return nil
	case "small":
		return func(context.Context, string, func()) string { return "the settings say so" }
	}
	known := make(chan map[string]string, 1) // why a model is small, by name: one at a time measures
	known <- map[string]string{}
	return func(ctx context.Context, name string, measuring func()) string {
		model := models[name]
		if model == nil {
			return ""
		}
		var sizes map[string]string
		select {
		case sizes = <-known:
		case <-ctx.Done():
			return ""
		}
		defer func() { known <- sizes }()
		if why, ok := sizes[name]; ok {
			return why
		}
		if local, sure := model.IsLocal(ctx); !local {
			if sure {
				sizes[name] = ""
			}
			return ""
		}
		measuring()
		found, err := model.Measure(ctx)
		if err != nil {
			log.WarnContext(ctx, "the model could not be measured", "model", name, "error", err)
			return "" // the run says what is wrong with it
		}
		log.InfoContext(ctx, "the model was measured", "model", name, "found", found.String(), "small", found.Small())
		sizes[name] = found.Small()
		return sizes[name]
	}
}
