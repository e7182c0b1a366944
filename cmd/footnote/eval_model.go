package main

import (
	"net"
	"net/http"
	"time"

	"footnote/llm/scripted"
)

// evalSettings are those of the given ones that say how questions are answered, for a library of its own: the user's databases, keys and
// tool servers are left out of it. release ends what was started.
func evalSettings(p *program, who, data string) (_ *settings, release func(), err error) {
	given := p.settings
	set := settings{
		Data: data, Model: "offline", LogLevel: given.LogLevel,
		AgentToolset: given.AgentToolset, AgentTools: given.AgentTools, agentSettings: given.agentSettings, SessionMaxTurns: given.SessionMaxTurns,
		MaxUploadMiB: given.MaxUploadMiB, MaxRuns: given.MaxRuns, RunTimeout: given.RunTimeout,
	}
	switch who {
	case "offline":
		return &set, func() {}, nil
	case "settings":
		set.Model, set.modelSettings = given.Model, given.modelSettings
		set.OpenAIAPIKey, set.OpenAIBaseURL, set.OpenAIModel = given.OpenAIAPIKey, given.OpenAIBaseURL, given.OpenAIModel
		set.OpenAIEmbeddingModel = given.OpenAIEmbeddingModel
		return &set, func() {}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	model := &http.Server{Handler: scripted.NewServer(scripted.Config{}), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = model.Serve(listener) }() // until Close
	set.Model, set.OpenAIBaseURL, set.OpenAIModel = "openai", "http://"+listener.Addr().String()+"/v1", "scripted"
	return &set, func() { _ = model.Close(); <-ended }, nil
}
