package settings

import (
	"cmp"
	"path/filepath"
)

// keySettings say who may use the server. The file of keys is read by the room keys.
type keySettings struct {
	Keys          string `help:"File of users and the hashes of their keys, for 'footnote key' and the server; replicas share it. With it a key is needed from the start, also before the first one is made. Without it: keys in the data directory, needed once one is made." env:"FOOTNOTE_KEYS" placeholder:"FILE"`
	APIKey        Secret `name:"api-key" help:"Key with which 'footnote ask', 'ingest', 'watch' and 'export' ask a server that needs one." env:"FOOTNOTE_API_KEY" placeholder:"KEY"`
	OpenToNetwork bool   `name:"open-to-network" help:"Serve without keys also on addresses that other machines can reach: everyone on that network can then read, change and delete everything." env:"FOOTNOTE_OPEN_TO_NETWORK"`
}

// KeysFile is where the keys are.
// It need not exist: without it nobody has a key.
func (s *Settings) KeysFile() string { return cmp.Or(s.Keys, filepath.Join(s.Data, "keys")) }
