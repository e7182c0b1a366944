package text

import "testing"

func TestIdentifiersAreNoSums(t *testing.T) {
	for _, s := range []string{
		"978-3-16-148410-0", "4711-0815", "030 555-0134", "(030) 555-0134", "+49 30 5550134", "+49 (0)30/555-01",
		"9/11",
		"24/7", "3/4/2026", "2026-03-12", "12-2041/7", "555 - 0134", "0711 / 123456", "192.168.0.1/24", "12.03.-14.03.",
		"What is 10-3?",
	} {
		if AsksSum(s) {
			t.Errorf("%q is a sum, want an identifier", s)
		}
	}
	for _, s := range []string{
		"3+4", "12.5 * (3 + 4)", "120 / 8", "12 - 5", "(12 - 5) / 2", "6÷2", "2^10", "10 % 3", "9/11 =",
		"Calculate 978-3-16", "how much is 9/11?", "1,250.50 - 300",
	} {
		if !AsksSum(s) {
			t.Errorf("%q is an identifier, want a sum", s)
		}
	}
}
