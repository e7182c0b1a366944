package support_test

import (
	"testing"

	"github.com/footnote/footnote/corpus/support"
)

// hours is about the days of a small museum.
const hours = `The museum is open on Mondays. The shop opened in May and closed in June. Ticket prices increased in ` +
	`spring. The minimum stay is two nights.
Dogs are allowed in the garden. The lease begins on 1 May 2024. The rent is due on the first working day of each ` +
	`month. Take the pills before meals.
Logging is enabled by default. Breakfast is included in the price. The committee accepted the plan of the architect. ` +
	`The lamp passed the test of the insurer.
The tower is higher than the church. The tap water is cold at night. The cellar is dry. High moisture readings were ` +
	`found in the kitchen wall.
The survey was made before the sale. The café is not open on Sundays. Visitors may enter the hall, except the upper ` +
	`gallery, which is closed in winter.
The north slope has few slates. The key must be removed before the cover is opened. The archive holds at least 300 ` +
	`letters. Bicycles are forbidden in the yard.
The pump costs more than the filter. If it rains, the terrace is closed at noon. The tram stops before the bridge. ` +
	`The hall holds more chairs than tables.
The library closes at six, and the reading room opens at ten. Is the pool open in August? The gate is locked at ` +
	`night. The door is shut at eight in summer.
Wasser wird vor dem Essen gereicht. Das Bad ist am Montag geschlossen. Rauchen ist im Treppenhaus verboten. The lift ` +
	`is out of order in the left wing.
The discount applies only after the third order. A lower limit applies to small flats. The upper limit of the loan ` +
	`is 900.`

func TestOppositesContradict(t *testing.T) {
	for _, claim := range []string{
		"The museum is closed on Mondays.",
		"Ticket prices decreased in spring.",
		"Ticket prices fell in spring.",
		"The maximum stay is two nights.",
		"Dogs are forbidden in the garden.",
		"The lease ends on 1 May 2024.",
		"The rent is due on the last working day of each month.",
		"Take the pills after meals.",
		"Logging is disabled by default.",
		"Breakfast is excluded in the price.",
		"The committee rejected the plan of the architect.",
		"The lamp failed the test of the insurer.",
		"The tower is lower than the church.",
		"The tap water is hot at night.",
		"Low moisture readings were found in the kitchen wall.",
		"The survey was made after the sale.",
		"The archive holds at most 300 letters.",
		"Bicycles are permitted in the yard.",
		"The pump costs less than the filter.",
		"The library opens at six.",
		"Rauchen ist im Treppenhaus erlaubt.",
		"The gate is unlocked at night.",
		"The south slope has few slates.",
		"The lower limit of the loan is 900.",
		"The terrace is open at noon.",
		"The pool is closed in August.", // whether it is open is only asked
	} {
		if support.Supports(claim, hours) {
			t.Errorf("%q is supported", claim)
		}
	}
	for _, claim := range []string{
		"The museum is open on Mondays.",
		"On Mondays the museum opens.",
		"The shop closed in June.",
		"The shop opened in May.",
		"The shop was open in May and closed in June.",
		"Ticket prices rose in spring.",
		"Dogs are permitted in the garden.",
		"The lease starts on 1 May 2024.",
		"The lease began on 1 May 2024.",
		"The rent is due on the first day.",
		"The pills are taken before meals.",
		"The upper gallery is closed in winter.",
		"The reading room opens at ten.",
		"The library closes at six.",
		"The pool is open in August.",
		"The door is shut at eight in summer.",
		"The discount applies after the third order.",
		"Das Bad ist am Montag geschlossen.",
		"Rauchen ist im Treppenhaus untersagt.",
		"A lower limit applies.",
		"Bicycles are prohibited in the yard.",
	} {
		if !support.Supports(claim, hours) {
			t.Errorf("%q is not supported", claim)
		}
	}
}

// What says the same with an opposite, from the other side or with a word more is not told from what says something
// else.
func TestWhatWordsCannotDecideIsNotSupported(t *testing.T) {
	for _, claim := range []string{
		"The minimum stay is two nights for all.",
		"The sale was after the survey.",
		"The sale came after the survey was made.",
		"The church is lower than the tower.",
		"The filter costs less than the pump.",
		"The café is closed on Sundays.",
		"The museum is not closed on Mondays.",
		"The cover is opened after the key is removed.",
		"The hall holds fewer tables than chairs.",
		"The discount does not apply before the third order.",
		"The lift is closed.",
	} {
		j := support.NewJudge()
		if !j.Resembles(claim, "", hours) || j.Backed(claim, "", hours) {
			t.Errorf("%q: resembles %v, backed %v, want true, false", claim, j.Resembles(claim, "", hours),
				j.Backed(claim, "", hours))
		}
	}
}

func BenchmarkBacked(b *testing.B) {
	for b.Loop() {
		j := support.NewJudge()
		for _, claim := range []string{
			"The museum opens on Mondays, and its shop did so in May.", "Two nights are the least that guests stay.",
			"The lease runs from 1 May 2024.",
			"The kitchen wall had high moisture readings.", "Pills are to be taken before meals.",
			"Nobody may bring a bicycle into the yard.",
		} {
			j.Backed(claim, "The museum", hours, survey)
		}
	}
}

// Claims and passages without words that have opposites are the usual ones.
func BenchmarkBackedPlainly(b *testing.B) {
	for b.Loop() {
		j := support.NewJudge()
		for _, claim := range []string{
			"The flashing around the chimney is cracked.", "Mr Miller of Acme Roofing looked at the slates.",
			"The estimate of the repair is $1,250.",
		} {
			j.Backed(claim, "The house", survey)
		}
	}
}
