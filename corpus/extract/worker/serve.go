package worker

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/footnote/footnote/corpus"
)

// Handler reads and draws files in a worker process, one at a time. Package files has the one that reads all formats;
// tests of this package have another.
type Handler interface {
	// Begin loads what a request needs before its file is read.
	Begin(ctx context.Context, req Request) (Start, error)
	// Extract reads the text of req.File. report is called with pages done and in all.
	Extract(ctx context.Context, req Request, report func(done, total int)) (corpus.Extracted, error)
	// Render draws page req.Page of req.File as PNG.
	Render(ctx context.Context, req Request) ([]byte, error)
	Close(ctx context.Context) error
}

// Serve answers the requests of one Pool until in ends or ctx does; it is what the command of Config.Command runs. It
// returns at once when its parent is gone, even in the middle of a file: the process must end then. It limits the
// memory of the whole process. The error is nil when in has ended between two requests.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	limitMemory()
	limitData()
	return serve(ctx, in, out, h)
}

// serve is Serve without the limits, which tests in their own process must not set. One goroutine reads requests, so
// that the end of the input is noticed while a file is being read; another serves one request.
func serve(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	requests := make(chan Request)
	gone := make(chan error, 1)
	go func() { // ends with the process: a read of standard input can't be interrupted
		dec := gob.NewDecoder(in)
		for {
			var req Request
			if err := dec.Decode(&req); err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				gone <- err
				return
			}
			select {
			case requests <- req:
			case <-ctx.Done():
				return
			}
		}
	}()
	s := session{enc: gob.NewEncoder(out), handler: h}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-gone:
			return errors.Join(err, h.Close(ctx))
		case req := <-requests:
			served := make(chan error, 1)
			go func() { served <- s.serve(ctx, req) }()
			select {
			case err := <-served:
				if err != nil || s.last {
					return err
				}
			case err := <-gone:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// session is a worker's side of the connection.
type session struct {
	enc     *gob.Encoder
	handler Handler
	last    bool // the process has used so much memory that another one shall do the next request
}

// serve answers one request. Only an error of the connection is returned. Memory is watched only meanwhile: between
// requests nothing allocates.
func (s *session) serve(ctx context.Context, req Request) error {
	defer watchMemory()()
	start, err := s.handler.Begin(ctx, req)
	if err != nil {
		return s.finish(failed(err))
	}
	if err := s.send(reply{Started: &start}); err != nil {
		return err
	}
	switch {
	case req.Ready:
		return s.finish(reply{Ready: true})
	case req.Page > 0:
		picture, err := s.handler.Render(ctx, req)
		if err != nil {
			return s.finish(failed(err))
		}
		return s.finish(reply{PNG: picture})
	default:
		return s.extract(ctx, req)
	}
}

// extract reads a file and sends what it holds. Once the connection has failed, the file is still read to its end, as
// there is no way to stop a parser.
func (s *session) extract(ctx context.Context, req Request) error {
	var broken error
	x, err := s.handler.Extract(ctx, req, func(done, total int) {
		if broken == nil {
			broken = s.send(reply{Done: done, Total: total})
		}
	})
	if broken != nil {
		return broken
	}
	if err == nil {
		err = checkSize(x)
	}
	if err != nil {
		return s.finish(failed(err))
	}
	meta, err := json.Marshal(x.Meta)
	if err != nil {
		return s.finish(reply{Internal: "encode what the file says about itself: " + err.Error()})
	}
	if err := pieces(x, s.send); err != nil {
		return err
	}
	x.Text, x.Blocks, x.Meta = "", nil, nil
	return s.finish(reply{Extracted: &x, Meta: meta})
}

// failed tells a failure of the file from one of ours.
func failed(err error) reply {
	if f, ok := errors.AsType[*corpus.Failure](err); ok {
		return reply{Failure: f}
	}
	return reply{Internal: err.Error()}
}

// send writes one message.
func (s *session) send(r reply) error {
	if err := s.enc.Encode(r); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// finish sends a request's last reply.
func (s *session) finish(r reply) error {
	s.last = heapGrew()
	r.Last = s.last
	return s.send(r)
}
