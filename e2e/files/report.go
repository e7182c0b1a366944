package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// printTable prints a row for each kind: files, read, refused, files and megabytes a second, how many words fit, and
// how many numbers of lists are LibreOffice's. Speeds are of the files that were read. Columns for which a kind has
// nothing are empty.
func printTable(w io.Writer, readings []reading, scores map[string]float64, numbers map[string]labels) {
	byKind := map[string][]reading{}
	for _, r := range readings {
		byKind[r.kind] = append(byKind[r.kind], r)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "kind\tfiles\tread\trefused\tfiles/s\tMB/s\tcompared\tmedian F1\tbelow 0.97\tbelow 0.80"+
		"\tnumbers compared\tequal\tnot found")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		var read int
		var bytes int64
		var took time.Duration
		var fits []float64
		var sum labels
		for _, r := range byKind[kind] {
			if r.failure != "" {
				continue
			}
			read, bytes, took = read+1, bytes+r.bytes, took+r.took
			if score, ok := scores[r.path]; ok {
				fits = append(fits, score)
			}
			sum.compared, sum.equal = sum.compared+numbers[r.path].compared, sum.equal+numbers[r.path].equal
			sum.missed += numbers[r.path].missed
		}
		files := byKind[kind]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d", kind, len(files), read, len(files)-read)
		if read > 0 {
			fmt.Fprintf(table, "\t%.0f\t%.1f", float64(read)/took.Seconds(), float64(bytes)/1e6/took.Seconds())
		}
		if len(fits) > 0 {
			slices.Sort(fits)
			fmt.Fprintf(table, "\t%d\t%.3f\t%d\t%d", len(fits), fits[len(fits)/2], below(fits, 0.97), below(fits, 0.80))
		}
		if sum.compared > 0 {
			fmt.Fprintf(table, "\t%d\t%d\t%d", sum.compared, sum.equal, sum.missed)
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush() // to the terminal
}

// below returns how many are less than limit. sorted has to be in order.
func below(sorted []float64, limit float64) int {
	n, _ := slices.BinarySearch(sorted, limit)
	return n
}

// printSentences prints each sentence that files were refused with, and whose they are. The most frequent comes first.
func printSentences(w io.Writer, readings []reading) {
	whose := map[string][]string{}
	for _, r := range readings {
		if r.failure != "" {
			whose[r.failure] = append(whose[r.failure], filepath.Base(r.path))
		}
	}
	for _, said := range slices.SortedFunc(maps.Keys(whose), func(a, b string) int {
		return cmp.Or(len(whose[b])-len(whose[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(w, "\n%d × %s\n   %q\n", len(whose[said]), said, whose[said])
	}
}

// printLow lists the files of which fewest words fit, also those that another program reads and this one refuses.
// limit is from 0 to 1.
func printLow(w io.Writer, readings []reading, scores map[string]float64, limit float64) {
	fmt.Fprintln(w)
	for _, r := range readings {
		if score, ok := scores[r.path]; ok && score < limit {
			fmt.Fprintf(w, "%.3f %s %.60s\n", score, r.path, r.failure)
		}
	}
}
