package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The first minute is one command: it serves, adds a folder, and opens the page. A second one finds the first.
func TestUpServesAFolderAndOpensThePage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the browser is a script that Linux would start")
	}
	bin, papers, data := t.TempDir(), t.TempDir(), ""
	opened := filepath.Join(bin, "opened")
	script := "#!/bin/sh\nprintf '%s\\n' \"$1\" >> " + opened + "\n"
	browser := filepath.Join(bin, "xdg-open")
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(papers, "roof.md"), []byte("# Roof\n\nIt is sound."), 0o600); err != nil {
		t.Fatal(err)
	}
	// what is Footnote's own is no document, wherever it lies
	data = filepath.Join(papers, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	shareCompiled(t, data)
	settings := filepath.Join(papers, "footnote.yaml")
	const own = "openai_api_key: secret\nopenai_base_url: http://localhost:1/v1\nmodel: offline\n"
	if err := os.WriteFile(settings, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) (*exec.Cmd, *output) {
		usual := []string{"up", "--data=" + data, "--addr=127.0.0.1:0", "--config=" + settings}
		cmd := exec.Command(binary, append(usual, args...)...)
		out := &output{}
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment(nil), t.TempDir(), out, out
		cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin+":"+os.Getenv("PATH"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
		return cmd, out
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("still not: %s", what)
			}
		}
	}
	pages := func() []string {
		raw, _ := os.ReadFile(opened) // not there yet: none
		return strings.Fields(string(raw))
	}
	first, said := start(papers)
	wait("the page is opened", func() bool { return len(pages()) == 1 })
	url := pages()[0]
	wait("the folder's document is there", func() bool {
		res, err := http.Get(url + "/documents")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		buf := make([]byte, 64<<10)
		n, _ := res.Body.Read(buf) // an end is one of the ways it ends
		list := string(buf[:n])
		if strings.Contains(list, "footnote.yaml") || strings.Contains(list, "server.json") {
			t.Errorf("Footnote's own files are documents: %s", list)
		}
		return strings.Contains(list, "roof.md")
	})
	if err := os.WriteFile(filepath.Join(papers, "cellar.md"), []byte("# Cellar\n\nIt is dry."), 0o600); err != nil {
		t.Fatal(err)
	}
	second, again := start()
	wait("the page is opened again", func() bool { return len(pages()) == 2 })
	if err := second.Wait(); err != nil || pages()[1] != url || !strings.Contains(again.String(), "already") {
		t.Errorf("%v, %v opened, %s; want the page of the server that runs", err, pages(), again)
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	got := command(t, "", nil, "up", "--data="+data, filepath.Join(papers, "none"))
	if got.code != 1 || !strings.Contains(got.stderr, "none") {
		t.Errorf("a folder that is not there: %d %s, want 1 and its name", got.code, got.stderr)
	}
}
