// Command house prints how much there is of the program, room by room: hand-written lines of Go, how many of them are
// comments, and the places that stand twice. Made files (Code generated … DO NOT EDIT) are left out; tests are counted
// apart. It decides nothing: its figures show where to read.
//
//	go run ./e2e/house               in the root of the module
//	go run ./e2e/house -twice 8      shorter pieces as well
//
// The table goes to standard output, with a row for each room, the longest first, and a row for all. main.go sums and
// prints, source.go reads files, counts comments and finds what stands twice. It writes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	twice := flag.Int("twice", 12, "how many equal lines in a row stand twice; blank lines don't count")
	flag.Parse()
	if err := printHouse(*root, *twice); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// printHouse reads the module and prints its rooms, its sums and what stands twice.
func printHouse(root string, twice int) error {
	files, err := readModule(root)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "room\tfiles\tlines\tcomments\ttests\tmost in a file\t\n")
	var all room
	for _, r := range rooms(files) {
		r.print(out)
		all.join(r)
	}
	all.name = "all"
	all.print(out)
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nlines of code, tests and made files apart: %d; of them comments: %.1f %%\n", all.lines, all.share())
	code := slices.DeleteFunc(slices.Clone(files), func(f source) bool { return f.test })
	pairs := standTwice(code, twice)
	fmt.Printf("places of %d lines and more that stand twice: %d\n", twice, len(pairs))
	for _, p := range pairs {
		fmt.Println(" ", p)
	}
	return nil
}

// room is a top-level folder, or a package of sql, which holds two engines. The rooms of cmd and server count apart as
// well. lines are without tests; tests are lines of tests; most is the longest file.
type room struct {
	name                                string
	files, lines, comments, tests, most int
}

// rooms sums the files up, by name. The longest room comes first.
func rooms(files []source) []room {
	byName := map[string]room{}
	for _, f := range files {
		name, rest, _ := strings.Cut(f.path, "/")
		if below, _, deeper := strings.Cut(rest, "/"); deeper && (name == "sql" || name == "cmd" || name == "server") {
			name += "/" + below
		}
		r := byName[name]
		r.join(room{name: name})
		r.name = name
		if f.test {
			r.tests += len(f.lines)
		} else {
			r.join(room{files: 1, lines: len(f.lines), comments: f.comments(), most: len(f.lines)})
		}
		byName[name] = r
	}
	list := make([]room, 0, len(byName))
	for _, r := range byName {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b room) int { return b.lines - a.lines })
	return list
}

// join adds another room's counts. The name stays.
func (r *room) join(other room) {
	r.files += other.files
	r.lines += other.lines
	r.comments += other.comments
	r.tests += other.tests
	r.most = max(r.most, other.most)
}

// share is how many of 100 lines are comments.
func (r *room) share() float64 { return 100 * float64(r.comments) / float64(max(1, r.lines)) }

// print writes a row of the table.
func (r *room) print(out *tabwriter.Writer) {
	fmt.Fprintf(out, "%s\t%d\t%d\t%.1f %%\t%d\t%d\t\n", r.name, r.files, r.lines, r.share(), r.tests, r.most)
}
