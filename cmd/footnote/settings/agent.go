package settings

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// agentSettings configure how questions are answered. checkAgent validates them; the methods below convert them to
// the types of agent/run.
type agentSettings struct {
	AgentEnabled                 bool          `help:"Let the model select tools; without it, each question is searched, the best results are read, and the model answers." env:"FOOTNOTE_AGENT_ENABLED" default:"true" negatable:""`
	AgentFramework               string        `help:"Agent framework: simple (the built-in loop), anthropic (the same with the tool use of Anthropic's models), eino (the graph of the framework Eino, which the released program does not have: go build -tags eino ./cmd/footnote, make build EINO=1, or make run with this setting build it in; the first such build takes some minutes)." enum:"simple,anthropic,eino" env:"FOOTNOTE_AGENT_FRAMEWORK" default:"simple"`
	AgentSelection               string        `help:"Selection of the first tools: model, rules or auto (rules for simple questions, and the cached choice for a similar question); empty: the toolset's own." enum:",model,rules,auto" env:"FOOTNOTE_AGENT_SELECTION" default:""`
	AgentFallbackToFixedPipeline bool          `help:"When the model fails or can't use its tools, search, read and answer by the fixed pipeline." env:"FOOTNOTE_AGENT_FALLBACK_TO_FIXED_PIPELINE" default:"true" negatable:""`
	AgentFallbackMinScore        float64       `help:"Minimum similarity, 0 to 1, of the passages of a semantic fallback search: that of POST /agent/retrieve when the agent's own choice of tools fails or finds nothing, and that of a run whose model does not get its tools to work. Other searches do not use it." env:"FOOTNOTE_AGENT_FALLBACK_MIN_SCORE" default:"0.7"`
	AgentWithout                 []string      `help:"Disabled steps of runs: analyse, plan, short_paths, refine, early_stop, cached_decisions, reflect. Without analyse, simple questions and named documents are not recognised, so early_stop and short_paths have no effect." env:"FOOTNOTE_AGENT_WITHOUT" placeholder:"NAME"`
	AgentCheckPassages           string        `help:"When a language model checks whether each passage states the answer, before an answer is called found: off, quotes (of passages that are quoted, that a small model is given, or that POST /agent/retrieve returns) or always (any model may check passages by itself, too). A check reads up to six passages, 20 s at most." enum:"off,quotes,always" env:"FOOTNOTE_AGENT_CHECK_PASSAGES" default:"quotes"`
	AgentMaxIterations           int           `help:"Model turns per question, at most 50; 0: the toolset's own (10, strategy 3)." env:"FOOTNOTE_AGENT_MAX_ITERATIONS" default:"0"`
	AgentMaxCalls                int           `help:"Search and read calls per question, at most 50; 0: the toolset's own (10, strategy 5)." env:"FOOTNOTE_AGENT_MAX_CALLS" default:"0"`
	AgentTimeoutPerTool          time.Duration `help:"Timeout of one tool call." env:"FOOTNOTE_AGENT_TIMEOUT_PER_TOOL" default:"30s"`
	AgentSystemPrompt            *string       `help:"Additional system prompt for every model: a role, a tone, the subject of the documents (8,000 characters). It can't override the built-in rules." env:"FOOTNOTE_AGENT_SYSTEM_PROMPT" placeholder:"TEXT"`
	AgentTemperature             *float64      `help:"Default temperature of questions, 0 to 1; without one, the toolset's own: 0, react 0.1, strategy 0.3." env:"FOOTNOTE_AGENT_TEMPERATURE" placeholder:"NUMBER"`
	AgentMaxTokens               int           `help:"Token limit of a model's reply; 0: the model's limit." env:"FOOTNOTE_AGENT_MAX_TOKENS" default:"0"`
	AgentContextTokens           int           `help:"Tokens of a run's history before the results of older calls are shortened." env:"FOOTNOTE_AGENT_CONTEXT_TOKENS" default:"60000"`

	MemoryTurns    int `help:"Number of previous questions of a conversation in the model's context." env:"FOOTNOTE_MEMORY_TURNS" default:"10"`
	MemoryTokens   int `help:"Token limit of these questions and, separately, of their passages." env:"FOOTNOTE_MEMORY_TOKENS" default:"4000"`
	MemoryPassages int `help:"Passages of earlier answers in the model's context." env:"FOOTNOTE_MEMORY_PASSAGES" default:"50"`

	GuardInput     []string `help:"RE2 patterns of blocked questions, instead of the built-in ones; none: no question is blocked." env:"FOOTNOTE_GUARD_INPUT" placeholder:"PATTERN" sep:";"`
	GuardMaxLength int      `help:"Maximum characters of a question; 0: the 32,000 of all requests." env:"FOOTNOTE_GUARD_MAX_LENGTH" default:"0"`
}

// The help documents the first value; both are arbitrary.
const (
	maxSystemPrompt = 8000 // characters
	leastReply      = 64   // tokens: fewer can't hold one tool call
)

// SystemPrompt returns the operator's addition to the system prompt, trimmed. It is empty if it is not set.
func (s agentSettings) SystemPrompt() string {
	if s.AgentSystemPrompt == nil {
		return ""
	}
	return strings.TrimSpace(*s.AgentSystemPrompt)
}

