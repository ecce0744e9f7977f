package cuda

// PlanSpec is what a Plan is made of.
type PlanSpec struct {
	Context     Context
	Function    Function
	Threads     int    // per CTA
	Shared      int    // dynamic shared memory per CTA, bytes
	Cluster     [3]int // CTAs; {1, 1, 1}: no cluster
	Cooperative bool
	PDL         bool
	Scratch     bool      // needs scratch memory: refused while the stream is captured
	Hidden      int       // scratch pointers after the arguments
	Offsets     []uintptr // in the args struct, of each parameter before those
	Maps        []MapSpec // those of the parameters that are tensor maps
	Names       []string  // of the arguments that those parameters are, for messages
}
