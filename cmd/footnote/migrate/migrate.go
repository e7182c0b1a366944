// Package migrate migrates all data from a data directory to the shared stores of replicas: the tables to
// PostgreSQL, the originals to a directory or a bucket, the vectors to Milvus.
//
// The source is read-only, and claimed, so that no server changes it meanwhile. Each part can be interrupted and
// resumed ([Originals], [Vectors]). It reads back the written data and compares counts. The target is marked as
// complete only if all parts are equal.
//
//	DATABASE_URL=postgres://… footnote migrate      may be stopped and called again
//
// It prints a table with the counts of both sides. It exits with 1 when the sides differ.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/sql/dbcopy"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/sql/sqlite"
)

// Command migrates all data from SQLite to PostgreSQL. It can be interrupted and resumed. --from and --to have one
// value each, to document the command line.
type Command struct {
	From  string `help:"Where everything is now: sqlite, the data directory." enum:"sqlite" default:"sqlite"`
	To    string `help:"Where it is to go: postgres, the database of DATABASE_URL." enum:"postgres" default:"postgres"`
	Again bool   `help:"Empty the database of what an unfinished attempt brought, and start over."`
}

// Help returns the additional help of 'footnote migrate --help'.
func (Command) Help() string {
	return `Copies conversations, runs with their events, feedback, shares, kept questions, tables, places that are ` +
		`followed, what programs may, documents
and the index of words from the data directory (--data) into an empty PostgreSQL
(--database-url or DATABASE_URL), and the originals to FOOTNOTE_BLOBS when that is set. The data directory is only ` +
		`read; no server may use it meanwhile.
Stop it at any moment: the same command goes on where it was. At the end both sides are counted and hashed; exit 1 ` +
		`when they differ. With MILVUS_ADDRESS
and the embedding model that made them the vectors are copied to Milvus; else a server with a vector store makes ` +
		`them anew.`
}

