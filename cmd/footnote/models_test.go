package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// toolless is a librarian behind a server that refuses tools and writes its calls as JSON.
func toolless(r scripted.Request) scripted.Reply {
	if len(r.Tools) > 0 {
		return scripted.Reply{
			Fault: scripted.Fault{
				Status: 400, Body: `{"error":{"message":"registry.ollama.ai/library/gemma does not support tools"}}`,
			},
		}
	}
	switch last := r.Messages[len(r.Messages)-1].Text; {
	case strings.Contains(last, "Result of search_documents"):
		return scripted.Reply{Text: "The slate roof is in poor condition [1]."}
	case strings.Contains(r.Messages[0].Text, "search_documents"):
		return scripted.Reply{Text: "```json\n{'tool': 'search_documents', 'input': {'query': 'roof condition',}}\n```"}
	}
	return scripted.Reply{Text: "Hello."}
}

func TestAModelWithoutToolCallsAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), newModel(t, scripted.Config{Script: toolless}).env()...)
	s.add(books...)
	log := s.run("What is the condition of the roof?")
	if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 ||
		strings.Contains(log.answer.Markdown, "{") {
		t.Fatalf("it ended as %+v with %+v\n%s", log.done, log.answer, s.log)
	}
	notices, searches := 0, 0
	for _, step := range log.steps {
		switch step.Step {
		case "notice":
			notices++
		case "search_documents":
			searches++
		case "fallback":
			t.Errorf("it fell back: %+v", step)
		}
	}
	if notices == 0 || searches == 0 {
		t.Errorf("%d notices and %d searches: %+v; want other than 0 and other than 0", notices, searches, log.steps)
	}
}

func TestAnthropicsModelAnswersWithToolsAndThinking(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Record: 10, Script: func(r scripted.Request) scripted.Reply {
		reply := scripted.Librarian(r)
		if len(reply.Calls) > 0 {
			reply.Reasoning = "I must look."
		}
		return reply
	}})
	file := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(
		file, []byte(
			"prices:\n  claude-sonnet-4-5: {in: 3, out: 15}\nagent:\n  models_allowed: [claude-haiku]\n  "+
				"min_model_for_agent: claude-haiku\n",
		), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	s := serve(t, newDir(t), "FOOTNOTE_CONFIG="+file, "FOOTNOTE_MODEL=anthropic", "ANTHROPIC_API_KEY=test-key",
		"ANTHROPIC_THINKING=2048", "ANTHROPIC_BASE_URL="+strings.TrimSuffix(model.url, "/v1"))
	s.add(books...)
	log := s.run("What is the condition of the roof?")
	if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 ||
		log.answer.Cost == nil || *log.answer.Cost <= 0 {
		t.Fatalf("it ended as %+v with %+v\n%s", log.done, log.answer, s.log)
	}
	thought := false
	for _, step := range log.steps {
		thought = thought || strings.Contains(step.Thought, "I must look.")
	}
	signed := false
	for _, r := range model.inner.Requests() {
		for _, msg := range r.Messages {
			signed = signed || msg.Role == llm.RoleAssistant && msg.Signature == "signed-I must look."
		}
	}
	if !thought || !signed {
		t.Errorf("thought shown: %v, signature sent back: %v", thought, signed)
	}
	if got := s.send("POST", "/agent/chat", `{"message":"Hi","config":{"model":"gpt-9"}}`,
		header{"Content-Type", "application/json"}); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "claude-haiku") {
		t.Errorf("a model that is not allowed: %d %s; want %d and %q in it",
			got.status, got.body, http.StatusBadRequest, "claude-haiku")
	}
}

func TestTheSettingSaysWhatDrivesRuns(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Record: 10})
	for name, env := range map[string][]string{
		"eino": append(model.env(), "FOOTNOTE_AGENT_FRAMEWORK=eino"),
		"anthropic": {"FOOTNOTE_AGENT_FRAMEWORK=anthropic", "OPENAI_BASE_URL=http://127.0.0.1:1/v1",
			"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL=" + strings.TrimSuffix(model.url, "/v1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := binary
			if name == "eino" {
				program = filepath.Join(t.TempDir(), "footnote")
				if err := build(program, "grpcnotrace,retrynotrace,eino"); err != nil {
					t.Fatal(err)
				}
			}
			s := serveProgram(t, program, "127.0.0.1:0", newDir(t), env...)
			s.add(books...)
			log := s.run("What is the condition of the roof?")
			if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 {
				t.Fatalf("it ended as %+v with %+v\n%s", log.done, log.answer, s.log)
			}
			tools := 0
			for _, step := range log.steps {
				if step.ToolName != "" {
					tools++
				}
				if step.Step == "fallback" {
					t.Errorf("the offline model took over: %+v, want other than %q", step, "fallback")
				}
			}
			if tools == 0 {
				t.Errorf("no tool was called: got %v, want other than 0", tools)
			}
		})
	}
}
