package calc

import "strings"

// spoken are the words with which a sentence says what an operator or a function does. Signs that are not in it are
// said as they are written.
var spoken = map[string]string{
	"+": "plus add sum Summe somme suma",
	"-": "minus subtract difference less increase rise growth decrease fall drop remain left " +
		"Differenz Anstieg Zunahme Rückgang Abnahme Rest différence augmentation hausse diminution baisse reste " +
		"diferencia aumento subida disminución descenso resto",
	"*": "times multiply product",
	"/": "divide over quotient", "//": "divide quotient whole", "^": "power raise square cube",
	"%": "percent remainder modulo", "of": "percent", "sqrt": "square root", "√": "square root", "round": "round",
}

// SpokenOperators returns the words for the operators of an expression, for sentences that tell the calculation in
// words: "12 times 4". What can't be read has none. The order is that of the expression.
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
