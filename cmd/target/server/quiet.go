package server

import (
	"log"
	"log/slog"
	"regexp"
	"strings"
)

// quietLog is the log for net/http, which names the address of a client in what
// it says of its mistakes. An address is a key, and keys are not logged.
func quietLog(to *slog.Logger) *log.Logger { return log.New(quiet{to}, "", 0) }

type quiet struct{ to *slog.Logger }

var address = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+(:\d+)?|\[[0-9a-fA-F:.]+(%[^\]\s]*)?\](:\d+)?`)

func (q quiet) Write(line []byte) (int, error) {
	q.to.Warn(address.ReplaceAllString(strings.TrimSuffix(string(line), "\n"), "ADDRESS"))
	return len(line), nil
}
