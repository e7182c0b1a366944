package settings

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// parsed are the settings that arguments and an environment give.
func parsed(t *testing.T, env map[string]string, args ...string) *Settings {
	t.Helper()
	var cli alone
	for name, value := range env {
		t.Setenv(name, value)
	}
	parser, err := NewParser(&cli, "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.read(args); err != nil {
		t.Fatal(err)
	}
	return &cli.Settings
}

func TestEachLimitOfTheTableIsASettingWithItsDefault(t *testing.T) {
	given := parsed(t, nil).UserLimits()
	for i, l := range chat.AllLimits() {
		if got, there := given[l.Name]; !there || got != l.Default {
			t.Errorf("%s is %d by default (a setting: %v), want %d", l.Name, got, there, l.Default)
		}
		flag := "--limits-" + strings.ReplaceAll(string(l.Name), "_", "-")
		if got := parsed(t, nil, fmt.Sprintf("%s=%d", flag, 7+i)).UserLimits()[l.Name]; got != int64(7+i) {
			t.Errorf("%s: %d, want %d", flag, got, 7+i)
		}
		t.Run(limitEnv(l.Name), func(t *testing.T) {
			if got := parsed(t, map[string]string{limitEnv(l.Name): "3"}).UserLimits()[l.Name]; got != 3 {
				t.Errorf("got %d, want 3", got)
			}
		})
		negative := parsed(t, nil, flag+"=-1")
		if err := negative.limitSettings.checkLimits(); err == nil || !strings.Contains(err.Error(), limitEnv(l.Name)) {
			t.Errorf("%s=-1: %v", flag, err)
		}
	}
	if got := parsed(t, map[string]string{
		"FOOTNOTE_QUESTIONS_PER_DAY": "5",
	}).UserLimits()[chat.QuestionsPerDay]; got != 5 {
		t.Errorf("FOOTNOTE_QUESTIONS_PER_DAY: %d, want 5", got)
	}
}

func TestTheReserveOfDiskHoldsFromOneByteBelowIt(t *testing.T) {
	set := parsed(t, nil, "--limits-disk-reserve-mib=3")
	for _, tt := range []struct {
		free  int64
		fails bool
	}{{3<<20 + 1, false}, {3 << 20, false}, {3<<20 - 1, true}, {0, true}} {
		err := set.DiskReserve(t.TempDir(), func(string) (int64, error) { return tt.free, nil })()
		if (err != nil) != tt.fails || err != nil && chat.CodeOf(err) != chat.CodeDiskFull {
			t.Errorf("with %d bytes free: %v, want disk_full: %v", tt.free, err, tt.fails)
		}
	}
}

func TestTheHandbookHasEveryLimit(t *testing.T) {
	const path = "../../../docs/handbook/05-operation.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range chat.AllLimits() {
		want := fmt.Sprintf("| %s | %d | %s; 0: no limit |", limitEnv(l.Name), l.Default, l.About)
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s lacks the row\n%s", path, want)
		}
	}
}
