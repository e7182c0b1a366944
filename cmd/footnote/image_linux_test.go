package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user id of the image.
const nobody = 65532

// emptyRoot creates the image's file system in a directory: the program, and directories that are read-only for the
// user nobody. Like in a container there are /dev/null and /proc/self/exe, and nothing else of /dev and /proc.
func emptyRoot(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	for _, dir := range []string{"data/cache", "tmp", "blobs", "dev", "etc", "proc/self"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(binary, filepath.Join(root, "footnote")); err != nil {
		t.Fatal(err)
	}
	hosts := []byte("127.0.0.1 localhost\n") // like in every container
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), hosts, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := warm(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, "data/cache/pdf"), os.DirFS(compiled)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/footnote", filepath.Join(root, "proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	null := filepath.Join(root, "dev/null")
	if err := syscall.Mknod(null, syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
		if err := os.WriteFile(null, nil, 0o600); err != nil { // device nodes can't be created here
			t.Fatal(err)
		}
	}
	if err := os.Chmod(null, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"data", "blobs", "tmp"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(name, nobody, nobody)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// inside returns a command in the image.
func inside(t *testing.T, root string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/footnote", args...)
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// outside lists the files outside the writable volumes.
func outside(t *testing.T, root string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		if err == nil && entry.IsDir() && slices.Contains([]string{"data", "tmp", "blobs"}, rel) {
			return fs.SkipDir
		}
		names = append(names, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The image without a container: the same static program in its own root, as the same user, with no other program
// and no other writable directory.
func TestImageProgramNeedsOnlyItsVolumes(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("chroot requires root")
		}
		t.Skip("a root of its own needs the rights of root")
	}
	root := emptyRoot(t)
	before := outside(t, root)
	// And without PATH, HOME or TMPDIR.
	env := []string{"FOOTNOTE_DATA=/data", "FOOTNOTE_KEYS=/data/keys", "FOOTNOTE_BLOBS=file:///blobs"}
	settings := regexp.MustCompile(
		`(?m)^ENV FOOTNOTE_ADDR=(\S+):8080 (FOOTNOTE_DATA=\S+) (FOOTNOTE_KEYS=\S+)$`,
	).FindStringSubmatch(string(mustRead(t, "../../Dockerfile")))
	if settings == nil || settings[2] != env[0] || settings[3] != env[1] {
		t.Fatalf("the Dockerfile sets %v; want %v and %v", settings, env[0], env[1])
	}
	s := launch(t, inside(t, root, env, "serve", "--addr="+settings[1]+":0"), filepath.Join(root, "data"), env...)
	if got := s.send("GET", "/documents", nil); got.status != 401 {
		t.Errorf("before the first key: status = %d, want 401", got.status)
	}
	made, err := inside(t, root, env, "key", "new", "anna").Output()
	if err != nil {
		t.Fatalf("make the first key: %v, want no error", err)
	}
	s.key = strings.TrimSpace(string(made))
	s.add(file{"plan.pdf", pdfOf("The plan of the weir is drawn by Ada Brown.")}, books[1])
	log := s.run("Who drew the plan of the weir?")
	if log.answer == nil || !strings.Contains(log.answer.Markdown, "Ada Brown") || len(log.answer.Citations) == 0 ||
		log.answer.Citations[0].Page != 1 {
		t.Errorf("the answer from a PDF: %+v; want %q in it, some citations, Citations[0].Page 1",
			log.answer, "Ada Brown")
	}
	health := append(
		env, "FOOTNOTE_ADDR="+strings.Replace(strings.TrimPrefix(s.url, "http://"), "localhost", settings[1], 1),
	)
	if out, err := inside(t, root, health, "doctor", "--health").CombinedOutput(); err != nil {
		t.Errorf("health check: %v\n%s", err, out)
	}
	if out, err := inside(t, root, health, "doctor").CombinedOutput(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, s.log)
	}
	if after := outside(t, root); !slices.Equal(after, before) {
		t.Errorf("files outside the volumes: before\n%v\nafter\n%v", before, after)
	}
	for _, name := range []string{"data/footnote.db", "blobs"} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Sys().(*syscall.Stat_t).Uid != nobody {
			t.Errorf("%s: %v, %v; want %v", name, info, err, nobody)
		}
	}
	if out, err := inside(t, root, []string{"FOOTNOTE_DATA=/elsewhere"}, "serve",
		"--addr=127.0.0.1:0").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "The data directory /elsewhere can't be created") {
		t.Errorf("data directory in the read-only root: got %v\n%s", err, out)
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
