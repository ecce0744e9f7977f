// main_test.go
package main

import _ "github.com/kerngen/kerngen/runtime/sim" // what KERNGEN_DEVICE=sim opens

func Example() {
	main()
	// Output: [10.5 21 3150 4200] [7381.5]
}
