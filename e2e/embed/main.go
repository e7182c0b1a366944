// Command embed measures how fast the sentence model in this process makes vectors beside ONNX Runtime, on one core, in
// the same run, and how near the vectors with weights of 8 bits are to those in floats. docs/performance.md has what it
// printed.
//
//	go run ./e2e/embed -model DIR                                 this program's own rows
//	go run ./e2e/embed -python BIN -int8 FILE -float32 FILE       beside ONNX Runtime
//	go run ./e2e/embed -texts DIR                                 and how near the vectors are
//
// make bench-embed gets what it needs and runs it. It prints a table with a row for each side: passages a second,
// milliseconds for a query, and the ratio to the first row; with -texts also a line with cosines. It exits with 1 when
// any of it fails.
//
// Each side is a process of its own, so that neither the other's memory nor its threads are in the figure, and this
// program is started again with -own for its own rows. texts.go has the texts that are compared; reference.py, beside
// it, is the other side. Nothing is judged: no figure makes it fail.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/corpus/embed/bert/kernel"
)

// That it is three is a choice.
const rounds = 3 // of which the median counts

// side is one of those that are compared: milliseconds of processor time for a passage of 200 tokens and a query of
// 14. measure returns both in that order; times has what it returned, a value for each round.
type side struct {
	name    string
	measure func(context.Context) ([2]float64, error)
	times   [2][]float64
}

func main() {
	model := flag.String("model", ".cache/embedding/all-MiniLM-L6-v2", "folder of the model")
	python := flag.String(
		"python",
		"",
		"a Python that has onnxruntime; without one only this program's own rows are printed",
	)
	short := flag.String("int8", "", "the model with weights of 8 bits as an ONNX file")
	long := flag.String("float32", "", "the model in floats as an ONNX file")
	texts := flag.String("texts", "", "folder of documents, of which a thousand texts are compared")
	own := flag.String("own", "", "measures only this program, int8 or float32, and prints JSON")
	flag.Parse()
	var err error
	if *own != "" {
		err = printOwn(context.Background(), *model, *own == "float32")
	} else {
		err = errors.Join(
			compare(context.Background(), *model, *python, *short, *long),
			near(context.Background(), *model, *texts),
		)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compare measures all sides in turns and prints the table. Without python only this program's own sides are there.
// short and long are the files of the model for ONNX Runtime.
func compare(ctx context.Context, model, python, short, long string) error {
	// child is a side that is this program, with one processor for Go. debug is a GODEBUG, by which instructions are
	// turned off.
	child := func(precision, debug string) func(context.Context) ([2]float64, error) {
		return func(ctx context.Context) (out [2]float64, err error) {
			cmd := exec.CommandContext(ctx, os.Args[0], "-model", model, "-own", precision)
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG="+debug)
			return out, runJSON(cmd, &out)
		}
	}
	// other is a side that is ONNX Runtime. The script prints a JSON object whose keys are the files.
	other := func(file string, args ...string) func(context.Context) ([2]float64, error) {
		return func(ctx context.Context) (out [2]float64, err error) {
			var files map[string][2]float64
			err = runJSON(
				exec.CommandContext(ctx, python, append(append([]string{"e2e/embed/reference.py"}, args...), file)...),
				&files,
			)
			return files[file], err
		}
	}
	sides := []*side{
		{name: "Footnote, 8 bits, " + kernel.Name(), measure: child("int8", "")},
		// Processors without AVX-512 give the same as the row above.
		{name: "Footnote, 8 bits, AVX2 alone", measure: child("int8", "cpu.avx512f=off")},
		{name: "Footnote, float32, " + kernel.Name(), measure: child("float32", "")},
	}
	if python != "" {
		sides = append(sides,
			&side{name: "ONNX Runtime, 8 bits, without AMX", measure: other(short, "--without-amx")},
			&side{name: "ONNX Runtime, 8 bits, all of the processor", measure: other(short)},
			&side{name: "ONNX Runtime, float32", measure: other(long)},
		)
	}
	for range rounds { // in turns, so that a busy neighbour hurts all alike
		for _, s := range sides {
			got, err := s.measure(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			for i, t := range got {
				s.times[i] = append(s.times[i], t)
			}
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(
		out,
		"| one core\t passages of 200 tokens a second\t ms a query of 14\t passages, ratio to the first\t",
	)
	for _, s := range sides {
		passage, query := median(s.times[0]), median(s.times[1])
		fmt.Fprintf(
			out,
			"| %s\t %.1f\t %.2f\t %.2f\t\n",
			s.name,
			1000/passage,
			query,
			median(sides[0].times[0])/passage,
		)
	}
	return out.Flush()
}

// median is the value in the middle, and the greater one of two. of is left as it is and must not be empty.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// runJSON reads what a command prints as JSON. What it says went wrong is shown.
func runJSON(cmd *exec.Cmd, into any) error {
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// printOwn prints milliseconds of processor time for a passage and a query.
//
// It is processor time and not time, so that a busy machine changes it little. Each is made three times to warm up,
// and then again and again for two seconds; the average counts.
func printOwn(ctx context.Context, dir string, floats bool) error {
	e, err := bert.Open(bert.Config{Dir: dir, Float32: floats, Workers: 1})
	if err != nil {
		return err
	}
	// Eleven sentences are about 200 tokens, and the question is about 14.
	passage := strings.Repeat("The lease of the house ends in the spring, unless the tenant asks for more time. ", 11)
	var out [2]float64
	for i, embed := range []func() error{
		func() error { _, err := e.Embed(ctx, []string{passage}); return err },
		func() error {
			_, err := e.EmbedQuery(ctx, "When does the lease of the house end if he stays?")
			return err
		},
	} {
		for range 3 {
			if err := embed(); err != nil {
				return err
			}
		}
		start, n := processorTime(), 0
		for ; processorTime()-start < 2*time.Second; n++ {
			if err := embed(); err != nil {
				return err
			}
		}
		out[i] = 1000 * (processorTime() - start).Seconds() / float64(n)
	}
	return errors.Join(json.NewEncoder(os.Stdout).Encode(out), e.Close())
}

// processorTime is what this process had of the processors until now. The sum has the time in the kernel, too.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails only for another process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// near prints how alike the vectors of a thousand texts are with weights of 8 bits and in floats.
//
// All vectors have length 1, so the cosine is the sum of the products. It prints the least, the one below which a
// hundredth is, and the median: 1 is equal. Without a folder it does nothing.
func near(ctx context.Context, model, folder string) error {
	if folder == "" {
		return nil
	}
	texts, err := textsOf(folder, 1000)
	if err != nil {
		return err
	}
	var vectors [2][][]float32
	for i, floats := range []bool{false, true} {
		e, err := bert.Open(bert.Config{Dir: model, Float32: floats, Workers: runtime.GOMAXPROCS(0)})
		if err != nil {
			return err
		}
		if vectors[i], err = e.Embed(ctx, texts); err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
	}
	var cosines []float64
	for i := range texts {
		var sum float64
		for j, x := range vectors[0][i] {
			sum += float64(x) * float64(vectors[1][i][j])
		}
		cosines = append(cosines, sum)
	}
	slices.Sort(cosines)
	fmt.Printf("cosine of 8 bits to float32, %d texts: least %.4f, 1 %% below %.4f, median %.4f\n",
		len(cosines), cosines[0], cosines[len(cosines)/100], cosines[len(cosines)/2])
	return nil
}
