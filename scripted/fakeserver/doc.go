// Package fakeserver is a chat completion server for tests of what talks to one: it answers
// over real HTTP on a loopback address in the wire shapes of vLLM or llama.cpp, and fails in
// the ways that servers, gateways and networks do, when a Plan says so.
//
// It knows nothing of gates: what it says is the test's Reply function. All chance is drawn
// from a seed and the request's own bytes, never from the order of arrival, so that a test
// with parallel calls meets the same faults in each run.
package fakeserver
