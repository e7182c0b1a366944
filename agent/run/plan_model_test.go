package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

func TestReadPlan(t *testing.T) {
	t.Parallel()
	self := []string{"the question"}
	for _, tt := range []struct {
		name, said string
		want       []string
		why        string // part of it
	}{
		{
			"as agreed",
			`{"sub_queries":[{"query":"a","reasoning":"r","depends_on":[]},{"query":"b","reasoning":"r",` +
				`"depends_on":[0]}]}`, []string{"a", "b <- [0]"}, "",
		},
		{"a bare list", `[{"query":"a"},{"query":"b"}]`, []string{"a", "b"}, ""},
		{"in a fence, with words around", "Here is the plan:\n```json\n[{\"query\":\"a\"}]\n```\nGood luck!",
			[]string{"a"}, ""},
		{"another name for the list", `{"queries":[{"query":"a"}]}`, []string{"a"}, ""},
		{"a single part", `{"query":"a","reasoning":"r","depends_on":[]}`, []string{"a"}, ""},
		{"plain strings", `{"sub_queries":["a","b"]}`, []string{"a", "b"}, ""},
		{"a later part first", `[{"query":"a","depends_on":[1]},{"query":"b"}]`, []string{"a <- [1]", "b"}, ""},
		{"no JSON", "I would search for the roof.", self, "no list"},
		{"cut off", `{"sub_queries":[{"query":"a"`, self, "no list"},
		{"nothing", "", self, "no list"},
		{"an empty list", `[]`, self, "0 parts"},
		{"an object without parts", `{"plan":"search"}`, self, "empty part"},
		{"an empty query", `[{"query":"  "}]`, self, "empty part"},
		{"a query of the wrong kind", `[{"query":7}]`, self, "no list"},
		{"depends_on of the wrong kind", `[{"query":"a","depends_on":"b"}]`, self, "no list"},
		{"a part that is not there", `[{"query":"a","depends_on":[3]}]`, self, "not there"},
		{"a negative place", `[{"query":"a","depends_on":[-1]}]`, self, "not there"},
		{"a circle of one", `[{"query":"a","depends_on":[0]}]`, self, "circle"},
		{"a circle of three",
			`[{"query":"a","depends_on":[2]},{"query":"b","depends_on":[0]},{"query":"c","depends_on":[1]}]`,
			self, "circle"},
		{"far too many", "[" + strings.TrimSuffix(strings.Repeat(`{"query":"a"},`, 11), ",") + "]", self, "11 parts"},
	} {
		parts, why := readPlan(tt.said, "the question")
		if diff := cmp.Diff(tt.want, partsInShort(parts)); diff != "" || !strings.Contains(why, tt.why) ||
			(why == "") != (tt.why == "") {
			t.Errorf("%s: %q (-want +got):\n%s", tt.name, why, diff)
		}
		for _, p := range parts {
			if p.DependsOn == nil || p.Status != "pending" {
				t.Errorf("%s: part = %+v, want Status %q", tt.name, p, "pending")
			}
		}
	}
}

// partsInShort writes parts as "query <- prerequisites".
func partsInShort(parts []chat.PlanPart) []string {
	var out []string
	for _, p := range parts {
		s := p.Query
		if len(p.DependsOn) > 0 {
			s += fmt.Sprintf(" <- %v", p.DependsOn)
		}
		out = append(out, s)
	}
	return out
}
