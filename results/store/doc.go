// Package store keeps a run in a folder and reads it back: what the recorder
// hands over while hammer fires, and what a judge gets when the run is judged
// again offline.
//
//	manifest.json                   what was promised and fired; written first, rewritten at the end
//	timeline/part-000001.parquet    the hits, in parts that are closed every second
//	marks.jsonl                     one results.Mark a line
//	verdict.json                    the conclusion, when there is one
//
// A part is written under another name, synced and renamed, so a file called
// part-*.parquet is whole: DuckDB, pandas and Polars open timeline/*.parquet
// even while the run goes on. A run that was killed keeps every closed part.
//
// What a folder no longer holds is named with the span of time that it leaves
// open, and never passed over: a lost admission makes a rightful refusal look
// false.
package store
