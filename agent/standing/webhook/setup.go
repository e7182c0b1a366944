package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/footnote/footnote/chat"
)

// secretBytes is how long a secret is; the specification asks for 24 to 64.
const secretBytes = 32

// secretMark is how the written form of a secret begins.
const secretMark = "whsec_"

// Set has a user's changes sent to an address from now on, in the place of the one before, and returns the new secret
// that signs them. It is kept, but shown to nobody again. origin is where the user reached this server, and local says
// that the local user asked. The secret comes from crypto/rand. Setting the same address again makes a new one, and the
// old one is worth nothing from then on.
func (s *Sender) Set(ctx context.Context, scope chat.Scope, address, origin string, local bool) (
	secret string, err error,
) {
	address = chat.WebLink(address)
	if address == "" {
		return "", &chat.Error{
			Code: chat.CodeInvalid,
			Message: "This is no address that changes can be sent to. It begins with https:// or http://, and has " +
				"no password in it.",
		}
	}
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // it does not fail
	err = s.cfg.Store.SetWebhook(ctx, scope, &chat.Webhook{
		URL: address, Origin: origin, Secret: key, SetAt: s.cfg.Now().UTC().Truncate(time.Microsecond), Local: local,
	})
	if err != nil {
		return "", err
	}
	s.loop.Wake() // it is told at once
	return secretMark + base64.StdEncoding.EncodeToString(key), nil
}
