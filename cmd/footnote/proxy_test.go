package main_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// freePorts is a counter of ports, with a random start for each run. They are below the ephemeral ports (32768 and
// up), so that no other process gets one before its server listens, or during a restart.
var freePorts atomic.Int64

const firstPort, lastPort = 20_000, 32_767

// freeAddr returns a loopback address with an unused port, a different one each time.
func freeAddr(t *testing.T) string {
	t.Helper()
	freePorts.CompareAndSwap(0, rand.Int64N(lastPort-firstPort)+1)
	for range lastPort - firstPort {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+freePorts.Add(1)%(lastPort-firstPort))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue // bound by another process
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return addr
	}
	t.Fatal("no port is free")
	return ""
}

// proxied runs nginx with deploy/nginx.conf in front of servers. Only the url of the result may be used.
func proxied(t *testing.T, servers ...*server) *server {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("nginx is missing, run make nginx")
		}
		t.Skip("nginx is not on this machine: make nginx")
	}
	dir, addr := t.TempDir(), freeAddr(t)
	var upstream []string
	for _, s := range servers {
		upstream = append(upstream, "server "+strings.TrimPrefix(s.url, "http://")+" max_fails=1 fail_timeout=2s;")
	}
	conf := deployed(t, "nginx.conf", [][2]string{ // machine-specific addresses, names and paths
		{"server footnote:8080 resolve max_fails=1 fail_timeout=2s;", strings.Join(upstream, "\n")},
		{"resolver 127.0.0.11 valid=5s;", ""},
		{"listen 8080;", "listen " + addr + ";"},
		{"worker_processes auto;", "worker_processes 1; daemon off; master_process off;"},
		{"/tmp/", dir + "/"},
	})
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return inFront(t, "nginx", addr, exec.Command(program, "-c", file, "-p", dir, "-e", "stderr"))
}

// deployed returns a file of deploy/ with replacements. Each must match.
func deployed(t *testing.T, name string, changes [][2]string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	conf := string(raw)
	for _, change := range changes {
		if !strings.Contains(conf, change[0]) {
			t.Fatalf("deploy/%s lacks %q", name, change[0])
		}
		conf = strings.ReplaceAll(conf, change[0], change[1])
	}
	return conf
}

// inFront starts a proxy that listens on addr until the test ends, and waits until it forwards requests.
func inFront(t *testing.T, name, addr string, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, url: "http://" + addr, log: &output{}, ended: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // it is killed
	}()
	t.Cleanup(s.kill)
	eventually(t, name+" answers", func() bool {
		r, err := s.try("GET", "/readyz", nil)
		return err == nil && r.status == http.StatusOK
	})
	return s
}

// steadyModel streams its answer in many tokens with a delay.
func steadyModel(t *testing.T, delay time.Duration, tokens int) *modelServer {
	return newModel(t, scripted.Config{
		Delay: delay, Tokens: tokens,
		Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: strings.Repeat("The harbour is calm and the lamp burns. ", 8)}
		},
		Judge: func(string) float64 { return -1 }, // its replies need documents
	})
}

// replicasWith starts n servers on one database, with additional settings.
func replicasWith(t *testing.T, n int, more ...string) []*server {
	t.Helper()
	env := append([]string{
		"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir(),
	}, more...)
	list := make([]*server, n)
	for i := range list {
		list[i] = serve(t, newDir(t), env...)
	}
	return list
}

func TestStreamPassesProxyAndResumesAtOtherReplica(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]func(*testing.T, ...*server) *server{"nginx": proxied, "Caddy": behindCaddy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passesUnbuffered(t, front)
		})
	}
}

func passesUnbuffered(t *testing.T, front func(*testing.T, ...*server) *server) {
	t.Helper()
	model := slow(t)
	// After some tokens the model hangs: no later event flushes a proxy's buffer.
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	model.onBytes = func(n int) {
		if n > 3000 {
			<-stuck
		}
	}
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir())
	var both []*server
	for _, addr := range neighbours(t, 2) {
		both = append(both, serveAt(t, addr, newDir(t), env...))
	}
	proxy := front(t, both...)
	run := proxy.begin("Tell me about the roof.")
	direct, err := both[0].open("GET", run.Events, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.close()
	var seen []event
	for len(seen) == 0 || seen[len(seen)-1].name != string(chat.KindAnswerDelta) {
		ev, err := direct.next()
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ev)
	}
	st, err := proxy.open("GET", run.Events, nil)
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, st.close)
	defer late.Stop()
	for _, want := range seen {
		if ev, err := st.next(); err != nil || ev != want {
			t.Fatalf("the proxy passes %v, %v; want %v", ev, err, want)
		}
	}
	if r := proxy.send("GET", "/agent/runs/"+run.RunID, nil); !strings.Contains(r.body, `"running"`) {
		t.Errorf("the run is over already: %.300s, want %q in it", r.body, `"running"`)
	}
	if got := st.res.Header.Get("X-Accel-Buffering"); got != "" && got != "no" {
		t.Errorf("X-Accel-Buffering is %q", got)
	}
	st.close()
	for _, s := range both { // the run's owner and the other replica both have the stream
		again, err := s.open("GET", run.Events, nil, header{"Last-Event-ID", "1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range seen[1:] {
			if ev, err := again.next(); err != nil || ev != want {
				t.Errorf("after 1, %s goes on with %v, %v; want %v", s.url, ev, err, want)
			}
		}
		again.close()
	}
}

