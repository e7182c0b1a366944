package child

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The process that Confine starts is this program again. It sets up its namespaces and then executes the other
// program, so that any program that imports this package can confine. An init function runs on the main thread,
// whose privileges and limits the other program inherits.
func init() {
	if len(os.Args) < 2 || os.Args[0] != insideName {
		return
	}
	runtime.LockOSThread()
	if err := inside(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(126)
	}
	os.Exit(0)
}

// oldRoot is the mount point of the server's root until it is unmounted.
const oldRoot = "/.server"

// inside sets up the process and executes the program.
func inside(asked string, run []string) error {
	var o confinement
	if err := json.Unmarshal([]byte(asked), &o); err != nil {
		return fmt.Errorf("read the bounds: %w", err)
	}
	if o.Confined {
		if err := o.build(); err != nil {
			return err
		}
		if err := dropPrivileges(); err != nil {
			return err
		}
	}
	if o.Dir != "" {
		if err := os.Chdir(o.Dir); err != nil {
			return err
		}
	}
	if err := o.limit(); err != nil || len(run) == 0 {
		return err
	}
	return fmt.Errorf("run %s: %w", run[0], syscall.Exec(run[0], run, os.Environ()))
}

// build makes the root of the program: a tmpfs with bind mounts of the allowed paths. It is mounted at /proc only
// temporarily. Programs in the new root can't create user namespaces, in which they would regain privileges. Where
// /proc is read-only that remains possible.
func (o *confinement) build() error {
	_ = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("root", "/proc", "tmpfs", 0, "size=1m,mode=755") },
		func() error { return os.Mkdir("/proc"+oldRoot, 0o700) },
		func() error { return unix.PivotRoot("/proc", "/proc"+oldRoot) },
		func() error { return os.Chdir("/") },
		makeTemporary,
		func() error { return o.bindAll(devices, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID) },
		func() error { return o.bindAll(o.Programs, readOnly) },
		func() error { return hideAll(o.Hide) },
		func() error { return o.bindAll(o.Read, readOnly|unix.MOUNT_ATTR_NOEXEC) },
		func() error {
			return o.bindAll(o.Write, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		},
		func() error { return unix.Unmount(oldRoot, unix.MNT_DETACH) },
		func() error { return os.Remove(oldRoot) },
		func() error { return setAttributes("/", readOnly, 0) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d of a new root: %w", i+1, err)
		}
	}
	return nil
}

const readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

var devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}

// bindAll bind-mounts paths of the server's disk to the same paths of the new root. Symbolic links without a target
// in Targets are copied as links.
func (o *confinement) bindAll(paths []string, attributes uint64) error {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		from := oldRoot + cmp.Or(o.Targets[path], path)
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); err != nil {
			if err := makePlace(from, path, info.Mode()); err != nil {
				return err
			}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err := unix.Mount(from, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", path, err)
		}
		if err := setAttributes(path, attributes, unix.AT_RECURSIVE); err != nil {
			return err
		}
	}
	return nil
}

// makeTemporary mounts a small tmpfs at /tmp, where LibreOffice has a socket.
func makeTemporary() error {
	if err := os.MkdirAll("/tmp", 0o755); err != nil {
		return err
	}
	return unix.Mount("tmp", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=16m,mode=700")
}

// makePlace creates the mount point of a path.
func makePlace(from, path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, path)
	case mode.IsDir():
		return os.Mkdir(path, 0o755)
	default:
		return os.WriteFile(path, nil, 0o600)
	}
}

// hideAll mounts over the paths that must stay hidden, where they exist in the new root.
func hideAll(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue // it is not in the new root
		}
		if info.IsDir() {
			err = unix.Mount("hidden", path, "tmpfs", 0, "size=4k,mode=755")
		} else {
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	return nil
}

// setAttributes adds attributes to a mount with mount_setattr(2), of Linux 5.12.
func setAttributes(path string, attributes uint64, flags uint) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes})
	if err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}

// dropPrivileges irrevocably drops the process's privileges in its namespaces: see capabilities(7).
func dropPrivileges() error {
	for i := uintptr(0); ; i++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, i, 0, 0, 0); errors.Is(err, unix.EINVAL) && i > unix.CAP_AUDIT_READ {
			break
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", i, err)
		}
	}
	const noRoot, noRootLocked = 1 << 0, 1 << 1 // SECBIT_NOROOT: user 0 gains no privileges by executing a program
	none := [2]unix.CapUserData{}
	return errors.Join(
		unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0),
		unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0),
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]),
	)
}

// limit sets the resource limits of the program, which its children inherit. RLIMIT_DATA counts private writable
// memory; see setrlimit(2).
func (o *confinement) limit() error {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_DATA: o.Memory, unix.RLIMIT_FSIZE: o.File, unix.RLIMIT_CPU: uint64(o.Time / time.Second),
	} {
		if most == 0 {
			continue
		}
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	return nil
}
