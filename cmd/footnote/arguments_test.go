package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/cmd/footnote/settings"
)

// The arguments are parsed in kong's steps without kong's hooks. This test compares the result with kong's own
// Parse.
func TestArgumentsParseLikeKong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions.yaml")
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"", "serve", "serve --addr=127.0.0.1:1", "--addr 127.0.0.1:1", "--data=x ask why",
		"ask why --json --session s --namespace=n", "ask", "ask a b", "ask --json",
		"ingest", "ingest a b c --namespace=n", "ingest --namespace=n", "doctor", "doctor --health", "doctor --nope",
		"backup", "backup x.tar", "restore x.tar",
		"export", "export r", "export r --format=html -o out", "export r --format=pdf", "export run r",
		"export feedback --rating=up", "export feedback --rating=well",
		"verify", "verify file", "eval", "eval agent", "eval agent --with=offline", "eval agent --with=offline,magic",
		"eval agent --questions=" + file, "eval agent --questions=/nowhere",
		"key", "key new", "key new anna", "key list", "key list x", "key revoke " +
			"anna", "version", "version x", "help", "help ask", "help key " +
			"new", "help serv", "hlep", "extract-worker", "sevre",
		"serve x", "--prot=1", "serve --model=magic", "serve --model=offline",
		"serve --max-runs=many", "serve --run-timeout=3m", "serve --run-timeout=long", "serve --agent-tools=a,b",
		"serve --web-approve=always", "serve --web-approve=", "--max-runs", "-x",
		"--help", "-h", "--version", "ask --help", "key --help", "key new --help", "eval --help", "--version --help",
		"ask --help --nope", "sevre --help", "export --help",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			type outcome struct {
				Err, Out, Selected string
				Commands           commands
			}
			read := func(how func(parser *settings.Parser) (string, error)) (o outcome) {
				var out bytes.Buffer
				parser, err := newParser(&o.Commands, &out, &out)
				if err != nil {
					t.Fatal(err)
				}
				o.Selected, err = how(parser)
				if err != nil {
					o.Err, o.Commands = err.Error(), commands{}
				}
				if o.Out = out.String(); o.Out != "" {
					o.Selected, o.Commands, o.Err = "", commands{}, "" // only arguments are compared
				}
				return o
			}
			type done struct{}
			want := read(func(parser *settings.Parser) (selected string, err error) {
				parser.Exit = func(int) { panic(done{}) }
				defer func() {
					if r := recover(); r != nil {
						if _, ok := r.(done); !ok {
							panic(r)
						}
					}
				}()
				ctx, err := parser.Parse(args)
				if err != nil {
					return "", err
				}
				return ctx.Selected().Target.Type().String(), nil
			})
			got := read(func(parser *settings.Parser) (string, error) {
				command, err := parseArguments(parser, args)
				if command == nil {
					return "", err
				}
				return reflect.TypeOf(command).Elem().String(), err
			})
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(commands{}, settings.Settings{})); diff != "" {
				t.Errorf("-kong, +ours:\n%s", diff)
			}
		})
	}
}
