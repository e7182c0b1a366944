// Package settings holds the settings of the program: what there is, where they come from, and what is wrong with
// them.
//
// Flags win over the environment, the environment over the settings file ([Parser.UseFile]). [Settings.Check] reports
// every mistake at once. The other methods give the parts of the program what they are made with; nothing is opened
// here but what a check has to open. The package knows no command: [Parser.Command] returns the one that the arguments
// name as the type that its room gave it.
//
// To add a setting, put it into the group that fits, or a new group into cmd/footnote/settings/settings.go and into a
// file of its own, cmd/footnote/settings/*.go; what can be wrong with it goes into Check. Flag, environment, settings
// file and --help then have it. “make settings” writes it into the documents.
package settings

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/footnote/footnote/sql/postgres"
)

// Settings are shared by all commands. Flags win over the environment, the environment over the settings file.
// A field's name is the flag's, with dashes; env names its variable, and help is what --help and docs/settings.md say.
// Embedded structs are groups of one subject; their fields are flags like the others. Values are as they were given:
// Check says whether they can be used.
type Settings struct {
	Config string `help:"Settings file (YAML)." env:"FOOTNOTE_CONFIG" default:"footnote.yaml" placeholder:"FILE"`
	Addr   string `help:"Address to serve on." env:"FOOTNOTE_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	Data   string `help:"Directory for everything that is kept." env:"FOOTNOTE_DATA" default:"./footnote-data" placeholder:"DIR"`

	Server string `help:"Footnote server that ask, ingest, watch, export and verify work with, like https://footnote.example; without it, the one of the data directory." env:"FOOTNOTE_SERVER" placeholder:"URL"`

	DatabaseURL Secret `name:"database-url" help:"PostgreSQL (15 or newer) for many replicas; semantic search then needs a Milvus server. Without it everything is kept in the data directory." env:"DATABASE_URL" placeholder:"postgres://…"`
	Blobs       string `help:"Where the originals are that all replicas share: file:///path, or s3://bucket/folder?region=…, with &endpoint=https://host:9000 for a storage other than Amazon's and keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; without it they are kept in the data directory." env:"FOOTNOTE_BLOBS" placeholder:"URL"`

	milvusSettings
	keySettings
	limitSettings

	Model         string `help:"Which model answers: auto (openai or anthropic when a key or base URL is set, else offline), offline, openai, anthropic." enum:"auto,offline,openai,anthropic" env:"FOOTNOTE_MODEL" default:"auto"`
	OpenAIAPIKey  Secret `name:"openai-api-key" help:"Key of the OpenAI-compatible server." env:"OPENAI_API_KEY" placeholder:"KEY"`
	OpenAIBaseURL string `name:"openai-base-url" help:"Base URL of an OpenAI-compatible server: Ollama, vLLM, llama.cpp and the like." env:"OPENAI_BASE_URL" placeholder:"URL"`
	OpenAIModel   string `name:"openai-model" help:"Model name." env:"OPENAI_MODEL" default:"gpt-4.1-mini"`
	modelSettings
	OpenAIEmbeddingBaseURL string `name:"openai-embedding-base-url" help:"Base URL of the server of the embedding model, if it is another one than OPENAI_BASE_URL names." env:"OPENAI_EMBEDDING_BASE_URL" placeholder:"URL"`
	OpenAIEmbeddingAPIKey  Secret `name:"openai-embedding-api-key" help:"Key of that server; without it OPENAI_API_KEY, where both have the same host." env:"OPENAI_EMBEDDING_API_KEY" placeholder:"KEY"`
	OpenAIEmbeddingModel   string `name:"openai-embedding-model" help:"Embedding model of the OpenAI-compatible server; without one, and without FOOTNOTE_EMBEDDING_DIR, semantic search is off." env:"OPENAI_EMBEDDING_MODEL" placeholder:"NAME"`
	embeddingSettings
	rerankerSettings
	ocrSettings
	officeSettings

	AgentToolset string   `help:"Tools that a question gets unless it names others: cursor, react, strategy or documentation. POST /agent/query has react where this is cursor, and POST /agent/retrieve has strategy." env:"FOOTNOTE_AGENT_TOOLSET" default:"cursor" placeholder:"NAME"`
	AgentTools   []string `help:"Tools by name, from any toolset, instead of the toolset's own." env:"FOOTNOTE_AGENT_TOOLS" placeholder:"NAME"`
	agentSettings
	SessionMaxTurns int `help:"Questions that one conversation may have (at most 20 with the toolset documentation)." env:"FOOTNOTE_SESSION_MAX_TURNS" default:"200"`
	SessionKeepDays int `help:"Days that a conversation is kept after its last question; 0: for ever." env:"FOOTNOTE_SESSION_KEEP_DAYS" default:"30"`

	WebProvider string   `help:"Web search service for the tool web_search: searxng, tavily or brave; without one there is no such tool." env:"FOOTNOTE_WEB_PROVIDER" placeholder:"NAME"`
	WebURL      string   `name:"web-url" help:"Base URL of the web search service: needed for searxng." env:"FOOTNOTE_WEB_URL" placeholder:"URL"`
	WebAPIKey   Secret   `name:"web-api-key" help:"Key of the web search service: needed for tavily and brave." env:"FOOTNOTE_WEB_API_KEY" placeholder:"KEY"`
	WebAllow    []string `help:"Addresses (IP:PORT) that web pages may be read from although they are not on the public internet." env:"FOOTNOTE_WEB_ALLOW" placeholder:"IP:PORT"`
	PlacesAllow []string `help:"Servers on your own network that places may be followed on, also where other people reach this server: HOST or HOST:PORT, separated by commas. Addresses of clouds' metadata stay closed." env:"FOOTNOTE_PLACES_ALLOW" placeholder:"HOST"`
	WebApprove  string   `help:"Whether a person has to allow each search of the web: always or never." enum:"always,never" env:"FOOTNOTE_WEB_APPROVE" default:"never"`

	toolSettings
	watchSettings

	MaxUploadMiB int           `name:"max-upload-mib" help:"Largest file in MiB." env:"FOOTNOTE_MAX_UPLOAD_MIB" default:"50"`
	MaxRuns      int           `help:"Runs at once, at each server, before new questions are turned away." env:"FOOTNOTE_MAX_RUNS" default:"2000"`
	RunTimeout   time.Duration `help:"The longest one answer may take." env:"FOOTNOTE_RUN_TIMEOUT" default:"5m"`
	RunLease     time.Duration `help:"For tests: how long a run stays with its replica without a sign of life." env:"FOOTNOTE_RUN_LEASE" default:"30s" hidden:""`
	AllowedHosts []string      `help:"Further host names the server is reached by, beside the one it listens on." env:"FOOTNOTE_ALLOWED_HOSTS" placeholder:"NAME"`
	// httpio.NewGuard checks them.
	AllowedOrigins []string `help:"Origins of front ends whose pages may call the API in a browser (CORS), such as https://app.example.org or http://localhost:3000, separated by commas. Their scripts can do all that the user can, except send the forms of Footnote's own pages." env:"FOOTNOTE_ALLOWED_ORIGINS" placeholder:"ORIGIN"`
	LogLevel       string   `help:"debug, info, warn or error." enum:"debug,info,warn,error" env:"FOOTNOTE_LOG_LEVEL" default:"info"`
}

// leastLease is longer than a run takes to be stored, so that no replica finds one of its own before it works on it.
// Only tests set it lower than its default.
const leastLease = 3 * time.Second

// Check reports every mistake at once.
// It opens no connection and changes nothing. Files are only looked at by what opens them later.
func (c *Settings) Check() error {
	var errs []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		errs = append(errs, fmt.Errorf("FOOTNOTE_ADDR %q is not HOST:PORT, like 127.0.0.1:8080", c.Addr))
	}
	if c.Data == "" {
		errs = append(errs, errors.New("FOOTNOTE_DATA names no directory"))
	}
	if u, err := url.Parse(c.Server); c.Server != "" &&
		(err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		errs = append(errs, errors.New("FOOTNOTE_SERVER is not a URL like https://footnote.example"))
	}
	if c.DatabaseURL != "" {
		if err := postgres.CheckURL(string(c.DatabaseURL)); err != nil {
			errs = append(errs, err)
		}
	}
	if err := c.milvusSettings.checkMilvus(); err != nil {
		errs = append(errs, err)
	}
	if c.Blobs != "" && !validBlobs(c.Blobs) {
		errs = append(errs, errors.New(
			"FOOTNOTE_BLOBS is not a URL like file:///srv/footnote/blobs or s3://bucket?region=eu-central-1",
		))
	}
	for name, base := range map[string]string{
		"OPENAI_BASE_URL": c.OpenAIBaseURL, "OPENAI_EMBEDDING_BASE_URL": c.OpenAIEmbeddingBaseURL,
	} {
		if u, err := url.Parse(base); base != "" && (err != nil || u.Host == "" ||
			u.Scheme != "http" && u.Scheme != "https") {
			errs = append(errs, fmt.Errorf("%s %q is not a URL like http://localhost:11434/v1", name, base))
		}
	}
	if c.Model == "openai" && !c.WithOpenAI() {
		errs = append(
			errs, errors.New("FOOTNOTE_MODEL is openai, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"),
		)
	}
	if c.OCR == "model" && !c.WithOpenAI() {
		errs = append(
			errs, errors.New("FOOTNOTE_OCR is model, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"),
		)
	}
	if err := c.limitSettings.checkLimits(); err != nil {
		errs = append(errs, err)
	}
	if err := c.checkReranker(); err != nil {
		errs = append(errs, err)
	}
	if err := c.CheckModels(); err != nil {
		errs = append(errs, err)
	}
	// what can be wrong with these is known where they are made: made here, they are thrown away
	if _, err := c.WebSearch(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.ToolServers("", nil); err != nil {
		errs = append(errs, err)
	}
	if err := c.checkAgent(); err != nil {
		errs = append(errs, err)
	}
	if c.MaxUploadMiB < 1 || c.MaxUploadMiB > 4096 {
		errs = append(errs, errors.New("FOOTNOTE_MAX_UPLOAD_MIB goes from 1 to 4096"))
	}
	if c.SessionMaxTurns < 1 {
		errs = append(errs, errors.New("FOOTNOTE_SESSION_MAX_TURNS must be at least 1"))
	}
	if c.SessionKeepDays < 0 || c.SessionKeepDays > 36_500 {
		errs = append(
			errs, errors.New("FOOTNOTE_SESSION_KEEP_DAYS goes from 1 to 36500, or is 0 to keep conversations for ever"),
		)
	}
	if c.MaxRuns < 1 {
		errs = append(errs, errors.New("FOOTNOTE_MAX_RUNS must be at least 1"))
	}
	if c.RunTimeout < time.Second {
		errs = append(errs, errors.New("FOOTNOTE_RUN_TIMEOUT must be at least 1s"))
	}
	if c.RunLease < leastLease {
		errs = append(errs, fmt.Errorf("FOOTNOTE_RUN_LEASE must be at least %v", leastLease))
	}
	return errors.Join(errs...)
}

// WithModel reports whether a model server is to be used. Without one the rules of offline mode answer. It does not
// say whether the server answers.
func (s *Settings) WithModel() bool {
	return s.Model == "openai" || s.UsesAnthropic() || s.Model == "auto" && s.WithOpenAI()
}

// Evaluation keeps those settings that decide how questions are answered. The user's databases, keys and tool
// servers are left out.
// who is "settings" for the model of these settings; any other name is for offline mode. What is left out keeps a
// measurement from reaching others, and from depending on what a user has.
func (s *Settings) Evaluation(who, data string) *Settings {
	set := &Settings{
		Data: data, Model: "offline", LogLevel: s.LogLevel,
		AgentToolset: s.AgentToolset, AgentTools: s.AgentTools, agentSettings: s.agentSettings,
		embeddingSettings: s.embeddingSettings, rerankerSettings: s.rerankerSettings,
		SessionMaxTurns: s.SessionMaxTurns,
		MaxUploadMiB:    s.MaxUploadMiB, MaxRuns: s.MaxRuns, RunTimeout: s.RunTimeout,
	}
	if who == "settings" {
		set.Model, set.modelSettings = s.Model, s.modelSettings
		set.OpenAIAPIKey, set.OpenAIBaseURL, set.OpenAIModel = s.OpenAIAPIKey, s.OpenAIBaseURL,
			s.OpenAIModel
		set.OpenAIEmbeddingBaseURL, set.OpenAIEmbeddingAPIKey, set.OpenAIEmbeddingModel =
			s.OpenAIEmbeddingBaseURL, s.OpenAIEmbeddingAPIKey, s.OpenAIEmbeddingModel
	}
	return set
}

// NewLogger writes to w from the level of the settings on. Lines are key=value texts, which people read and programs
// can. Levels are those of slog: debug, info, warn and error.
func (s *Settings) NewLogger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // one of four names, checked by the parser
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