// Run copies all data, compares it, and prints the counts of both sides. It fails without any change while a server
// uses the data directory, or if the database contains data from another source. At the end it lists the files that
// servers still need from the data directory.
func (c *Command) Run(p *command.Program) (err error) {
	set := p.Settings
	if set.DatabaseURL == "" {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "There is nowhere to go: set DATABASE_URL to an empty PostgreSQL database",
		}
	}
	if _, err := os.Stat(datadir.At(set.Data).Path(datadir.Database)); err != nil {
		return &chat.Error{Code: chat.CodeNotFound, Message: fmt.Sprintf(
			"There is no database in %s; name the data directory with --data", set.Data,
		)}
	}
	// A server that runs on it meanwhile would add data that the copy misses.
	dir, err := datadir.Claim(set.Data) // held until the end, so that no server starts on it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Release()) }()
	source, err := sqlite.OpenSource(p.Ctx, dir.Path(datadir.Database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := postgres.OpenTarget(p.Ctx, string(set.DatabaseURL), command.QuietLogger(p.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	// Two concurrent migrations would count each other's rows.
	if err := target.Lock(p.Ctx); err != nil {
		return err
	}
	if c.Again {
		if err := target.Again(p.Ctx); err != nil {
			return err
		}
	}
	done, err := target.Begin(p.Ctx, source.Name())
	if err != nil {
		return err
	}
	if done {
		fmt.Fprintln(p.Stdout, "This data directory was copied and compared before; there is nothing to do")
		return nil
	}
	// Before the copy: an unreachable Milvus is reported at once, not after hours.
	vectors, anew, err := OpenVectors(p.Ctx, p.Settings, source, command.QuietLogger(p.Stderr))
	if err != nil {
		return err
	}
	if vectors == nil {
		fmt.Fprintf(p.Stdout, "Vectors are not copied: %s. A server with a vector store makes them anew\n", anew)
	} else {
		defer func() { err = errors.Join(err, vectors.Close()) }()
	}
	return c.copyTables(p, dir, source, target, vectors)
}

// copyTables copies all data; vectors is nil if embeddings are not copied. The target is marked as complete last,
// so that servers refuse a partial one. The counts of both sides are printed as a table, with “DIFFERENT” for a
// mismatch; then it returns dbcopy.ErrDifferent.
func (c *Command) copyTables(
	p *command.Program, dir *datadir.Dir, source *sqlite.Source, target *postgres.Target, vectors *Vectors,
) error {
	report := progressReporter(p.Stderr)
	compared, err := dbcopy.All(p.Ctx, source, target, report)
	if err != nil {
		return err
	}
	files, err := Originals(p.Ctx, p.Settings, dir, report)
	if err != nil {
		return err
	}
	compared = append(compared, files)
	var semantic []string
	if vectors != nil {
		there, whole, err := vectors.Copy(p.Ctx, report)
		if err != nil {
			return err
		}
		compared, semantic = append(compared, there), whole
	}
	// The table is also printed on a mismatch, since it has the details.
	same := true
	out := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "what\tdata directory\tthere\thashes")
	for _, t := range compared {
		says := "the same"
		if !t.Same {
			says, same = "DIFFERENT", false
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\n", t.Table, t.Source, t.Left, says)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if !same {
		return dbcopy.ErrDifferent
	}
	if err := target.End(p.Ctx, semantic); err != nil {
		return err
	}
	if p.Settings.Blobs == "" {
		fmt.Fprintf(
			p.Stdout, "The originals stay in %s: servers need them through FOOTNOTE_BLOBS, see docs/operation.md\n",
			dir.Path("blobs"),
		)
	}
	if err := tellLeft(p.Stdout, dir); err != nil {
		return err
	}
	fmt.Fprintln(
		p.Stdout,
		"Everything is copied. Start the servers with DATABASE_URL; keep the data directory until you are content",
	)
	return nil
}

// progressReporter shows one progress bar for each table in turn. Totals may grow meanwhile, so the progress is cut
// to the total. Without a terminal it prints no line at the end of a table.
func progressReporter(out io.Writer) dbcopy.Progress {
	var show *command.Bar
	last := ""
	return func(table string, done, total int64) {
		if table != last {
			show, last = command.NewBar(out, int(max(total, 1))), table
		}
		show.Draw(table, int(min(done, max(total, 1))), "")
		if show.OnTerminal() && done >= total {
			show.End(fmt.Sprintf("%d %s", total, table))
		}
	}
}

// Originals copies the originals to the servers' store and verifies each there. An intact copy is skipped, so it
// can be repeated. report is called only from the caller's goroutine. The result's Same reports whether all are
// intact in the target.
func Originals(
	ctx context.Context, set *settings.Settings, dir *datadir.Dir, report dbcopy.Progress,
) (c dbcopy.Compared, err error) {
	c = dbcopy.Compared{Table: "originals", Same: true}
	hashes, err := sqlite.Originals(ctx, dir.Path(datadir.Database))
	if err != nil {
		return c, err
	}
	from, err := blobs.Open(dir.Path("blobs"))
	if err != nil {
		return c, err
	}
	to, err := originals.Open(ctx, set, dir)
	if err != nil {
		return c, err
	}
	for i, hash := range hashes {
		report("originals", int64(i), int64(len(hashes)))
		// An attempt that was killed may have left some of them.
		there, err := originals.Intact(ctx, to, hash)
		if err == nil && !there {
			there, err = originals.Copy(ctx, from, to, hash)
		}
		// The document stays, with the same error about its missing original as before.
		if chat.CodeOf(err) == chat.CodeNotFound {
			continue // missing before, in both stores
		}
		if err != nil {
			return c, fmt.Errorf("original %s: %w", hash, err)
		}
		c.Source++
		if there {
			c.Left++
		}
		c.Same = c.Same && there
	}
	report("originals", int64(len(hashes)), int64(len(hashes)))
	return c, nil
}
