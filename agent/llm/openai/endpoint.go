package openai

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3/option"
)

// endpoint is a server's URL and key, with the names of their settings.
type endpoint struct {
	base                    string
	key                     Secret
	baseSetting, keySetting string
}

// replyEndpoint returns the endpoint for replies.
func (c Config) replyEndpoint() endpoint {
	return endpoint{
		cmp.Or(strings.TrimSpace(c.BaseURL), defaultBaseURL), c.APIKey, "OPENAI_BASE_URL", "OPENAI_API_KEY",
	}
}

// EmbeddingServer returns the base URL of the embedding server and its key, which may be the key for replies. It
// returns an error for an invalid EmbeddingBaseURL.
func (c Config) EmbeddingServer() (base string, key Secret, err error) {
	e, err := c.replyEndpoint().embeddingEndpoint(c)
	return e.base, e.key, err
}

// embeddingEndpoint returns the endpoint of the embedding model; e is that for replies. A key is never sent to a
// host or scheme it was not set for. The key for replies is dropped if either differs, so that a local embedding
// server does not get OpenAI's key.
func (e endpoint) embeddingEndpoint(c Config) (endpoint, error) {
	if base := strings.TrimSpace(c.EmbeddingBaseURL); base != "" {
		here, err := url.Parse(base)
		if err != nil || here.Host == "" || here.Scheme != "http" && here.Scheme != "https" {
			return e, errors.New("OPENAI_EMBEDDING_BASE_URL must be a URL like http://localhost:11434/v1")
		}
		if there, err := url.Parse(e.base); err != nil || there.Host != here.Host || there.Scheme != here.Scheme {
			e.key, e.keySetting = "", "OPENAI_EMBEDDING_API_KEY"
		}
		e.base, e.baseSetting = base, "OPENAI_EMBEDDING_BASE_URL"
	}
	if c.EmbeddingAPIKey != "" {
		e.key, e.keySetting = c.EmbeddingAPIKey, "OPENAI_EMBEDDING_API_KEY"
	}
	return e, nil
}

// sdkOptions returns the options of an SDK service. It does not use the SDK's defaults, which would read keys and
// headers from the environment.
func (e endpoint) sdkOptions(client *http.Client) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(e.base), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	if e.key == "" {
		return options
	}
	options = append(options, option.WithAPIKey(string(e.key)))
	if strings.Contains(e.base, ".azure.com") {
		options = append(options, option.WithHeader("api-key", string(e.key))) // Azure's header for the key
	}
	return options
}
