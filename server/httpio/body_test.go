package httpio

import "testing"

func TestWholeNumbersMayHaveAPoint(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":5.0,"b":[-2e1,1.50,0.0]}`:   `{"a":5,"b":[-20,1.50,0]}`,
		`{"a":"5.0 \" 6.0","b":"\\"}`:     `{"a":"5.0 \" 6.0","b":"\\"}`,
		`{"a":1e400,"b":1.0e30,"c":1.}`:   `{"a":1e400,"b":1.0e30,"c":1.}`,
		`5.0`:                             `5`,
		`"never closed 5.0`:               `"never closed 5.0`,
		`"\`:                              `"\`,
		``:                                ``,
		`{"seed":9007199254740993,"x":-}`: `{"seed":9007199254740993,"x":-}`,
	} {
		if got := string(plainNumbers([]byte(in))); got != want {
			t.Errorf("plainNumbers(%s) = %s, want %s", in, got, want)
		}
	}
}
