package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/footnote/footnote/chat"
)

// secretBytes is the length of a secret; the specification requires 24 to 64.
const secretBytes = 32

// secretMark is the prefix of an encoded secret.
const secretMark = "whsec_"

// Set replaces a user's webhook and returns its new secret, which signs messages and is not shown again. origin is
// the URL at which the user reached this server; local reports that the local user set the webhook. The secret comes
// from crypto/rand. Setting the same URL again invalidates the old secret.
func (s *Sender) Set(ctx context.Context, scope chat.Scope, address, origin string, local bool) (
	secret string, err error,
) {
	address = chat.WebLink(address)
	if address == "" {
		return "", &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Invalid webhook URL. It must begin with https:// or http:// and contain no password.",
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
	s.loop.Wake() // the message webhook.set is sent at once
	return secretMark + base64.StdEncoding.EncodeToString(key), nil
}
