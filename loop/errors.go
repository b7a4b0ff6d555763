package loop

import "errors"

// Errors of models and of what stands between them and the loop may be one of these kinds,
// which decide what becomes of the run. An error is of a kind if it, or one that it wraps, has
// the method and the method returns true.
type (
	// Misconfigured is the kind of errors that no further call would remove: a script without an
	// entry for the turn, a recording of another prompt.
	Misconfigured interface {
		error
		Misconfigured() bool
	}
	// ContextLength is the kind of a server's refusal of a prompt that is too long for its model.
	ContextLength interface {
		error
		ContextLength() bool
	}
	// NotSent is the kind of errors that came before the call: nothing was sent or paid for.
	NotSent interface {
		error
		NotSent() bool
	}
)

// IsMisconfigured reports whether err is of the kind Misconfigured.
func IsMisconfigured(err error) bool {
	e, ok := errors.AsType[Misconfigured](err)
	return ok && e.Misconfigured()
}

// IsContextLength reports whether err is of the kind ContextLength.
func IsContextLength(err error) bool {
	e, ok := errors.AsType[ContextLength](err)
	return ok && e.ContextLength()
}

// IsNotSent reports whether err is of the kind NotSent.
func IsNotSent(err error) bool {
	e, ok := errors.AsType[NotSent](err)
	return ok && e.NotSent()
}
