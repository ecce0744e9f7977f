package exec

// splitBlocks cuts the list of instructions into blocks and finds where diverging lanes meet again.
func splitBlocks(insts []inst) ([]block, error) {
	leader := make([]bool, len(insts)+1)
	leader[0] = true
	for i := range insts {
		switch {
		case insts[i].Op == "bra":
			leader[insts[i].jump], leader[i+1] = true, true
		case insts[i].Op == "exit":
			leader[i+1] = true
		case suspends(insts[i].Op): // a block of its own, which can be entered again
			leader[i], leader[i+1] = true, true
		}
	}
	index := make([]int, len(insts)+1) // of the block that begins at an instruction
	var starts []int
	for i := range insts {
		if leader[i] {
			index[i] = len(starts)
			starts = append(starts, i)
		}
	}
	// Running off the end is an exit: a block of its own.
	index[len(insts)] = len(starts)
	starts = append(starts, len(insts))

	blocks := make([]block, len(starts))
	for n := range blocks {
		b := &blocks[n]
		b.first, b.guard, b.next, b.join = starts[n], -1, n+1, -1
		if n == len(blocks)-1 {
			b.end, b.next = endExit, n
			continue
		}
		last := &insts[starts[n+1]-1]
		switch last.Op {
		case "bra":
			b.end, b.guard, b.not, b.target = endJump, last.guard, last.not, index[last.jump]
		case "exit":
			b.end, b.guard, b.not = endExit, last.guard, last.not
		}
	}
	setJoins(blocks)
	return blocks, nil
}

// suspends says whether a warp may have to wait after an instruction.
func suspends(op string) bool { return op == "bar" || op == "barrier" }

// successors gives the blocks that may follow; len(blocks) stands for the end.
func successors(blocks []block, n int) []int {
	b := &blocks[n]
	switch {
	case b.end == endNext:
		return []int{b.next}
	case b.end == endJump && b.guard < 0:
		return []int{b.target}
	case b.end == endJump:
		return []int{b.target, b.next}
	case b.guard < 0:
		return []int{len(blocks)}
	}
	return []int{b.next, len(blocks)}
}

// setJoins sets each block's immediate post-dominator: its immediate dominator in the reversed graph, found by iterating to a fixed point.
func setJoins(blocks []block) {
	end := len(blocks)
	before := make([][]int, end+1)
	for n := range blocks {
		for _, s := range successors(blocks, n) {
			before[s] = append(before[s], n)
		}
	}
	// Number the blocks that reach the end in post-order of a walk from it.
	number := make([]int, end+1)
	for i := range number {
		number[i] = -1
	}
	var order []int
	type visit struct{ node, edge int }
	stack := []visit{{end, 0}}
	seen := make([]bool, end+1)
	seen[end] = true
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		if v.edge < len(before[v.node]) {
			p := before[v.node][v.edge]
			v.edge++
			if !seen[p] {
				seen[p] = true
				stack = append(stack, visit{p, 0})
			}
			continue
		}
		number[v.node] = len(order)
		order = append(order, v.node)
		stack = stack[:len(stack)-1]
	}
	idom := make([]int, end+1)
	for i := range idom {
		idom[i] = -1
	}
	idom[end] = end
	for changed := true; changed; {
		changed = false
		for i := len(order) - 2; i >= 0; i-- {
			n := order[i]
			d := -1
			for _, s := range successors(blocks, n) {
				if idom[s] < 0 {
					continue
				}
				if d < 0 {
					d = s
					continue
				}
				for a := s; a != d; {
					for number[a] < number[d] {
						a = idom[a]
					}
					for number[d] < number[a] {
						d = idom[d]
					}
				}
			}
			if d >= 0 && idom[n] != d {
				idom[n], changed = d, true
			}
		}
	}
	for n := range blocks {
		if j := idom[n]; j >= 0 && j < end {
			blocks[n].join = j
		}
	}
}
