// Package keys creates, lists and revokes API keys, in the file that servers read. A running server notices changes
// within seconds.
package keys

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/text/locale"
)

// Command manages the keys file. A running server notices its changes.
type Command struct {
	New    newCommand    `cmd:"" help:"Create an API key for a user and show it once."`
	List   listCommand   `cmd:"" help:"List users with an API key."`
	Revoke revokeCommand `cmd:"" help:"Revoke all API keys of a user. Open sessions, runs and queued questions end within seconds."`
}

// Help returns the additional help of 'footnote key --help'.
func (Command) Help() string {
	return `Until the first API key is created, and unless FOOTNOTE_KEYS is set, everyone who can reach the server ` +
		`is the user "local". The server then
listens on this machine only, unless FOOTNOTE_OPEN_TO_NETWORK is set. Once a key exists, the page and the API ` +
		`require one, and each user has
separate conversations and documents. The user "local" keeps the earlier ones. Only a hash of each key is stored.`
}

// newCommand creates a key.
type newCommand struct {
	Name string `arg:"" help:"The user, such as anna."`
}

// Run prints only the key on standard output.
func (c *newCommand) Run(p *command.Program) error {
	file := p.Settings.KeysFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	key, err := keys.New(file, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, key)
	fmt.Fprintf(p.Stderr, "This is the API key of %s. It is not shown again; its hash is stored in %s.\n", c.Name, file)
	return nil
}

// listCommand lists the users with keys. A key itself can't be shown again.
type listCommand struct{}

// Run prints one name per line.
func (listCommand) Run(p *command.Program) error {
	names, err := keys.List(p.Settings.KeysFile())
	for _, name := range names {
		fmt.Fprintln(p.Stdout, name)
	}
	return err
}

// revokeCommand revokes all keys of a user.
type revokeCommand struct {
	Name string `arg:"" help:"The user."`
}

// Run fails if the user has no key.
func (c *revokeCommand) Run(p *command.Program) error {
	n, err := keys.Revoke(p.Settings.KeysFile(), c.Name)
	if err == nil && n == 0 {
		err = &chat.Error{
			Code:    chat.CodeNotFound,
			Message: locale.Message(c.Name + " has no API key; 'footnote key list' lists the users with keys"),
		}
	}
	if err == nil {
		fmt.Fprintf(p.Stdout, "%d revoked.\n", n)
	}
	return err
}
