package main

import (
	"fmt"
	"os"
	"path/filepath"

	"footnote/chat"
	"footnote/keys"
)

// keyCommand manages the file of keys. A running server notices its changes by itself.
type keyCommand struct {
	New    keyNewCommand    `cmd:"" help:"Make a key for a user and show it once."`
	List   keyListCommand   `cmd:"" help:"List the users who have a key."`
	Revoke keyRevokeCommand `cmd:"" help:"Revoke all keys of a user: what is open under them, runs and waiting questions end within seconds."`
}

// Help is what 'footnote key --help' adds.
func (keyCommand) Help() string {
	return `As long as no key was ever made and FOOTNOTE_KEYS is not set, everybody who reaches the server is the ` +
		`one local user; the server then
listens on this machine only, unless FOOTNOTE_OPEN_TO_NETWORK is set. From the first key on, the page and the API ` +
		`need one, and each user has
chats and documents of their own. The user "local" has those from before. Only a hash of each key is kept.`
}

// keyNewCommand makes a key.
type keyNewCommand struct {
	Name string `arg:"" help:"The user, such as anna."`
}

// Run prints the key and nothing else on standard output.
func (c *keyNewCommand) Run(p *program) error {
	file := p.settings.KeysFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	key, err := keys.New(file, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, key)
	fmt.Fprintf(p.stderr, "This is the key of %s. It is not shown again; %s keeps its hash.\n", c.Name, file)
	return nil
}

// keyListCommand lists who has keys; a key itself can't be shown again.
type keyListCommand struct{}

// Run prints a name a line.
func (keyListCommand) Run(p *program) error {
	names, err := keys.List(p.settings.KeysFile())
	for _, name := range names {
		fmt.Fprintln(p.stdout, name)
	}
	return err
}

// keyRevokeCommand takes all keys of a user away.
type keyRevokeCommand struct {
	Name string `arg:"" help:"The user."`
}

// Run fails when the user has no key.
func (c *keyRevokeCommand) Run(p *program) error {
	n, err := keys.Revoke(p.settings.KeysFile(), c.Name)
	if err == nil && n == 0 {
		err = &chat.Error{Code: chat.CodeNotFound, Message: c.Name + " has no key; 'footnote key list' shows who has"}
	}
	if err == nil {
		fmt.Fprintf(p.stdout, "%d revoked.\n", n)
	}
	return err
}
