// Package api has the handlers for programs, and for the forms that browsers send to the same addresses. Each type
// serves one resource, such as Documents, and holds only what that needs. The types of bodies stand beside the
// handlers; package openapi describes them.
//
// A request is authorised by the guard and has its user. Most handlers are functions from a decoded body to a value:
// httpio.HandleBody, Handle and Done decode, encode, and redirect forms. The others send files, streams and
// fragments. Errors are returned, and package server encodes them for the client; a chat.Error's code determines the
// status (httpio.Status).
//
// It must access data only through a Scope, the request's user, and must not render pages: package page supplies the
// responses to forms.
package api

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/chat"
)

// RunController controls runs.
//
// Its methods fail with chat.CodeNotFound for a run, or a queued question, that the user does not have.
type RunController interface {
	// Cancel cancels a run; a finished one fails with chat.CodeConflict.
	Cancel(ctx context.Context, s chat.Scope, runID string) error
	// AnswerNow makes a run answer from its results so far; a finished run fails with chat.CodeConflict.
	AnswerNow(ctx context.Context, s chat.Scope, runID string) error
	// Approve lets a pending call run, with another input if one is given. It fails with chat.CodeNotFound for a
	// call that was never pending, chat.CodeConflict if it was decided or its run is over, and chat.CodeInvalid for
	// an input that the tool does not accept.
	Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error
	// Deny prevents a pending call from running; the model gets the denial as its result.
	Deny(ctx context.Context, s chat.Scope, runID, callID string) error
	// Rerun starts a sibling of a finished run: it copies the steps up to a tool call, repeats that call with
	// another input, and continues.
	Rerun(
		ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string,
	) (run chat.Run, fresh bool, err error)
	// Enqueue queues a question until its session's run is over.
	Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error)
	// SendNow moves a queued question to the front and ends the run under way: with answer, by an answer from its
	// results so far.
	SendNow(ctx context.Context, s chat.Scope, sessionID, id string, answer bool) error
	// Resend sends a session's first queued question if nothing blocks it.
	Resend(ctx context.Context, s chat.Scope, sessionID string)
}
