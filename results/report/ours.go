package report

import "regexp"

// OursHead is how much of a file's beginning Ours wants to see, in bytes.
const OursHead = 4096

// ours is how each of the forms begins, whatever is reported.
var ours = regexp.MustCompile(`^(?:` +
	`(?:KEPT|BROKEN|INCONCLUSIVE)  ` + // text
	`|\{\s*"version": \d+,\s*"(?:verdict|exit_code)":` + // JSON
	`|(?s:<!DOCTYPE html>.*?<title>(?:KEPT|BROKEN|INCONCLUSIVE): )` +
	`|<\?xml [^>]*>\s*<testsuites name="hammer"` +
	`|TAP version 14\r?\n1\.\.\d+\r?\n# (?:KEPT|BROKEN|INCONCLUSIVE): ` +
	`|## \S+ (?:KEPT|BROKEN|INCONCLUSIVE): ` + // Markdown
	`|::\w+ title=Rate limit ` + // GitHub's commands
	`)`)

// Ours reports whether a file that begins like this is a report of hammer's, in any of
// its forms, so that it may be written anew.
func Ours(head []byte) bool { return ours.Match(head) }
