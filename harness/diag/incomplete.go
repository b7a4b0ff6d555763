package diag

// Incomplete is an error of something outside: a file that cannot be written, a folder that is
// in use. A program ends with exit code 3 for it.
type Incomplete struct{ Err error }

func (e *Incomplete) Error() string { return e.Err.Error() }

func (e *Incomplete) Unwrap() error { return e.Err }
