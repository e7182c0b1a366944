package run

import (
	"errors"
	"strings"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// Price is what a million tokens cost.
type Price struct{ In, Out float64 }

// modelOf finds the model that a request names, the usual one if it names none. It fails with CodeInvalid for one
// that is not allowed.
func (e *Engine) modelOf(c chat.RunConfig) (llm.Model, error) {
	if c.Model == "" || c.Model == e.cfg.Model.Name() {
		return e.cfg.Model, nil
	}
	for _, m := range e.models() {
		if m.Name() == c.Model {
			return m, nil
		}
	}
	return nil, chat.Invalid(
		"The model “%s” is not allowed here. Allowed: %s.", text.Shorten(c.Model, 60),
		strings.Join(e.ModelNames(), ", "),
	)
}

// usesPipeline reports whether a model is below the least that may choose tools by itself. The order is that of the
// allowed models.
func (e *Engine) usesPipeline(m llm.Model) bool {
	if e.cfg.LeastModel == "" || m.Name() == e.cfg.LeastModel || m.Name() == offlineName {
		return false
	}
	for _, allowed := range e.cfg.Models {
		switch allowed.Name() {
		case e.cfg.LeastModel:
			return false
		case m.Name():
			return true
		}
	}
	return false
}

// charge adds tokens to what the run has used, and returns their cost; nil without a price for the model. A part is
// not given as the whole: once a model without a price was used, the run has no cost.
func (w *Runner) charge(model llm.Model, used chat.Tokens) *float64 {
	w.tokens.In += used.In
	w.tokens.Out += used.Out
	cost := w.costOf(model, used)
	w.unpriced = w.unpriced || cost == nil
	switch {
	case w.unpriced:
		w.cost = nil
	case w.cost == nil:
		total := *cost
		w.cost = &total
	default:
		*w.cost += *cost
	}
	return cost
}

// chargeFailed charges a reply that failed as far as its server said what it used.
func (w *Runner) chargeFailed(model llm.Model, err error) (used chat.Tokens) {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Usage != nil {
		used = chat.Tokens{In: e.Usage.In, Out: e.Usage.Out}
		w.charge(model, used)
	}
	return used
}

func (w *Runner) costOf(model llm.Model, used chat.Tokens) *float64 {
	price, ok := w.cfg.Prices[model.Name()]
	if !ok && (model.Name() != offlineName || len(w.cfg.Prices) == 0) { // rules cost nothing
		return nil
	}
	cost := (float64(used.In)*price.In + float64(used.Out)*price.Out) / 1e6
	return &cost
}
