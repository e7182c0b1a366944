package main_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command that is interrupted ends by itself, gives the directory up, and loses nothing that it had stored.
func TestAnInterruptedCommandEndsCleanly(t *testing.T) {
	t.Parallel()
	model := slow(t)
	data := newDir(t)
	cmd := exec.Command(binary, "ask", "Tell me about the roof.", "--data="+data)
	shown := &output{}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment(model.env()), t.TempDir(), shown, shown
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	eventually(t, "the model is asked", func() bool { return len(model.asked()) > 0 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill() // the failure is reported
		t.Fatalf("it goes on after an interrupt:\n%s", shown)
	}
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(shown.String(), "stopped before the answer was done") {
		t.Errorf("code %d:\n%s", cmd.ProcessState.ExitCode(), shown)
	}
	s := serve(t, data)
	sessions := loose[struct {
		Sessions []struct {
			Running bool `json:"running"`
		} `json:"sessions"`
	}](t, s.send("GET", "/sessions", nil).body)
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].Running {
		t.Fatalf("sessions: %+v; want 1 session and Sessions[0].Running false", sessions)
	}
}