func TestRollingRestartBehindProxyLosesNoRun(t *testing.T) {
	t.Parallel()
	model := steadyModel(t, 2*time.Millisecond, 60)
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir())
	addrs := []string{freeAddr(t), freeAddr(t)}
	at := func(i int) *server { return serveAt(t, addrs[i], newDir(t), env...) }
	both := []*server{at(0), at(1)}
	proxy := proxied(t, both...)
	stop := make(chan struct{})
	var mu sync.Mutex
	var runs []string
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				r, err := proxy.try("POST", "/chat", ask("How is the harbour?"))
				if err == nil && r.status == http.StatusAccepted {
					mu.Lock()
					runs = append(runs, loose[started](t, r.body).RunID)
					mu.Unlock()
				} else if err == nil && r.status != http.StatusServiceUnavailable && r.status != http.StatusBadGateway {
					t.Errorf("POST /chat: %d %s", r.status, r.body) // those two request a retry
				}
			}
		})
	}
	accepted := func() int { mu.Lock(); defer mu.Unlock(); return len(runs) }
	for i := range both {
		before := accepted()
		eventually(t, "questions are taken", func() bool { return accepted() >= before+10 })
		if code := both[i].end(syscall.SIGTERM); code != 0 {
			t.Errorf("replica %d ended with %d:\n%s", i, code, both[i].log)
		}
		before = accepted()
		eventually(t, "questions are taken by the other alone", func() bool { return accepted() >= before+5 })
		both[i] = at(i)
	}
	close(stop)
	load.Wait()
	ends := map[chat.RunStatus]int{}
	for i, run := range runs {
		log := proxy.follow(run)
		ends[log.done.Status]++
		if log.done.Status != chat.RunCompleted {
			t.Errorf("run %d ended as %+v, want Status %v", i, log.done, chat.RunCompleted)
		}
	}
	t.Logf("%d runs: %v", len(runs), ends)
	if ends[chat.RunCompleted] == 0 {
		t.Errorf("no run was completed: got %v, want other than 0", ends[chat.RunCompleted])
	}
}

// neighbours returns n addresses with one port, like the containers of a service.
func neighbours(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range 100 {
		_, port, err := net.SplitHostPort(freeAddr(t))
		if err != nil {
			t.Fatal(err)
		}
		addrs = addrs[:0]
		for i := range n {
			addr := net.JoinHostPort(fmt.Sprintf("127.0.0.%d", i+1), port)
			l, err := net.Listen("tcp", addr)
			if err != nil {
				break
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			addrs = append(addrs, addr)
		}
		if len(addrs) == n {
			return addrs
		}
	}
	t.Fatal("no port is free on all addresses")
	return nil
}

// names runs a DNS server that answers every address query with the addresses of servers, like Docker and
// Kubernetes for a service. It returns its own address.
func names(t *testing.T, servers ...*server) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close() // ends the loop
		<-done
	})
	go func() {
		defer close(done)
		packet := make([]byte, 1<<12)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(packet[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, s := range servers {
					addr := netip.MustParseAddrPort(
						strings.Replace(strings.TrimPrefix(s.url, "http://"), "localhost", "127.0.0.1", 1),
					)
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
						Body:   &dnsmessage.AResource{A: addr.Addr().As4()},
					})
				}
			}
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from) // the resolver retries
			}
		}
	}()
	return conn.LocalAddr().String()
}

// behindCaddy runs Caddy with deploy/Caddyfile in front of servers that share a port. FOOTNOTE_TEST_CADDY is the
// path of another Caddy. Only the url of the result may be used.
func behindCaddy(t *testing.T, servers ...*server) *server {
	t.Helper()
	program := os.Getenv("FOOTNOTE_TEST_CADDY")
	if program == "" {
		program = "caddy"
	}
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("Caddy is missing, run make caddy")
		}
		t.Skip("Caddy is not on this machine: make caddy")
	}
	dir, addr := t.TempDir(), freeAddr(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(servers[0].url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	conf := deployed(t, "Caddyfile", [][2]string{ // machine-specific addresses and DNS server
		{"footnote.example.com {", "http://" + addr + " {\n\tbind 127.0.0.1"},
		{"port 8080", "port " + port + "\n\t\t\tresolvers udp/" + names(t, servers...)},
	})
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte("{\n\tadmin off\n}\n"+conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", file)
	cmd.Env = append(environment(nil), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return inFront(t, "Caddy", addr, cmd)
}
