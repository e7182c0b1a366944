package settings

import (
	"cmp"
	"path/filepath"
)

// keySettings configure access to the server. The command key manages the keys file.
type keySettings struct {
	Keys          string `help:"File of users and the hashes of their keys, for 'footnote key' and the server; replicas share it. With it, a key is required from the start, even before the first one exists. Without it, keys are in the data directory and required once one exists." env:"FOOTNOTE_KEYS" placeholder:"FILE"`
	APIKey        Secret `name:"api-key" help:"Key that 'footnote ask', 'ingest', 'watch' and 'export' send to the server." env:"FOOTNOTE_API_KEY" placeholder:"KEY"`
	OpenToNetwork bool   `name:"open-to-network" help:"Serve without keys also on addresses that other machines can reach: all users of that network can then read, change and delete everything." env:"FOOTNOTE_OPEN_TO_NETWORK"`
}

// KeysFile returns the path of the keys file. It may not exist: then there are no keys.
func (s *Settings) KeysFile() string { return cmp.Or(s.Keys, filepath.Join(s.Data, "keys")) }
