// Package render shows a harness.Result: on a terminal, as JSON, Markdown, JUnit XML and
// GitHub annotations. It judges nothing and measures nothing but the width of text, and
// what it writes depends on the Result alone: no clock, no locale, no map order.
//
// What comes from models, corpora and specs is hostile. Every writer escapes it for its
// own format, and no control, bidirectional or invisible character reaches any but JSON,
// which keeps texts as they are.
package render
