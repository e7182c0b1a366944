package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestPagesOfTheProgramAreDropped(t *testing.T) {
	resident := func() (kib int) {
		f, err := os.Open("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if rest, ok := strings.CutPrefix(lines.Text(), "RssFile:"); ok {
				kib, err = strconv.Atoi(strings.Fields(rest)[0])
			}
		}
		if err != nil || kib == 0 {
			t.Fatalf("%d kB of files, %v", kib, err)
		}
		return kib
	}
	ranges := programRanges()
	if len(ranges) == 0 {
		t.Fatal("no range of the program was found")
	}
	before := resident()
	dropProgramPages()
	if after := resident(); after > before/2 {
		t.Errorf("%d kB of files are resident, %d kB before", after, before)
	}
}
