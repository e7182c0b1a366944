// Package settings defines the settings of the program, parses them and validates them.
//
// Flags take precedence over the environment, the environment over the settings file ([Parser.UseFile]).
// [Settings.Check] reports all errors at once. The other methods return the configuration of the program's parts;
// only a validation opens anything. The package depends on no command: [Parser.Command] returns the selected one as
// the type of its own package.
//
// To add a setting, put it into the group that fits, or a new group into cmd/footnote/settings/settings.go and into
// a file of its own, cmd/footnote/settings/*.go; its validation goes into Check. Flag, environment, settings file
// and --help then have it. “make generate” writes it into the documents.
package settings

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm/openai"
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/corpus/blobs/s3"
	"github.com/footnote/footnote/corpus/milvus"
	"github.com/footnote/footnote/sql/postgres"
)

// Settings are shared by all commands. Flags take precedence over the environment, the environment over the
// settings file. A field's name is the flag's, with dashes; env is its variable, and help is the text of --help and
// docs/settings.md. Embedded structs are groups of one subject; their fields are flags like the others. Values are
// unvalidated input: Check validates them.
type Settings struct {
	Config string `help:"Settings file (YAML)." env:"FOOTNOTE_CONFIG" default:"footnote.yaml" placeholder:"FILE"`
	Addr   string `help:"Address to serve on." env:"FOOTNOTE_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	Data   string `help:"Directory of all stored data." env:"FOOTNOTE_DATA" default:"./footnote-data" placeholder:"DIR"`

	Server string `help:"URL of the Footnote server for ask, ingest, watch, export and verify, like https://footnote.example; without it, the server of the data directory." env:"FOOTNOTE_SERVER" placeholder:"URL"`

	DatabaseURL Secret `name:"database-url" help:"PostgreSQL (15 or newer) for many replicas; semantic search then needs a Milvus server. Without it, all data is in the data directory." env:"DATABASE_URL" placeholder:"postgres://…"`
	Blobs       string `help:"Location of the originals, shared by all replicas: file:///path, or s3://bucket/folder?region=…, with &endpoint=https://host:9000 for S3-compatible storage, and keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; without it, the data directory." env:"FOOTNOTE_BLOBS" placeholder:"URL"`

	milvusSettings
	keySettings
	limitSettings

	Model         string `help:"Model provider: auto (openai or anthropic when a key or base URL is set, else offline), offline, openai, anthropic." enum:"auto,offline,openai,anthropic" env:"FOOTNOTE_MODEL" default:"auto"`
	OpenAIAPIKey  Secret `name:"openai-api-key" help:"API key of the OpenAI-compatible server." env:"OPENAI_API_KEY" placeholder:"KEY"`
	OpenAIBaseURL string `name:"openai-base-url" help:"Base URL of an OpenAI-compatible server, such as Ollama, vLLM or llama.cpp." env:"OPENAI_BASE_URL" placeholder:"URL"`
	OpenAIModel   string `name:"openai-model" help:"Model name." env:"OPENAI_MODEL" default:"gpt-4.1-mini"`
	modelSettings
	OpenAIEmbeddingBaseURL string `name:"openai-embedding-base-url" help:"Base URL of the server of the embedding model, if it differs from OPENAI_BASE_URL." env:"OPENAI_EMBEDDING_BASE_URL" placeholder:"URL"`
	OpenAIEmbeddingAPIKey  Secret `name:"openai-embedding-api-key" help:"API key of the embedding server; without it, OPENAI_API_KEY if both have the same host." env:"OPENAI_EMBEDDING_API_KEY" placeholder:"KEY"`
	OpenAIEmbeddingModel   string `name:"openai-embedding-model" help:"Embedding model of the OpenAI-compatible server; without one, and without FOOTNOTE_EMBEDDING_DIR, semantic search is off." env:"OPENAI_EMBEDDING_MODEL" placeholder:"NAME"`
	embeddingSettings
	rerankerSettings
	ocrSettings
	officeSettings

	AgentToolset string   `help:"Default toolset of questions: cursor, react, strategy or documentation. POST /agent/query uses react instead of cursor, and POST /agent/retrieve always uses strategy." env:"FOOTNOTE_AGENT_TOOLSET" default:"cursor" placeholder:"NAME"`
	AgentTools   []string `help:"Enabled tools by name, from any toolset. Default: the tools of the toolset." env:"FOOTNOTE_AGENT_TOOLS" placeholder:"NAME"`
	agentSettings
	SessionMaxTurns int `help:"Maximum number of questions per conversation (at most 20 with the toolset documentation)." env:"FOOTNOTE_SESSION_MAX_TURNS" default:"200"`
	SessionKeepDays int `help:"Days until a conversation is deleted after its last question; 0: never." env:"FOOTNOTE_SESSION_KEEP_DAYS" default:"30"`

	WebProvider string   `help:"Web search provider for the tool web_search: searxng, tavily or brave; without one the tool is disabled." env:"FOOTNOTE_WEB_PROVIDER" placeholder:"NAME"`
	WebURL      string   `name:"web-url" help:"Base URL of the web search provider; required for searxng." env:"FOOTNOTE_WEB_URL" placeholder:"URL"`
	WebAPIKey   Secret   `name:"web-api-key" help:"API key of the web search provider; required for tavily and brave." env:"FOOTNOTE_WEB_API_KEY" placeholder:"KEY"`
	WebAllow    []string `help:"Private addresses (IP:PORT) that web pages may be fetched from." env:"FOOTNOTE_WEB_ALLOW" placeholder:"IP:PORT"`
	PlacesAllow []string `help:"Servers on your private network that sources may connect to, even if other users can reach this server: HOST or HOST:PORT, separated by commas. Cloud metadata addresses stay blocked." env:"FOOTNOTE_PLACES_ALLOW" placeholder:"HOST"`
	WebApprove  string   `help:"Whether a user must approve each web search: always or never." enum:"always,never" env:"FOOTNOTE_WEB_APPROVE" default:"never"`

	toolSettings
	watchSettings

	MaxUploadMiB int           `name:"max-upload-mib" help:"Maximum file size in MiB." env:"FOOTNOTE_MAX_UPLOAD_MIB" default:"50"`
	MaxRuns      int           `help:"Maximum number of concurrent runs per server; further questions are rejected." env:"FOOTNOTE_MAX_RUNS" default:"2000"`
	RunTimeout   time.Duration `help:"Timeout of one answer." env:"FOOTNOTE_RUN_TIMEOUT" default:"5m"`
	RunLease     time.Duration `help:"For tests: lease of a run without renewal by its replica." env:"FOOTNOTE_RUN_LEASE" default:"30s" hidden:""`
	AllowedHosts []string      `help:"Additional host names of the server, besides the one it listens on." env:"FOOTNOTE_ALLOWED_HOSTS" placeholder:"NAME"`
	// httpio.NewGuard validates them.
	AllowedOrigins []string `help:"Origins of front ends whose pages may call the API in a browser (CORS), such as https://app.example.org or http://localhost:3000, separated by commas. Their scripts have all permissions of the user, except submitting forms of Footnote's pages." env:"FOOTNOTE_ALLOWED_ORIGINS" placeholder:"ORIGIN"`
	LogLevel       string   `help:"debug, info, warn or error." enum:"debug,info,warn,error" env:"FOOTNOTE_LOG_LEVEL" default:"info"`
}

// leastLease is longer than the time to store a run, so that no replica claims a run before its owner starts it.
// Only tests set it below the default.
const leastLease = 3 * time.Second

// Check validates the settings and reports all errors at once. It opens no connection and changes nothing. Files
// are validated by the code that opens them.
func (c *Settings) Check() error {
	var errs []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		errs = append(errs, fmt.Errorf("FOOTNOTE_ADDR %q must be HOST:PORT, like 127.0.0.1:8080", c.Addr))
	}
	if c.Data == "" {
		errs = append(errs, errors.New("FOOTNOTE_DATA is empty: set it to a directory"))
	}
	if u, err := url.Parse(c.Server); c.Server != "" &&
		(err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		errs = append(errs, errors.New("FOOTNOTE_SERVER must be a URL like https://footnote.example"))
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
			"FOOTNOTE_BLOBS must be a URL like file:///srv/footnote/blobs or s3://bucket?region=eu-central-1",
		))
	}
	for name, base := range map[string]string{
		"OPENAI_BASE_URL": c.OpenAIBaseURL, "OPENAI_EMBEDDING_BASE_URL": c.OpenAIEmbeddingBaseURL,
	} {
		if u, err := url.Parse(base); base != "" && (err != nil || u.Host == "" ||
			u.Scheme != "http" && u.Scheme != "https") {
			errs = append(errs, fmt.Errorf("%s %q must be a URL like http://localhost:11434/v1", name, base))
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
	// These are validated by their constructors: the results are discarded.
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
		errs = append(errs, errors.New("FOOTNOTE_MAX_UPLOAD_MIB must be between 1 and 4096"))
	}
	if c.SessionMaxTurns < 1 {
		errs = append(errs, errors.New("FOOTNOTE_SESSION_MAX_TURNS must be at least 1"))
	}
	if c.SessionKeepDays < 0 || c.SessionKeepDays > 36_500 {
		errs = append(
			errs, errors.New("FOOTNOTE_SESSION_KEEP_DAYS must be between 1 and 36500, or 0 to keep all conversations"),
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

// WithModel reports whether a model server is configured. Without one, the rules of offline mode answer. The server
// may be unreachable.
func (s *Settings) WithModel() bool {
	return s.Model == "openai" || s.UsesAnthropic() || s.Model == "auto" && s.WithOpenAI()
}

// Evaluation returns a copy with only the settings that affect answers. The user's databases, keys and tool servers
// are left out, so that a measurement contacts no others and does not depend on user data. who is "settings" for
// the model of these settings; any other name is for offline mode.
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

// NewLogger returns a logger that writes to w at the level of the settings. Lines are key=value text, readable for
// people and programs. Levels are those of slog: debug, info, warn and error.
func (s *Settings) NewLogger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // one of four names, validated by the parser
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// embeddingSettings select the embedding model of this process, without a server. It is used if no server computes
// the embeddings.
type embeddingSettings struct {
	EmbeddingDir           *string `help:"Folder of a sentence model of the BERT family (all-MiniLM, bge, e5, all-mpnet, and multilingual ones such as multilingual-e5: model.safetensors, config.json, tokenizer.json or vocab.txt) for semantic search without a server. An embedding model of a server takes precedence. Default: all-MiniLM-L6-v2, if it is installed beside the program or in ../share/footnote; empty: none. make run sets it to the downloaded model." env:"FOOTNOTE_EMBEDDING_DIR" placeholder:"DIR"`
	EmbeddingQueryPrefix   *string `help:"Prefix of each query for such a model, like 'query: ' for e5; without it, the one in the folder's configuration." env:"FOOTNOTE_EMBEDDING_QUERY_PREFIX" placeholder:"TEXT"`
	EmbeddingPassagePrefix *string `help:"Prefix of each passage for such a model, like 'passage: ' for e5; without it, the one in the folder's configuration." env:"FOOTNOTE_EMBEDDING_PASSAGE_PREFIX" placeholder:"TEXT"`
	EmbeddingFloat32       bool    `help:"Run such a model, and a reranker, with float32 weights instead of 8-bit ones: three times slower, but the vectors equal the reference to the last digits." env:"FOOTNOTE_EMBEDDING_FLOAT32"`
}

// EmbedsRemotely reports whether an OpenAI-compatible server computes the embeddings. It takes precedence over a
// model in this process.
func (s *Settings) EmbedsRemotely() bool {
	return s.OpenAIEmbeddingModel != "" &&
		(s.WithOpenAI() || s.OpenAIEmbeddingBaseURL != "" || s.OpenAIEmbeddingAPIKey != "")
}

// EmbedsHere reports whether a model in this process computes the embeddings. It looks for the model's folder each
// time.
func (s *Settings) EmbedsHere() bool { return s.EmbeddingFolder() != "" && !s.EmbedsRemotely() }

// rerankerSettings select the reranker of a search's best passages. At most one of folder and URL is set.
type rerankerSettings struct {
	RerankDir    string        `help:"Folder of a reranker of the BERT family with one label (such as ms-marco-MiniLM, bge-reranker-base, mmarco-mMiniLM: model.safetensors, config.json, tokenizer.json or vocab.txt): it reranks the 20 best passages of a search." env:"FOOTNOTE_RERANK_DIR" placeholder:"DIR"`
	RerankURL    string        `name:"rerank-url" help:"URL of a /rerank endpoint instead (Cohere v2, Jina, vLLM or llama.cpp), like http://localhost:8012/v1/rerank." env:"FOOTNOTE_RERANK_URL" placeholder:"URL"`
	RerankModel  string        `help:"Model of the rerank server. Default: its default model." env:"FOOTNOTE_RERANK_MODEL" placeholder:"NAME"`
	RerankAPIKey Secret        `name:"rerank-api-key" help:"API key of the rerank server." env:"FOOTNOTE_RERANK_API_KEY" placeholder:"KEY"`
	RerankTime   time.Duration `help:"Timeout of the reranker; on expiry the results keep their order." env:"FOOTNOTE_RERANK_TIME" default:"3s"`
}

// checkReranker fails if both a folder and a URL are set, or if the timeout is not between 0 and one minute.
func (s *rerankerSettings) checkReranker() error {
	switch {
	case s.RerankDir != "" && s.RerankURL != "":
		return errors.New("FOOTNOTE_RERANK_DIR and FOOTNOTE_RERANK_URL can't both be set: unset one of them")
	case s.RerankTime <= 0 || s.RerankTime > time.Minute:
		return errors.New("FOOTNOTE_RERANK_TIME must be more than 0 and at most 1m, like 3s")
	}
	return nil
}

// milvusSettings configure the external vector store.
type milvusSettings struct {
	MilvusAddress    string `help:"Milvus server (2.3 or newer) for the vectors. Default: the data directory." env:"MILVUS_ADDRESS" placeholder:"HOST:PORT"`
	MilvusUser       string `help:"User of the Milvus server." env:"MILVUS_USER" placeholder:"NAME"`
	MilvusPassword   Secret `help:"Password of that user." env:"MILVUS_PASSWORD" placeholder:"PASSWORD"`
	MilvusTLS        bool   `name:"milvus-tls" help:"Encrypt the connection to the Milvus server." env:"MILVUS_TLS"`
	MilvusDatabase   string `help:"Database on the Milvus server. Default: its default database." env:"MILVUS_DATABASE" placeholder:"NAME"`
	MilvusCollection string `help:"Prefix of the Milvus collection names, unique per installation." env:"MILVUS_COLLECTION" default:"footnote" placeholder:"NAME"`
}

// Milvus returns the store's configuration. Embeddings of different models are in different collections, so it
// requires the model's name.
func (m milvusSettings) Milvus(model string, log *slog.Logger) milvus.Config {
	return milvus.Config{
		Address: m.MilvusAddress, User: m.MilvusUser, Password: string(m.MilvusPassword), TLS: m.MilvusTLS,
		Database: m.MilvusDatabase, Collection: m.MilvusCollection, Model: model, Log: log,
	}
}

// checkMilvus validates these settings and reports all errors; without an address it checks nothing.
func (m milvusSettings) checkMilvus() error {
	if m.MilvusAddress == "" {
		return nil
	}
	return m.Milvus("", nil).Check()
}

// ocrSettings configure OCR.
type ocrSettings struct {
	OCR          string   `name:"ocr" help:"OCR engine for scanned pages: tesseract, if the program is on the PATH; or model, the model of the OpenAI-compatible server, which needs vision and gets each page as an image." enum:"tesseract,model" env:"FOOTNOTE_OCR" default:"tesseract"`
	OCRLanguages []string `name:"ocr-languages" help:"Language codes for tesseract, like eng,deu. Default: the installed languages that match the text." env:"FOOTNOTE_OCR_LANGUAGES" placeholder:"NAME"`
}

// officeSettings configure the display of Office files.
type officeSettings struct {
	OfficePages bool `name:"office-pages" help:"Show Office files as printed pages, beside their text: LibreOffice (soffice) renders them, if it is on the PATH. It runs sandboxed in user, mount and network namespaces, which requires Linux 5.12 and the permission to create them; elsewhere the setting has no effect, which the log and footnote doctor report." env:"FOOTNOTE_OFFICE_PAGES"`
}

// watchSettings are the folders that 'footnote serve' follows.
type watchSettings struct {
	Watch          []string `help:"Folders that 'footnote serve' watches, as 'footnote watch' does, separated by commas. One replica at a time watches them, and each needs the folder under the same path. A server with keys requires FOOTNOTE_API_KEY: the documents belong to its user." env:"FOOTNOTE_WATCH" placeholder:"DIR"`
	WatchNamespace string   `help:"Namespace of the documents of these folders." env:"FOOTNOTE_WATCH_NAMESPACE" default:"default" placeholder:"NAME"`
}

// validBlobs reports whether FOOTNOTE_BLOBS is a valid URL of a directory or a bucket. It does not check whether it
// is reachable. Credentials in the URL are refused: keys of a bucket have their own variables. Paths must be
// absolute, since replicas start in different folders.
func validBlobs(address string) bool {
	if path, ok := strings.CutPrefix(address, FileScheme); ok {
		return filepath.IsAbs(path)
	}
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(address, s3.Scheme) && u.Host != "" && u.User == nil
}

// OwnPaths returns the files and folders of this program, which are never added as documents. The settings can
// contain keys.
func (s *Settings) OwnPaths() []string {
	paths := []string{s.Data}
	if s.Config != "" {
		paths = append(paths, s.Config)
	}
	return paths
}

// FileScheme is the scheme of a directory's URL. An absolute path follows.
const FileScheme = "file://"

// modelSettings configure additional models and their use. CheckModels validates them.
type modelSettings struct {
	AnthropicAPIKey   Secret `name:"anthropic-api-key" help:"API key of Anthropic." env:"ANTHROPIC_API_KEY" placeholder:"KEY"`
	AnthropicBaseURL  string `name:"anthropic-base-url" help:"Base URL of another server with Anthropic's API." env:"ANTHROPIC_BASE_URL" placeholder:"URL"`
	AnthropicModel    string `name:"anthropic-model" help:"Model name at Anthropic." env:"ANTHROPIC_MODEL" default:"claude-sonnet-4-5"`
	AnthropicThinking int    `name:"anthropic-thinking" help:"Thinking tokens per reply of Anthropic's model: 0, or at least 1024. These models accept no seed, no temperature above 1, and no temperature while thinking." env:"ANTHROPIC_THINKING" default:"0"`

	AgentToolCalls        string            `help:"Format of tool calls: auto (native, or JSON in the text if the model supports none), native, json." enum:"auto,native,json" env:"FOOTNOTE_AGENT_TOOL_CALLS" default:"auto"`
	AgentModelsAllowed    []string          `help:"Additional models that requests may select, weakest first." env:"FOOTNOTE_AGENT_MODELS_ALLOWED" placeholder:"NAME"`
	AgentMinModelForAgent string            `help:"The weakest of the allowed models that selects tools; weaker ones answer from passages that rules retrieved." env:"FOOTNOTE_AGENT_MIN_MODEL_FOR_AGENT" placeholder:"NAME"`
	AgentProfile          string            `help:"Amount of context for a model: full (tools, and long prompts), small (rules search, and it answers from three passages), or auto: small for a model on this machine or network that reads fewer than 100 tokens a second, has at most 8192 of context, or can't call tools." enum:"auto,small,full" env:"FOOTNOTE_AGENT_PROFILE" default:"auto"`
	ModelPatience         time.Duration     `help:"Timeout for the first token of a reply of the OpenAI-compatible server; 0: 2 minutes, and 10 for a server on this machine or network. A server that sends any data gets up to five times as long. FOOTNOTE_RUN_TIMEOUT limits the whole answer." env:"FOOTNOTE_MODEL_PATIENCE" default:"0"`
	ModelsSelect          string            `help:"A cheaper model that selects tools, plans and evaluates; the main model writes the answers." env:"FOOTNOTE_MODELS_SELECT" placeholder:"NAME"`
	Operators             []string          `help:"Users who may select the model on the page, on servers with keys." env:"FOOTNOTE_OPERATORS" placeholder:"NAME"`
	ModelPorts            []int             `help:"For tests: ports of local model servers." env:"FOOTNOTE_MODEL_PORTS" hidden:""`
	ModelServices         map[string]string `help:"For tests: URLs of model providers." env:"FOOTNOTE_MODEL_SERVICES" hidden:""`
	Prices                map[string]string `help:"Price of a million tokens in and out, by model: name=0.4/1.6;other=2/8. In the settings file: prices: {name: {in: 0.4, out: 1.6}}. Answers then show their cost." env:"FOOTNOTE_PRICES" placeholder:"NAME=IN/OUT"`
}

// openAIKey matches OpenAI's own keys; other servers have other formats.
var openAIKey = regexp.MustCompile(`^sk-[!-~]{37,}$`)

// IsOpenAIKey reports whether a key may be OpenAI's own. It prevents sending another service's key to OpenAI if the
// base URL is missing.
func IsOpenAIKey(key string) bool { return openAIKey.MatchString(key) }

// CheckModels validates the model settings and reports all errors. Only the format of keys is validated, and no
// message contains them.
func (s *Settings) CheckModels() error {
	var errs []error
	if s.Model == "anthropic" && s.AnthropicAPIKey == "" {
		errs = append(errs, errors.New("FOOTNOTE_MODEL is anthropic, but ANTHROPIC_API_KEY is not set"))
	}
	if s.OpenAIAPIKey != "" && s.OpenAIBaseURL == "" && !IsOpenAIKey(string(s.OpenAIAPIKey)) {
		errs = append(errs, errors.New(
			"OPENAI_API_KEY is not an OpenAI key, which begins with sk- and has at least 40 characters; set "+
				"OPENAI_BASE_URL for another server",
		))
	}
	if s.AnthropicAPIKey != "" && s.AnthropicBaseURL == "" && !strings.HasPrefix(string(s.AnthropicAPIKey), "sk-ant-") {
		errs = append(errs, errors.New(
			"ANTHROPIC_API_KEY is not an Anthropic key, which begins with sk-ant-; set ANTHROPIC_BASE_URL for "+
				"another server",
		))
	}
	if s.AgentFramework == "anthropic" && !s.UsesAnthropic() {
		errs = append(errs, errors.New(
			"FOOTNOTE_AGENT_FRAMEWORK is anthropic, which requires ANTHROPIC_API_KEY, and FOOTNOTE_MODEL "+
				"anthropic or auto",
		))
	}
	if s.AnthropicThinking != 0 && s.AnthropicThinking < 1024 {
		errs = append(errs, errors.New("ANTHROPIC_THINKING must be 0, or at least 1024"))
	}
	if u, err := url.Parse(s.AnthropicBaseURL); s.AnthropicBaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		errs = append(
			errs, fmt.Errorf("ANTHROPIC_BASE_URL %q must be a URL like https://api.anthropic.com", s.AnthropicBaseURL),
		)
	}
	if least := s.AgentMinModelForAgent; least != "" && !slices.Contains(s.AgentModelsAllowed, least) {
		errs = append(errs, fmt.Errorf(
			"FOOTNOTE_AGENT_MIN_MODEL_FOR_AGENT names %q, which is not among FOOTNOTE_AGENT_MODELS_ALLOWED", least,
		))
	}
	if s.ModelPatience < 0 {
		errs = append(errs, errors.New("FOOTNOTE_MODEL_PATIENCE must be 0 or more"))
	}
	_, err := s.PriceTable()
	return errors.Join(append(errs, err)...)
}

// UsesAnthropic reports whether Anthropic's model answers. With auto, an OpenAI-compatible server takes precedence
// if both are configured, unless the framework is Anthropic's.
func (s *Settings) UsesAnthropic() bool {
	return s.Model == "anthropic" || s.Model == "auto" && s.AnthropicAPIKey != "" &&
		(s.AgentFramework == "anthropic" || !s.WithOpenAI())
}

// WithOpenAI reports whether an OpenAI-compatible server is configured. A key alone means OpenAI's own; a URL alone
// may need no key.
func (s *Settings) WithOpenAI() bool { return s.OpenAIAPIKey != "" || s.OpenAIBaseURL != "" }

// OpenAI returns the configuration of that server's model. log may be nil. Each model of the server has its own
// configuration.
func (s *Settings) OpenAI(model string, log *slog.Logger) openai.Config {
	return openai.Config{
		APIKey: openai.Secret(s.OpenAIAPIKey), BaseURL: s.OpenAIBaseURL, Model: model,
		EmbeddingModel: s.OpenAIEmbeddingModel, EmbeddingBaseURL: s.OpenAIEmbeddingBaseURL,
		EmbeddingAPIKey: openai.Secret(s.OpenAIEmbeddingAPIKey), Log: log, FirstToken: s.ModelPatience,
	}
}

// PriceTable parses the table of prices. Prices are per million tokens, in the operator's currency. Each is IN/OUT,
// as in 0.4/1.6.
func (s *Settings) PriceTable() (map[string]agentrun.Price, error) {
	table := map[string]agentrun.Price{}
	var errs []error
	for name, text := range s.Prices {
		in, out, ok := strings.Cut(text, "/")
		a, errIn := strconv.ParseFloat(strings.TrimSpace(in), 64)
		b, errOut := strconv.ParseFloat(strings.TrimSpace(out), 64)
		if !ok || errIn != nil || errOut != nil || !(a >= 0 && a < 1e6 && b >= 0 && b < 1e6) {
			errs = append(errs, fmt.Errorf("the price %q of %s must be two numbers like 0.4/1.6", text, name))
			continue
		}
		table[name] = agentrun.Price{In: a, Out: b}
	}
	return table, errors.Join(errs...)
}
