package text

import "github.com/footnote/footnote/text/lazy"

// OwnText matches an instruction to edit a text that is included: after “this” or “the following” any text,
// directly after the instruction whole sentences. It needs no search.
var OwnText = lazy.Regexp(`(?is)^\s*(?:please |can you |could you ` +
	`)*(?:translate|rewrite|rephrase|paraphrase|shorten|simplify|summari[sz]e|expand|reformat|proofread|correct)` +
	`(?:\s+(?:this|(?:the ` +
	`)?following)(?:\s+(?:text|sentence|paragraph|passage|message|e-?mail|letter|note))?(?:\s+(?:into|to|in|for|` +
	`as)\s+[\w ]{1,30})?\s*[:\n]\s*\S.{15,}` +
	`|(?:\s+(?:into|to|in|for|as)\s+[\w ]{1,30})?\s*:\s*(?:\S+\s+){7,}\S+[.!]["”’)]*\s*$)`)

// Further matches a question that only requests more on the subject of the last answer. It has English and German
// forms. Questions in other languages are searched unchanged.
var Further = lazy.Regexp(`(?i)^(?:please |can you |could you |and |ok(?:ay)?,? |yes,? )*(?:` +
	`(?:tell|show|give) me (?:some |any |a (?:bit|little) )?more(?: (?:details?|information|info))?(?: ` +
	`(?:about|on) (?:it|this|that|them|these|those))?|` +
	`(?:is there )?(?:what |any|any |some)?(?:thing )?(?:else|more)(?: (?:details?|information|info))?(?: ` +
	`(?:about|on|to say about) (?:it|this|that|them))?|` +
	`(?:go on|continue|elaborate|expand)(?: on (?:it|this|that))?|explain (?:it |this |that )?(?:further|more|in ` +
	`(?:more )?detail)|` +
	`(?:(?:erzähl|sag)e? mir )?(?:bitte )?mehr(?: (?:dazu|davon|darüber))?|weiter)(?:,? please)?[\s.!?]*$`)
