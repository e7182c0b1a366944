package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
)

// One event to 1,000 readers is encoded once: what is allocated for each event and reader is far less than the event.
func BenchmarkOneRunWithAThousandReaders(b *testing.B) {
	const readers = 1000
	bench := newBench(b)
	run := bench.begin("Is the roof sound?")
	got := make(chan struct{}, readers)
	var wg sync.WaitGroup
	for range readers {
		body, err := bench.subscribe(run.ID)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer body.Close()
			buf := make([]byte, 32<<10)
			for {
				n, err := body.Read(buf)
				for range bytes.Count(buf[:n], []byte("\nevent: ")) {
					got <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		})
	}
	text := strings.Repeat("x", 4<<10)
	b.SetBytes(readers * int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		bench.append(run.ID, chat.AnswerDelta{Text: text})
		for range readers {
			<-got
		}
	}
	b.StopTimer()
	go func() {
		for range got {
		}
	}()
	bench.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	wg.Wait()
	close(got)
}

// BenchmarkIdleStreams reports what an open stream without news costs, client's side of the connection left out.
func BenchmarkIdleStreams(b *testing.B) {
	bench := newBench(b)
	run := bench.begin("Is the roof sound?")
	for b.Loop() {
		const streams = 2000
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		conns := make([]net.Conn, streams)
		for i := range conns {
			conn, err := net.Dial("tcp", strings.TrimPrefix(bench.url, "http://"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "GET /agent/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
				run.ID); err != nil {
				b.Fatal(err)
			}
			for seen := []byte{}; !bytes.Contains(seen, []byte(": open")); {
				var buf [512]byte
				n, err := conn.Read(buf[:])
				if err != nil {
					b.Fatal(err)
				}
				seen = append(seen, buf[:n]...)
			}
			conns[i] = conn
		}
		runtime.GC()
		runtime.ReadMemStats(&during)
		used := float64(during.HeapInuse+during.StackInuse) - float64(before.HeapInuse+before.StackInuse)
		b.ReportMetric(used/streams/1024, "KiB/stream")
		for _, conn := range conns {
			if err := conn.Close(); err != nil {
				b.Fatal(err)
			}
		}
		for bench.streams.Count() > 0 {
			runtime.Gosched()
		}
	}
}

func (b *bench) subscribe(runID string) (io.ReadCloser, error) {
	res, err := http.Get(b.url + "/agent/runs/" + runID + "/events")
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
