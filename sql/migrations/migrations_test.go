package migrations

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/footnote/footnote/chat"
)

func TestMigrationNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		fault string // empty if no error is expected
	}{
		{"in order of number, not of name",
			[]string{
				"001_a.sql", "002_b.sql", "010_j.sql", "003_c.sql", "4_d.sql", "05_e.sql", "006_f.sql", "007_g.sql",
				"008_h.sql", "009_i.sql",
			}, ""},
		{"a gap", []string{"001_a.sql", "003_c.sql"}, "003_c should have the number 2"},
		{"one number twice", []string{"001_a.sql", "001_b.sql"}, "should have the number 2"},
		{"from a later number on", []string{"014_a.sql", "015_b.sql"}, ""},
		{"the schema of the first version", []string{"014_schema.sql", "015_b.sql"}, ""},
		{"the schema of a later version", []string{"014_a.sql", "015_schema.sql", "015_z.sql", "016_c.sql"}, ""},
		{"the schema of no version", []string{"014_a.sql", "016_schema.sql"}, "should have the number 15"},
		{"no number", []string{"first.sql"}, "does not begin with a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for _, name := range tt.files {
				files["m/"+name] = &fstest.MapFile{Data: []byte("SELECT 1")}
			}
			all, err := Read(files, "m")
			switch {
			case tt.fault == "" && (err != nil || len(all) != len(tt.files)):
				t.Errorf("Read = %v, %v", all, err)
			case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Errorf("Read = %v, %v; want an error with %q", all, err, tt.fault)
			}
		})
	}
}

func TestPendingMigrationsAreApplied(t *testing.T) {
	t.Parallel()
	all, err := Read(fstest.MapFS{
		"m/014_a.sql":      {Data: []byte("a")},
		"m/015_schema.sql": {Data: []byte("schema")},
		"m/015_z.sql":      {Data: []byte("z")},
		"m/016_c.sql":      {Data: []byte("c")},
	}, "m")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int]string{
		0: "schema c", 12: "version 13 and later", 13: "a z c", 14: "z c", 15: "c", 16: "", 17: "",
	} {
		left, err := After(all, version)
		var scripts []string
		for _, m := range left {
			scripts = append(scripts, m.Script)
		}
		got := strings.Join(scripts, " ")
		if err != nil {
			got = chat.MessageOf(err).String()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("after version %d: got %q, want %q", version, got, want)
		}
	}
}
