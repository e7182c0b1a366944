package request

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/text/locale"
)

// explain converts a request's error into a user-facing one. caller is nil when it ends with the request. Errors are
// checked in this order: the caller's cancelled context, the request's timeout, errors with a user-facing message,
// and the rest by type.
func explain(reading, caller context.Context, err error) error {
	var told *chat.Error
	var timeout net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var corrupt flate.CorruptInputError
	cause := context.Cause(reading)
	var sent *url.Error
	if errors.As(err, &sent) { // its URL may contain a token, and errors are logged
		err = sent.Err
	}
	switch {
	case caller != nil && caller.Err() != nil:
		return caller.Err()
	case errors.Is(cause, errSilent):
		return errSilent
	case errors.As(err, &told):
		return told
	case cause != nil:
		return cause
	case errors.As(err, &timeout) && timeout.Timeout():
		return errSilent
	case errors.As(err, &name) && name.IsNotFound:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "Server not found. Check the address.", Err: err,
		}
	case errors.As(err, &certificate):
		return &chat.Error{
			Code: chat.CodeUnavailable, Err: err,
			Message: "The server's certificate is not trusted. Check the address, or contact the server's " +
				"administrator.",
		}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "The server's response can't be decompressed. Contact its administrator.",
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: sources.Retried("The connection to the server failed."), Err: err,
	}
}

// Failed returns the error for a status of a server that is unavailable, or that rejects this user. Kinds handle
// statuses with a specific meaning themselves.
func Failed(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "Username or password rejected by the server. Enter them again.",
		}
	case http.StatusForbidden:
		return &chat.Error{
			Code: chat.CodeForbidden, Message: "Access denied by the server. Contact its administrator.",
		}
	case http.StatusTooManyRequests:
		return &chat.Error{
			Code:    chat.CodeUnavailable,
			Message: sources.Retried("The server's rate limit was reached."),
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: sources.Retried(locale.Say("The server returned status {1}.", status)),
	}
}

// Explain converts an error of a protocol other than HTTP into a user-facing one. The error of a cancelled ctx is
// returned unchanged.
func Explain(ctx context.Context, err error) error { return explain(ctx, ctx, err) }
