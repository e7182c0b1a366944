package views

import "testing"

func TestAmountsOfAnAskedTableAreSetAtTheRight(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"12": true, "1.234,50 €": true, "-3": true, "(1,200.50)": true, "CHF 5": true, "25 %": true, "1'234.50": true,
		"INV-4": false, "2026-04-15": false, "12.03.2026": false, "12 Mill Lane": false, "Harrow": false, "": false,
	} {
		if got := isAmount(cell); got != want {
			t.Errorf("%q is an amount: %v, want %v", cell, got, want)
		}
	}
}
