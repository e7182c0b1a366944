package offline

import (
	"strings"
	"testing"
)

// sheetOfText parses rows with bars.
func sheetOfText(rows string) *sheet {
	var all [][]string
	for line := range strings.SplitSeq(rows, "\n") {
		all = append(all, cellsOf(line))
	}
	return newSheet(all[0], all[1:], setOf(stems("Regatta results")), true)
}

const regattas = "Year | Boat | Helm | Country | Class | Points | Length\n" +
	"2019 | Heron | Ann Lee | Ireland | Sloop | 12 | 9.5 m (31 ft)\n" +
	"2020 | Otter | Bo Dahl | Norway | Ketch | 30 | 12.1 m (40 ft)\n" +
	"2021 | Grebe | Cy Roux | France | Sloop | 22 | 8.2 m (27 ft)\n" +
	"2022 | Coot | Ann Lee | Ireland | Sloop (old) | 41 | 10.0 m (33 ft)\n" +
	"2023 | Swan | Di Marsh | Northern Ireland | Yawl | 7 | 14.4 m (47 ft)"

// A question becomes a query only if each of its words has a role. Otherwise the query would lack a condition.
func TestQuestionsBecomeTableQueries(t *testing.T) {
	for _, tt := range []struct{ question, want string }{
		// positions
		{"Which boat came after the Otter?",
			`{"position":"next","where":[{"column":"Boat","op":"=","value":"Otter"}]}`},
		{"What was the next boat after Grebe?",
			`{"position":"next","where":[{"column":"Boat","op":"=","value":"Grebe"}]}`},
		{"Who is listed above Bo Dahl?",
			`{"position":"previous","where":[{"column":"Helm","op":"=","value":"Bo Dahl"}]}`},
		{"What is the last boat on the list?", `{"limit":1,"position":"last"}`},
		{"What are the top three boats?", `{"limit":3,"position":"first"}`},
		{"Who was the first helm of Ireland?",
			`{"limit":1,"position":"first","where":[{"column":"Country","op":"=","value":"Ireland"}]}`},
		{"Which boat came after the Swan?", ""},    // it is the last one
		{"Which boat came after the Pelican?", ""}, // it is not in the table
		// extremes
		{"Which boat has the most points?",
			`{"order_by":[{"column":"Points","descending":true}],"position":"first"}`},
		{"Which boat has the least length?",
			`{"order_by":[{"column":"Length","descending":false}],"position":"first"}`},
		{"Which boat had more points, Otter or Grebe?", `{"order_by":[{"column":"Points","descending":true}],` +
			`"position":"first","where":[{"column":"Boat","op":"in","value":["Otter","Grebe"]}]}`},
		{"Which helm sailed the most regattas?", `{"compute":[{"function":"count"}],"group_by":["Helm"],"limit":1,` +
			`"order_by":[{"column":"count","descending":true}]}`},
		{"Which boat won the most medals?", ""},        // there are no medals
		{"Which boat has the largest sail?", ""},       // nor sails
		{"Which boats have the same points?", ""},      // no operator compares all rows
		{"Did the Otter have more points?", ""},        // yes or no
		{"Which boat came after Ann Lee's boat? ", ""}, // she is in two rows
		// differences and totals
		{"What is the difference in points between Otter and Coot?", `{"compute":[{"column":"Points","function":` +
			`"difference"}],"where":[{"column":"Boat","op":"in","value":["Otter","Coot"]}]}`},
		{"How many more points does Coot have than Otter?", `{"compute":[{"column":"Points","function":` +
			`"difference"}],"where":[{"column":"Boat","op":"in","value":["Coot","Otter"]}]}`},
		{"How many points did Ann Lee score?",
			`{"compute":[{"column":"Points","function":"sum"}],"where":[{"column":"Helm","op":"=",` +
				`"value":"Ann Lee"}]}`},
		// counts
		{"How many boats have at least 20 points?",
			`{"compute":[{"column":"Boat","function":"distinct"}],"where":[{"column":"Points","op":"≥",` +
				`"value":"20"}]}`},
		{"How many boats are there?", `{"compute":[{"column":"Boat","function":"distinct"}]}`},
		{"How many boats were there before 2021?",
			`{"compute":[{"column":"Boat","function":"distinct"}],"where":[{"column":"Year","op":"<",` +
				`"value":"2021"}]}`},
		{"How many boats are a Sloop?", `{"compute":[{"column":"Boat","function":"distinct"}],"where":[{"column":` +
			`"Class","op":"in","value":["Sloop","Sloop (old)"]}]}`},
		{"How many boats are from Ireland?", ""},      // or from Northern Ireland as well
		{"How many boats are not insured?", ""},       // nothing is known of insurance
		{"How many boats of Norway were sold?", ""},   // nor of sales
		{"How many boats had 20 points in 2025?", ""}, // nor of 2025
		// rows
		{"Which boat did Bo Dahl sail in 2020?", `{"limit":10,"where":[{"column":"Helm","op":"=","value":"Bo Dahl"},` +
			`{"column":"Year","op":"=","value":"2020"}]}`},
		{"What salary does Bo Dahl get?", ""},
		{"Which boat did Bo Dahl sail in Oslo?", ""},
	} {
		got := ""
		if p, ok := planOf(tt.question, sheetOfText(regattas)); ok {
			input := p.call("", "").input
			delete(input, "document")
			got = string(step{input: input}.arguments())
		}
		got = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.question, got, tt.want)
		}
	}
}

