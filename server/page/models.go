package page

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// ShowModels handles GET /model for a browser: the answering model, and the available others.
//
// Users who may not choose see the reason. Models are discovered anew on each request, within modelchoice's timeout.
func (h *Handlers) ShowModels(c httpio.Context) error {
	return h.modelsPage(c, http.StatusOK, views.ModelsPage{Said: locale.Message(h.choiceMessage(c))})
}

// choiceMessage returns the message after a choice of model, if the address reports one and it is still true.
func (h *Handlers) choiceMessage(c httpio.Context) string {
	if now := h.Models()[0]; c.QueryParam("taken") != "" && now != views.OfflineModel {
		return views.ModelTaken(c.Request().Context(), now, c.QueryParam("taken") == "tools")
	}
	return ""
}

// ChooseModel handles PUT /model of a form. If the model does not answer, the form keeps its input except the key.
//
// It answers 303 to the page if the model answers, else 400 with the form. The Chooser authorises the local user or an
// operator. The key is never sent back.
func (h *Handlers) ChooseModel(c httpio.Context) error {
	var choice modelchoice.Choice
	if err := h.Bodies.ReadFields(c, &choice); err != nil {
		return err
	}
	tried, err := h.ModelChooser.TryChoice(c, h.Guard, choice)
	if err != nil {
		if chat.CodeOf(err) != chat.CodeInvalid {
			return err
		}
		p := views.ModelsPage{Said: chat.MessageOf(err), Failed: true, Service: choice.Service}
		// The typed model of a service is shown again; a server's model is chosen from a list.
		if choice.Port == 0 {
			p.Named = choice.Model
		}
		return h.modelsPage(c, http.StatusBadRequest, p)
	}
	how := "rules"
	if tried.Tools {
		how = "tools"
	}
	return c.Redirect(http.StatusSeeOther, "/model?taken="+how)
}

// modelsPage renders the page.
func (h *Handlers) modelsPage(c httpio.Context, status int, p views.ModelsPage) error {
	frame, err := h.pageFrame(c, views.Page{Title: views.ModelsTitle.In(c.Request().Context())})
	if err != nil {
		return err
	}
	found := h.ModelChooser.Describe(c, h.Guard, h.Models()[0])
	p.Locked, p.Trouble = found.Locked, found.Trouble
	shown := func(m modelchoice.Model) views.FoundModel {
		return views.FoundModel{
			Name: m.Name, Answering: m.Answering, Suggested: m.Suggested,
			Facts: views.ModelFacts(c.Request().Context(), m.Size, m.Bytes, m.Context, m.Tools, m.Loaded),
		}
	}
	p.Servers = httpio.Each(found.Servers, func(s modelchoice.Server) views.ModelServer {
		return views.ModelServer{Program: s.Program, Port: s.Port, Models: httpio.Each(s.Models, shown)}
	})
	p.Services = httpio.Each(found.Services, func(s modelchoice.Service) views.ModelService {
		return views.ModelService{Service: s.Service, Name: s.Name}
	})
	return httpio.Show(c, status, views.Layout(frame, views.Models(frame, p), nil))
}
