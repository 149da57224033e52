package traffic

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// jtlColumns are those of JMeter's results in CSV, with its default settings.
var jtlColumns = []string{"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
	"failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect"}

// WriteJTL writes hits for what reads JMeter's results: times in milliseconds,
// of which timeStamp is the wall clock's when the request was sent, by the run's
// start; label is the phase and threadName the key. Success is an answer that
// admits or refuses: a refusal is no failure of a limiter.
func WriteJTL(w io.Writer, start time.Time, url string, phases []string, hits iter.Seq[results.Hit]) error {
	enc := csv.NewWriter(w)
	if err := enc.Write(jtlColumns); err != nil {
		return err
	}
	ms := func(ns int64) string { return strconv.FormatInt(ns/1e6, 10) }
	for h := range hits {
		label := strconv.Itoa(int(h.Phase))
		if int(h.Phase) < len(phases) {
			label = phases[h.Phase]
		}
		latency := "0"
		if h.Answered() {
			latency = ms(h.First - h.Sent)
		}
		err := enc.Write([]string{strconv.FormatInt(start.Add(time.Duration(h.Sent)).UnixMilli(), 10), ms(h.Done - h.Sent), label,
			strconv.Itoa(int(h.Status)), h.Outcome.String(), h.Key, "text", strconv.FormatBool(h.Outcome == results.Admitted || h.Outcome == results.Limited),
			h.Err, "0", "0", "1", "1", url, latency, "0", "0"})
		if err != nil {
			return err
		}
	}
	enc.Flush()
	return enc.Error()
}