// Rows in descending order of days have the later one above.
func TestOrderOfDaysGivesNextRow(t *testing.T) {
	const events = "Date | Event | Place\n4 May 2023 | Fair | Bern\n" +
		"2 June 2022 | Race | Oslo\n9 July 2021 | Ball | Rome"
	for question, want := range map[string]string{
		"Which event came after the Race?":      "previous",
		"Which event is listed after the Race?": "next",
		"What was the first event?":             "last",
	} {
		p, ok := planOf(question, sheetOfText(events))
		if !ok || p.position != want {
			t.Errorf("%s: %q, %v, want %q", question, p.position, ok, want)
		}
	}
}

// A row answers a question that names one of its cells, and the column of another if there are more than two, and
// that asks for the kind of the other.
func TestNamedRowAnswers(t *testing.T) {
	people := tableOf("people.csv", "", "name | city", "Béla | Győr", "Anna | Budapest", "Chloé | Lyon")
	facts := tableOf("facts.csv", "", "Figure | Value", "Employees | 47", "Trucks | 12", "Floor area | 3400 m2",
		"Founded | 1987")
	flat := tableOf("flat.csv", "", "Landlord | Harrow Housing Trust", "Tenant | Jonas Weber", "Notice | 3 months")
	sites := tableOf("sites.csv", "", "Site | Beds | Rooms", "Harbour | 40 | 21", "Mill | 12 | 8", "Hill | 30 | 16")
	for _, tt := range []struct {
		question string
		library  []paper
		said     finding
		row      string
	}{
		{"What is the number of employees?", facts, answers, "| Employees | 47 [1] |"},
		{"What is the number of beds at Mill?", sites, answers, "| Mill | 12 | 8 [1] |"},
		{"How many rooms does Hill have?", sites, answers, "| Hill | 30 | 16 [1] |"},
		{"How many beds and rooms are at Mill?", sites, answers, "| Mill | 12 | 8 [1] |"},
		{"How many at Mill?", sites, closest, "| Mill | 12 | 8 [1] |"}, // beds or rooms
		{"How many staff are at Mill?", sites, closest, "| Mill | 12 | 8 [1] |"},
		{"How many beds were sold at Mill?", sites, closest, "| Mill | 12 | 8 [1] |"},
		{"What is the number of the landlord?", flat, closest, "Landlord | Harrow Housing Trust [1]"},
		{"Where does Béla live?", people, answers, "| Béla | Győr [1] |"},
		{"What is the city of Anna?", people, answers, "| Anna | Budapest [1] |"},
		{"Wo wohnt Chloé?", people, answers, "| Chloé | Lyon [1] |"},
		{"When was Béla born?", people, closest, "| Béla | Győr [1] |"},
		{"What does Béla earn?", people, closest, "| Béla | Győr [1] |"},
		{"How many employees are there?", facts, answers, "| Employees | 47 [1] |"},
		{"How many trucks are there?", facts, answers, "| Trucks | 12 [1] |"},
		{"What is the floor area?", facts, answers, "| Floor area | 3400 m2 [1] |"},
		{"Who is the landlord?", flat, answers, "Landlord | Harrow Housing Trust [1]"},
		{"How long is the notice?", flat, answers, "| Notice | 3 months [1] |"},
	} {
		got, _ := askIn(t, tt.library, tt.question)
		if said, quotes, _ := strings.Cut(got, "\n\n"); said != string(tt.said) || !strings.HasSuffix(quotes, tt.row) {
			t.Errorf("%s: %q\n%s\nwant %q and the row\n%s", tt.question, said, quotes, tt.said, tt.row)
		}
	}
}
