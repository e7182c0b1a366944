// Command release makes what goreleaser does not: the notices of everything that is linked or embedded in the program,
// its bill of materials, the packages for npm and PyPI, and the bundles for chat programs. The same input makes the
// same bytes. It is part of "make release" and of no installation.
//
//	go run ./deploy/release notices -out FILE                        licences of all that is in the program
//	go run ./deploy/release sbom -binary BIN -version V -out FILE    what one built program has in it
//	go run ./deploy/release model -model DIR -out FILE               the sentence model, packed
//	go run ./deploy/release npm -version V -repository R -out DIR    likewise wheels and bundles
//
// It needs SOURCE_DATE_EPOCH, the seconds of the commit, in the environment: all that is packed has that time. What is
// packed are the programs that goreleaser wrote into dist. It prints nothing and exits with 0 when all is written;
// otherwise it says what is wrong and exits with 1, and what it had written stays.
//
// dist.go reads what was built, modules.go finds the works of others, archive.go packs; notices.go, bill.go, npm.go,
// wheel.go, bundle.go and model.go make one kind each. It never builds the program, and never publishes anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run does what the first argument names. The flags are the same for all kinds; each uses those that it needs. -out is
// always needed.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "", "file or folder to write")
	root := flags.String("root", ".", "folder of the sources")
	dist := flags.String("dist", "dist", "folder that goreleaser wrote")
	binary := flags.String("binary", "", "program whose bill of materials is made")
	repository := flags.String("repository", "", "where versions are published, such as github.com/owner/name")
	version := flags.String("version", "", "version without the v")
	notices := flags.String("notices", ".cache/release/THIRD-PARTY-NOTICES.txt", "file of the notices, for packages")
	model := flags.String("model", "", "folder of the sentence model")
	if len(args) == 0 {
		return errors.New("say what to make: notices, sbom, model, npm, wheels or bundles")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" || flags.NArg() != 0 {
		return errors.New("-out is needed, and nothing beside flags")
	}
	made, err := madeAt(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	about := product{version: *version, repository: *repository, made: made}
	switch args[0] {
	case "notices":
		return makeNotices(ctx, *root, *out)
	case "sbom":
		return makeBill(*root, *binary, *out, about)
	case "model":
		return makeModel(*model, *out, about)
	case "npm":
		return makeNPM(*root, *notices, *dist, *out, about)
	case "wheels":
		return makeWheels(*root, *notices, *dist, *out, about)
	case "bundles":
		return makeBundles(*root, *notices, *dist, *out, about)
	default:
		return fmt.Errorf("%s is nothing to make: notices, sbom, model, npm, wheels or bundles", args[0])
	}
}

// product is what all packages say of the program. Packages need all of it, see check; the notices and the model only
// its time.
type product struct {
	version    string // 1.2.3, without the v
	repository string // github.com/owner/name
	made       time.Time
}

// summary is one sentence without its full stop, for registries cut longer ones. licence is the name in SPDX.
const (
	summary = "Answers questions from your own documents, with footnotes that open the source at the very words"
	licence = "MIT"
)

// homepage is the repository's address for people.
func (p product) homepage() string { return "https://" + p.repository }

// readme is what a registry shows of a package that is started by a command.
func (p product) readme(command string) string {
	return "# Footnote\n\n" + summary + ".\n\n    " + command + " up ~/papers\n\nMore: " + p.homepage() + "\n"
}

// check fails for a product that packages can't be made of. The time was checked before, by madeAt.
func (p product) check() error {
	if p.version == "" || p.repository == "" {
		return errors.New("-version and -repository are needed")
	}
	return nil
}

// madeAt is the time of everything inside packages: that of the commit, in SOURCE_DATE_EPOCH.
//
// A time that is not given is an error and not “now”: a package that differs for each build can't be checked by
// others. It is returned in UTC.
func madeAt(epoch string) (time.Time, error) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 315532800 { // 1980, before which a zip file has no time
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want the seconds of the commit", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
