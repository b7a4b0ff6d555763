// Package render shows a [result.Result]: on a terminal, as JSON, Markdown, JUnit XML and
// GitHub annotations; its package page shows it as HTML. It judges nothing and measures
// nothing but the width of text. What it writes depends on its arguments alone: no clock,
// no locale, no map order.
//
// Texts of models, corpora and specs are hostile. Every writer escapes them for its own
// format. No control, bidirectional or invisible character reaches any format but JSON,
// which keeps texts as they are.
package render
