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
	New    newCommand    `cmd:"" help:"Make a key for a user and show it once."`
	List   listCommand   `cmd:"" help:"List the users who have a key."`
	Revoke revokeCommand `cmd:"" help:"Revoke all keys of a user: what is open under them, runs and waiting questions end within seconds."`
}

// Help returns the additional help of 'footnote key --help'.
func (Command) Help() string {
	return `As long as no key was ever made and FOOTNOTE_KEYS is not set, everybody who reaches the server is the ` +
		`one local user; the server then
listens on this machine only, unless FOOTNOTE_OPEN_TO_NETWORK is set. From the first key on, the page and the API ` +
		`need one, and each user has
chats and documents of their own. The user "local" has those from before. Only a hash of each key is kept.`
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
	fmt.Fprintf(p.Stderr, "This is the key of %s. It is not shown again; %s keeps its hash.\n", c.Name, file)
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
			Message: locale.Message(c.Name + " has no key; 'footnote key list' shows who has"),
		}
	}
	if err == nil {
		fmt.Fprintf(p.Stdout, "%d revoked.\n", n)
	}
	return err
}
