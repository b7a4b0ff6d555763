// Package run takes planned runs through the loop and leaves a record of each: its event log
// and its call journal, whatever happens. It judges nothing and counts nothing that the record
// does not hold.
//
// Runs of one live model go on as wide as its connections allow, all others as wide as
// Config.Parallel says; the records do not depend on either. Models come from Config.Models:
// run knows no concrete model.
package run
