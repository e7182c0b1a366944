// Command serving runs a command with both Milvus test servers, so that the packages of one "go test" share them.
// Servers named in the environment are used instead. The servers end with the command, or when this process is
// killed. If they are not installed, it only runs the command, whose tests report that.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "serving:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run returns the command's exit code. An interrupt is passed on to the command, which may shut down by itself.
func run(args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New("which command?")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := os.Environ()
	for _, kind := range []milvustest.Kind{milvustest.Standalone, milvustest.Lite} {
		if os.Getenv(milvustest.AddressEnv(kind)) != "" {
			continue
		}
		s, startErr := milvustest.Start(ctx, kind)
		if errors.Is(startErr, milvustest.ErrMissing) {
			break
		}
		if startErr != nil {
			return 1, startErr
		}
		defer func() {
			err = errors.Join(err, s.Close())
			fmt.Fprintf(os.Stderr, "%s used at most %d MB of memory\n", kind, s.Memory()>>20)
		}()
		env = append(env, milvustest.AddressEnv(kind)+"="+s.Address)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second // for a command that ignores the signal
	runErr := cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](runErr); ended {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, runErr
}
