package prompt

// ExportedSlack is slack, for tests.
const ExportedSlack = slack
