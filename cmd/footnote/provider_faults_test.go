package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// providerFaults maps each known fault of model providers to the tests that replay it: a package and a text in its
// tests.
var providerFaults = []struct {
	fault string
	tests []string
}{
	{"1: a clean end before any finish",
		[]string{
			"agent/llm/openai: row 1:", "agent/llm/anthropic: an early end", "agent: after text was shown",
			"agent: 1: a clean end before anything is tried again",
		}},
	{"2: an end inside an event",
		[]string{"agent/llm/openai: row 2:", "agent/llm/anthropic: an end inside an event",
			"agent: 2: an end inside an event"}},
	{"3: a reset in the middle",
		[]string{"agent/llm/openai: row 3:", "agent/llm/anthropic: a broken connection",
			"agent: 3: a reset in the middle"}},
	{"4: no [DONE], bytes after it",
		[]string{"agent/llm/openai: row 4:", "agent/llm/anthropic: the end without its mark", "agent: 4: no [DONE]"}},
	{"5: a finish that is null or empty", []string{"agent/llm/openai: row 5:", "agent: 5: a finish that is empty"}},
	{
		"6: silence", []string{
			"agent/llm/openai: TestSilentServerTimesOut", "agent/llm/openai: TestKeepalivesDoNotPreventTimeout",
			"agent/llm/anthropic: TestSilentServerTimesOut", "agent: 6: silence after text was shown",
		},
	},
	{
		"7: comments", []string{
			"agent/llm/openai: row 7:", "agent/llm/anthropic: comments and pings",
			"agent: 7, 8, 9, 12: comments, odd keepalives, CRLF and a byte order mark",
		},
	},
	{"8: odd keepalives",
		[]string{"agent/llm/openai: row 8:",
			"agent: 7, 8, 9, 12: comments, odd keepalives, CRLF and a byte order mark"}},
	{
		"9: line ends", []string{
			"agent/llm/openai: row 9:", "agent: 7, 8, 9, 12: comments, odd keepalives, CRLF and a byte order mark",
		},
	},
	{"10: data without a space, of many lines", []string{"agent/llm/openai: row 10:",
		"agent: 10: data without a space"}},
	{"11: split runes", []string{"agent/llm/openai: row 11:", "agent: 11: a rune split over two chunks"}},
	{"12: a byte order mark",
		[]string{"agent/llm/openai: row 12:",
			"agent: 7, 8, 9, 12: comments, odd keepalives, CRLF and a byte order mark"}},
	{"13: an endless line", []string{"agent/llm/openai: TestEventOverLimitIsRejected",
		"agent: 13: an endless line"}},
	{"14: an error in the stream",
		[]string{"agent/llm/openai: row 14:", "agent/llm/anthropic: an error in the stream",
			"cmd/footnote: an error in the stream",
			"agent: 14: an error in the stream, then none"}},
	{"15: errors in other forms", []string{"agent/llm/openai: row 15:", "agent: 15: vLLM's error object"}},
	{"16: a null error", []string{"agent/llm/openai: row 16:", "agent: 16: a null error"}},
	{"17: a page instead of a stream",
		[]string{
			"agent/llm/openai: row 17:", "agent/llm/openai: a page instead of a stream is final",
			"cmd/footnote: a page of HTML",
			"agent: 17: a page of HTML",
		}},
	{"18: a chunk without choices", []string{"agent/llm/openai: row 18:", "agent: 18: a chunk without choices"}},
	{"19: odd values", []string{"agent/llm/openai: row 19:", "agent: 19: odd values"}},
	{"20: usage in odd places", []string{"agent/llm/openai: row 20:", "agent: 20: a usage-only chunk"}},
	{"21: stream_options refused",
		[]string{"agent/llm/openai: TestRefusedFieldsAreRemembered", "agent: 21: stream_options refused"}},
	{"22: calls without index", []string{"agent/llm/openai: row 22:", "agent: 22, 27: a call without index and id"}},
	{"23: index 0 for every call", []string{"agent/llm/openai: row 23:", "agent: 23: index 0 for both calls"}},
	{"24: a continuation elsewhere", []string{"agent/llm/openai: row 24:",
		"agent: 24: a continuation on another index"}},
	{"25: wild indexes", []string{"agent/llm/openai: row 25:", "agent: 25: a wild index"}},
	{"26: the id repeated", []string{"agent/llm/openai: row 26:", "agent: 26, 28: id and name in each chunk"}},
	{"27: ids missing or equal", []string{"agent/llm/openai: row 27:", "agent: 22, 27: a call without index and id"}},
	{"28: the name repeated", []string{"agent/llm/openai: row 28:", "agent: 26, 28: id and name in each chunk"}},
	{"29: arguments sent again", []string{"agent/llm/openai: row 29:", "agent: 29: the arguments sent again"}},
	{"30: empty arguments",
		[]string{"agent/llm/openai: row 30:", "agent/llm/anthropic: a call without arguments",
			"agent: 30: empty arguments"}},
	{"31: malformed arguments",
		[]string{
			"agent/llm/openai: row 31:", "agent: malformed arguments", "agent: third repetition",
			"agent: 31: malformed arguments",
		}},
	{"32: arguments that are no object", []string{"agent/llm/openai: row 32:", "agent: 32: arguments in a string"}},
	{"33: arguments that do not fit",
		[]string{
			"agent: an argument of the wrong kind", "agent: a missing argument", "agent: an unknown argument",
			"agent: 33: an argument of the wrong kind",
		}},
	{
		"34: cut calls",
		[]string{
			"agent/llm/openai: row 34:", "agent: TestTruncatedTurnsRunNoCalls", "agent/llm/anthropic: a cut call",
			"agent: 34: cut calls",
		},
	},
	{"35: calls with finish stop", []string{"agent/llm/openai: row 35:", "agent: 35: calls with finish stop"}},
	{"36: a filter, a refusal",
		[]string{
			"agent/llm/openai: row 36:", "agent: TestProviderRefusalIsNotAnswer", "agent/llm/anthropic: a refusal",
			"agent: 36: a filter",
		}},
	{"37: an unknown tool",
		[]string{"agent/llm/openai: row 37:", "agent: an unknown tool", "agent: 37: a name with a channel"}},
	{"38: calls as text",
		[]string{
			"agent/llm/textcalls: TestTextCallsAreParsed", "cmd/footnote: TestModelWithoutToolCallsAnswers",
			"agent: 38: a call as text",
		}},
	{"39: a call its server could not read",
		[]string{
			"agent/llm/openai: row 39:", "agent: TestUnparsableCallIsRetriedWithError",
			"agent: 39: a call that its server could not read",
		}},
	{"40: reasoning that must go back, or must not",
		[]string{
			"agent/llm/openai: TestReasoningIsReturnedWhenRequired", "agent/llm/anthropic: TestRequestIsComplete",
			"agent: 40: reasoning that must go back",
		}},
	{"41: reasoning alone", []string{"agent/llm/openai: row 41:", "agent: 41: reasoning alone"}},
	{"42: an empty reply",
		[]string{
			"agent/llm/openai: row 42:", "agent: by saying nothing twice", "cmd/footnote: nothing at all",
			"agent: 42: an empty answer",
		}},
	{"43: a history with orphans", []string{"agent/llm/openai: TestRepairsHistory",
		"agent: 43: a history with orphans"}},
	{"44: Retry-After in all forms",
		[]string{
			"agent/llm/httpllm: TestRetryAfterFormats", "agent/run: TestRateLimitWaitIsVisible",
			"agent: 44: a limit, then none",
		}},
	{"45: a spent quota",
		[]string{"agent/llm/openai: a spent quota is final", "cmd/footnote: a spent quota",
			"agent: 45: a spent quota"}},
	{"46: a burst of failures",
		[]string{
			"agent/llm/httpllm: TestFailureIsTriedThreeTimes",
			"agent/llm/httpllm: TestCircuitBreakerOpensForDeadServer",
			"agent: 46: a failed server, then none",
		}},
	{"47: a context that is too long",
		[]string{
			"agent/llm/httpllm: TestContextOverflowIsDetectedByMessage", "agent: TestLongHistoryIsShortenedOnce",
			"agent: 47: a context that is too long",
		}},
	{"48: a prompt dropped silently",
		[]string{"agent: TestDroppedPromptIsDetected", "agent: 48: a prompt that was dropped silently"}},
	{"49: a server that fails to parse a call",
		[]string{
			"agent/llm/httpllm: Failed to parse input", "agent: TestUnparsableCallIsRetriedWithError",
			"agent: 49: a server that fails",
		}},
	{"50: the same call again and again",
		[]string{
			"agent: TestRepeatedCallIsCachedThenRefused", "agent: TestExhaustedBudgetForcesAnswer",
			"agent: 50: the same call again and again",
		}},
}

func TestEveryProviderFaultHasTest(t *testing.T) {
	if len(providerFaults) != 50 {
		t.Fatalf("%d faults, want 50 provider faults", len(providerFaults))
	}
	texts := map[string]string{}
	for _, row := range providerFaults {
		for _, test := range row.tests {
			dir, name, _ := strings.Cut(test, ": ")
			if texts[dir] == "" {
				files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					if filepath.Base(file) == "provider_faults_test.go" {
						continue
					}
					raw, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					texts[dir] += string(raw)
				}
			}
			if !strings.Contains(texts[dir], name) {
				t.Errorf("fault %s: no test in %s has %q", row.fault, dir, name)
			}
		}
	}
}
