package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
)

func TestAPageThatCannotBeDrawnSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		file  []byte
		page  int
		limit time.Duration
		code  chat.Code
		says  string
	}{
		{"it takes too much memory", pdftest.Stamped(12, 10), 1, 0, chat.CodeUndrawable, "too complex to draw"},
		{"it takes too long", pdftest.Many(1), 1, time.Nanosecond, chat.CodeUndrawable, "too complex to draw"},
		{"it is damaged", []byte("%PDF-1.7 but nothing else"), 1, 0, chat.CodeUndrawable, "is damaged"},
		{"there is none", pdftest.Many(1), 2, 0, chat.CodeNotFound, "no page 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reader := newReader(t, func(c *worker.Config) { c.DrawLimit = tt.limit })
			_, err := reader.Render(t.Context(), pdftest.Write(t, tt.file), tt.page, 1000)
			if err == nil || chat.CodeOf(err) != tt.code || !strings.Contains(chat.MessageOf(err), tt.says) {
				t.Errorf("error = %v, want %s and %q", err, tt.code, tt.says)
			}
		})
	}
}

func TestAPageWhoseWorkerIsKilledIsNotToBlame(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(2))
	drawn := make(chan error)
	go func() {
		_, err := reader.Render(t.Context(), file, 1, 1000)
		drawn <- err
	}()
	for {
		select {
		case err := <-drawn:
			if !errors.Is(err, corpus.ErrReaderDied) || chat.CodeOf(err) != chat.CodeUnavailable {
				t.Errorf("error = %v, want %v with %s", err, corpus.ErrReaderDied, chat.CodeUnavailable)
			}
			return
		default:
			reader.KillDrawing()
		}
	}
}

func TestAPageIsDrawnToItsEndWhenItsReaderLeaves(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(2))
	reader.Expect()
	come(reader)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for reader.HasOneReady() { // until it is given the page
		}
		cancel()
	}()
	if _, err := reader.Render(ctx, file, 1, 4000); err != nil {
		t.Errorf("Render: %v, want no error", err)
	}
	if !reader.HasOneReady() {
		t.Error("the worker is gone, want one that waits")
	}
}
