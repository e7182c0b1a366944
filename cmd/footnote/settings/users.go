package settings

import (
	"cmp"
	"path/filepath"
)

// keySettings configure access to the server. The command key manages the keys file.
type keySettings struct {
	Keys          string `help:"File of users and the hashes of their API keys, shared by 'footnote key', the server and its replicas. If set, a key is always required, even before one exists. Default: a file in the data directory; a key is required once one exists." env:"FOOTNOTE_KEYS" placeholder:"FILE"`
	APIKey        Secret `name:"api-key" help:"API key for 'footnote ask', 'ingest', 'watch' and 'export'." env:"FOOTNOTE_API_KEY" placeholder:"KEY"`
	OpenToNetwork bool   `name:"open-to-network" help:"Serve without API keys on addresses that other machines can reach: everyone on the network can then read, change and delete everything." env:"FOOTNOTE_OPEN_TO_NETWORK"`
}

// KeysFile returns the path of the keys file. It may not exist: then there are no keys.
func (s *Settings) KeysFile() string { return cmp.Or(s.Keys, filepath.Join(s.Data, "keys")) }
