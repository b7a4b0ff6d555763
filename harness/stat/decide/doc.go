// Package decide turns metrics into a decision: GO, NO-GO, INCONCLUSIVE or INVALID (metrics
// page, section 3), with how many more queries would settle it and how many wrong labels it
// survives.
package decide
