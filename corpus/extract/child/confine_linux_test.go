package child

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be a program that dials an address and prints the error.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "dial" {
		_, err := net.Dial("tcp", os.Args[2])
		fmt.Println("dialed:", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run runs a shell script within bounds and returns its output.
func run(t *testing.T, b Bounds, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	b.Programs = append(Programs("/bin/sh"), b.Programs...)
	Confine(cmd, b)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%v", err)
	}
	return string(out)
}

func TestConfinedProgramSeesOnlyItsPaths(t *testing.T) {
	if err := Refused(); err != nil {
		t.Fatal(err)
	}
	secret, in, out := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{secret, in} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	b := Bounds{Programs: []string{os.Args[0]}, Read: []string{in}, Write: []string{out}}
	got := run(t, b, fmt.Sprintf(`
		cat %[1]s/file /etc/passwd /etc/shadow /proc/1/environ /proc/self/environ
		echo "read: $(cat %[2]s/file)"
		echo x >%[2]s/file; echo x >%[2]s/new; echo x >/new; echo x >/usr/bin/new; mkdir /dev/x
		echo kept >%[3]s/made
		echo "pid: $$"; ls -A /; ls -A /tmp 2>/dev/null
		kill -9 %[4]d
		unshare -Ur true && echo unshared
		mount -t tmpfs x /tmp && echo mounted
		%[5]s dial %[6]s`, secret, in, out, os.Getpid(), os.Args[0], listener.Addr()))
	if strings.Count(got, "canary") != 1 || !strings.Contains(got, "read: canary") {
		t.Errorf("it read %q, want its input alone", got)
	}
	for _, bad := range []string{"root:", "unshared", "mounted", "dialed: <nil>", "\nproc\n", "\nhome\n",
		"\nroot\n", "server"} {
		if strings.Contains(got, bad) {
			t.Errorf("it said %q, want no %q in it", got, bad)
		}
	}
	if !strings.Contains(got, "pid: 1\n") || !strings.Contains(got, "dialed: dial tcp") {
		t.Errorf("it said %q, want process 1 and no connection", got)
	}
	for dir, want := range map[string]string{in + "/file": "canary", out + "/made": "kept\n"} {
		if b, err := os.ReadFile(dir); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", dir, b, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(in, "new")); err == nil {
		t.Error("worker wrote to its input directory")
	}
}

func TestHiddenPathsStayHidden(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seen", "keys", "data/file"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(data, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	b := Bounds{Programs: []string{dir}, Hide: []string{filepath.Join(dir, "keys"), filepath.Join(dir, "link")}}
	got := run(t, b, "cd "+dir+"; cat seen keys data/file link/file")
	if !strings.Contains(got, "content of seen") || strings.Contains(got, "keys") || strings.Contains(got, "of data") {
		t.Errorf("it read %q, want only what is not hidden", got)
	}
}

func TestLinkedDirectoriesAreWritable(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "disk", "target"), filepath.Join(dir, "data", "link")
	if err := errors.Join(os.MkdirAll(target, 0o700), os.Mkdir(filepath.Dir(link), 0o700),
		os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	run(t, Bounds{Write: []string{link}}, "echo kept >"+link+"/made")
	if b, err := os.ReadFile(filepath.Join(target, "made")); err != nil || string(b) != "kept\n" {
		t.Errorf("the target of the link holds %q, %v; want what was written", b, err)
	}
}

func TestLimitsApplyBeforeProgramStarts(t *testing.T) {
	b := Bounds{Memory: 1 << 30, File: 1 << 20, Time: 7 * time.Second}
	want := "1048576\n2048\n7\n" // ulimit counts memory in KiB and files in blocks of 512 bytes
	if got := run(t, b, "ulimit -Hd; ulimit -Hf; ulimit -Ht"); got != want {
		t.Errorf("confined, the limits are %q, want %q", got, want)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "ulimit -Hd; ulimit -Hf; ulimit -Ht")
	confine(cmd, b, false)
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != want {
		t.Errorf("where namespaces are refused, the limits are %q, %v; want %q", got, err, want)
	}
}

func TestMissingProgramIsReported(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/nowhere/program")
	Confine(cmd, Bounds{Programs: Programs("/bin/true")})
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 126 || !strings.Contains(string(out), "/nowhere/program") {
		t.Errorf("it ended with %v and %q, want status 126 and its name", err, out)
	}
}

// BenchmarkConfine starts a program that exits at once.
func BenchmarkConfine(b *testing.B) {
	for _, confined := range []bool{true, false} {
		b.Run(fmt.Sprintf("confined=%t", confined), func(b *testing.B) {
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), "/bin/true")
				confine(cmd, Bounds{Programs: Programs("/bin/true")}, confined)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
