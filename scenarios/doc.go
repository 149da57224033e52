// Package scenarios says what a rate limiter promises and what is fired at it:
// Limit, Rate, Phase and Scenario, and the Plan of single shots that follows
// from a Scenario and its seed, with the Attacks that go on as answers direct.
// It stands at the start of the flow, is pure, and depends on nothing else in
// this module.
package scenarios