// settingError adds the setting's name to an error. Other packages describe the problem, but do not know the name
// of the setting. It returns nil for nil.
func settingError(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// checkAgent validates these settings and reports all errors. Each has the name of the environment variable, which
// operators know.
func (s agentSettings) checkAgent() error {
	var errs []error
	for _, limit := range []struct {
		name         string
		value, least int
	}{
		{"FOOTNOTE_AGENT_CONTEXT_TOKENS", s.AgentContextTokens, 1000}, {"FOOTNOTE_MEMORY_TURNS", s.MemoryTurns, 0},
		{"FOOTNOTE_MEMORY_TOKENS", s.MemoryTokens, 0}, {"FOOTNOTE_MEMORY_PASSAGES", s.MemoryPassages, 0},
		{"FOOTNOTE_GUARD_MAX_LENGTH", s.GuardMaxLength, 0},
	} {
		if limit.value < limit.least {
			errs = append(errs, fmt.Errorf("%s must be at least %d", limit.name, limit.least))
		}
	}
	for _, limit := range []struct {
		name  string
		value int
	}{{"FOOTNOTE_AGENT_MAX_ITERATIONS", s.AgentMaxIterations}, {"FOOTNOTE_AGENT_MAX_CALLS", s.AgentMaxCalls}} {
		if limit.value < 0 || limit.value > chat.MostTurnsOrCalls {
			errs = append(
				errs, fmt.Errorf("%s must be between 1 and %d, or 0 for the toolset's default", limit.name,
					chat.MostTurnsOrCalls),
			)
		}
	}
	if s.AgentFramework == "eino" && drivenByEino == nil {
		errs = append(errs, errors.New(
			"FOOTNOTE_AGENT_FRAMEWORK is eino, but this footnote was built without Eino: build it from its source "+
				"with 'make build EINO=1' or 'go build -tags eino ./cmd/footnote', or choose simple, which needs no "+
				"framework",
		))
	}
	if p := s.AgentSystemPrompt; p != nil && strings.TrimSpace(*p) == "" {
		errs = append(errs, errors.New(
			"FOOTNOTE_AGENT_SYSTEM_PROMPT is empty: unset it, or set it to a prompt",
		))
	} else if p != nil && utf8.RuneCountInString(*p) > maxSystemPrompt {
		errs = append(errs, fmt.Errorf("FOOTNOTE_AGENT_SYSTEM_PROMPT is longer than %d characters", maxSystemPrompt))
	}
	if t := s.AgentTemperature; t != nil && !(*t >= 0 && *t <= 1) {
		errs = append(errs, errors.New("FOOTNOTE_AGENT_TEMPERATURE must be between 0 and 1"))
	}
	if s.AgentFallbackMinScore < 0 || s.AgentFallbackMinScore > 1 {
		errs = append(errs, errors.New("FOOTNOTE_AGENT_FALLBACK_MIN_SCORE must be between 0 and 1"))
	}
	if n := s.AgentMaxTokens; n != 0 && n < leastReply {
		errs = append(errs, fmt.Errorf("FOOTNOTE_AGENT_MAX_TOKENS must be 0, or at least %d", leastReply))
	}
	if s.AgentTimeoutPerTool < time.Second {
		errs = append(errs, errors.New("FOOTNOTE_AGENT_TIMEOUT_PER_TOOL must be at least 1s"))
	}
	return errors.Join(append(
		errs, settingError("FOOTNOTE_AGENT_WITHOUT", s.Features().Check()),
		settingError("FOOTNOTE_GUARD_INPUT", s.Guard().Check()),
	)...)
}

// Features returns the features of runs. AgentFallbackToFixedPipeline controls two of them: here, rules search for
// a model that can't use its tools; in wire, the rule-based model is the fallback for a failing one. The validation
// calls it too, so it opens nothing.
func (s agentSettings) Features() agentrun.Features {
	return agentrun.Features{
		Selection: tools.Selection(s.AgentSelection), Without: s.AgentWithout, Pipeline: !s.AgentEnabled,
		NoRescue: !s.AgentFallbackToFixedPipeline, FallbackScore: s.AgentFallbackMinScore,
		ContextTokens: s.AgentContextTokens, Checks: agentrun.CheckMode(s.AgentCheckPassages),
	}
}

// Framework returns the framework that drives runs; nil is the agent's own loop.
func (s agentSettings) Framework() agentrun.Framework {
	if s.AgentFramework == "eino" {
		return drivenByEino
	}
	return nil
}

// Memory returns how much of a conversation runs get; 0 means nothing here.
func (s agentSettings) Memory() agentrun.Memory {
	return agentrun.Memory{
		Questions: cmp.Or(s.MemoryTurns, -1), Tokens: cmp.Or(s.MemoryTokens, -1),
		Passages: cmp.Or(s.MemoryPassages, -1),
	}
}

// Guard returns the guard's patterns: the default ones if unset, no patterns for the single word none. A nil Input
// means the default patterns, an empty one none.
func (s agentSettings) Guard() agentrun.Guard {
	g := agentrun.Guard{Input: s.GuardInput, MaxLength: s.GuardMaxLength}
	if len(g.Input) == 1 && g.Input[0] == "none" {
		g.Input = []string{}
	}
	if len(s.GuardInput) == 0 {
		g.Input = nil
	}
	return g
}

// Budget returns the budget of one run; 0 means the toolset's default. Durations are whole seconds.
func (s *Settings) Budget() chat.Budget {
	return chat.Budget{
		Steps: s.AgentMaxIterations, RetrievalCalls: s.AgentMaxCalls, Seconds: int(s.RunTimeout.Seconds()),
	}
}
