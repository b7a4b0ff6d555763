package main

import "github.com/spf13/cobra"

// byFlag is tags of queries that numbers are shown by.
func byFlag(cmd *cobra.Command, tags *[]string) {
	cmd.Flags().StringArrayVar(tags, "by", nil, "show gates by the values of this `TAG` of the queries too (may be repeated)")
}
