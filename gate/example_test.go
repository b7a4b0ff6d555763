package gate_test

import (
	"fmt"

	"github.com/poimen-memory/mem/gate"
)

func ExampleParse() {
	d, err := gate.Parse(`The port is named here.</think>
<check>yes</check>
<update> Redis listens on 6380. </update>
<next>end</next>`)
	fmt.Printf("%v: update %v %q, exit %v\n", err, d.Update, d.Candidate, d.Exit)

	_, err = gate.Parse("Redis listens on 6380.")
	fmt.Println(err)
	// Output:
	// <nil>: update true "Redis listens on 6380.", exit true
	// byte 22: want <check>yes</check> or <check>no</check>, found end of reply
}
