package calc

import "strings"

// spoken maps operators and functions to the words that sentences use for them. Signs that are not in it are written
// as they are.
var spoken = map[string]string{
	"+": "plus add sum Summe somme suma",
	"-": "minus subtract difference less increase rise growth decrease fall drop remain left " +
		"Differenz Anstieg Zunahme Rückgang Abnahme Rest différence augmentation hausse diminution baisse reste " +
		"diferencia aumento subida disminución descenso resto",
	"*": "times multiply product",
	"/": "divide over quotient", "//": "divide quotient whole", "^": "power raise square cube",
	"%": "percent remainder modulo", "of": "percent", "sqrt": "square root", "√": "square root", "round": "round",
}

// SpokenOperators returns the words for the operators of an expression, for sentences such as "12 times 4". The
// order is that of the expression. Tokens after a parse error are ignored.
func SpokenOperators(expression string) string {
	p := parser{in: expression}
	var words []string
	for p.nextToken(); p.kind != tokenEnd && p.kind != tokenBad; p.nextToken() {
		if said, ok := spoken[p.text]; ok && p.kind != tokenNumber {
			words = append(words, said)
		}
	}
	return strings.Join(words, " ")
}
