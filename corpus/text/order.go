package text

import "regexp"

// OwnText finds an order to work on a text that comes with it: after “this” or “the following” any text, right behind
// the order whole sentences. Nothing has to be searched for then.
var OwnText = regexp.MustCompile(`(?is)^\s*(?:please |can you |could you ` +
	`)*(?:translate|rewrite|rephrase|paraphrase|shorten|simplify|summari[sz]e|expand|reformat|proofread|correct)` +
	`(?:\s+(?:this|(?:the ` +
	`)?following)(?:\s+(?:text|sentence|paragraph|passage|message|e-?mail|letter|note))?(?:\s+(?:into|to|in|for|` +
	`as)\s+[\w ]{1,30})?\s*[:\n]\s*\S.{15,}` +
	`|(?:\s+(?:into|to|in|for|as)\s+[\w ]{1,30})?\s*:\s*(?:\S+\s+){7,}\S+[.!]["”’)]*\s*$)`)
