package exec

// cta is one program of a launch on its way: its warps, which take turns in one goroutine, and the memory they share.
type cta struct {
	program *program
	launch  *launch
	index   Dim
	grid    Dim
	block   Dim
	threads int
	warps   []*warp
	shared  segment
	bars    [16]barrier
	turn    int    // the warp that runs next
	epoch   uint32 // counts barriers
	races   *races // nil where nobody asks
}

// warpBudget is how many instructions a warp executes before the next one has its turn.
const warpBudget = 1 << 12

func newCTA(l *launch) *cta {
	p := l.program
	c := &cta{program: p, launch: l, grid: l.config.Grid, block: l.config.Block, threads: int(l.config.Block.count())}
	bytes := p.sharedBytes + l.config.Shared
	c.shared = segment{base: 0, data: alignedBytes(bytes)}
	if l.device.checked {
		c.shared.written = alignedBytes(bytes)
		c.races = newRaces(bytes)
	}
	for i := range (c.threads + 31) / 32 {
		w := &warp{r32: make([]lanes32, p.r32), r64: make([]lanes64, p.r64), pred: make([]uint32, p.preds), cta: c, index: i}
		w.local.data = alignedBytes(32 * p.localBytes)
		for _, k := range p.const32 {
			fill(&w.r32[k.reg], k.value)
		}
		for _, k := range p.const64 {
			fill(&w.r64[k.reg], k.value)
		}
		c.warps = append(c.warps, w)
	}
	for _, w := range c.warps {
		w.setSpecials()
	}
	return c
}

// begin makes the CTA ready for the program at a linear index, x fastest.
func (c *cta) begin(n uint64) {
	c.index = Dim{uint32(n % uint64(c.grid.X)), uint32(n / uint64(c.grid.X) % uint64(c.grid.Y)), uint32(n / uint64(c.grid.X) / uint64(c.grid.Y))}
	c.turn, c.epoch = 0, 0
	if c.races != nil {
		c.races.reset()
		clear(c.shared.written)
	}
	for i := range c.bars {
		c.bars[i].arrived = 0
	}
	for i, w := range c.warps {
		live := allLanes
		if rest := c.threads - i*32; rest < 32 {
			live = 1<<rest - 1
		}
		w.reset(c, live)
		w.setIndex()
	}
}

// thread is the index of a thread in the CTA, by its linear number.
func (c *cta) thread(n int) Dim {
	x, y := int(c.block.X), int(c.block.Y)
	return Dim{uint32(n % x), uint32(n / x % y), uint32(n / x / y)}
}

// run lets the warps take turns until all have ended (true) or the budget of instructions is spent.
func (c *cta) run(budget int) (done bool, fault *Fault) {
	idle := 0 // warps in a row that could not run
	for {
		if idle == len(c.warps) {
			if c.ended() {
				return true, nil
			}
			if f := c.stuck(); f != nil {
				return false, f
			}
			idle = 0
		}
		if budget < 0 {
			return false, nil
		}
		w := c.warps[c.turn]
		if c.turn++; c.turn == len(c.warps) {
			c.turn = 0
		}
		if w.waiting || len(w.stack) == 0 {
			idle++
			continue
		}
		idle = 0
		left := w.run(warpBudget)
		if w.fault != nil {
			return false, w.fault
		}
		budget -= warpBudget - left
	}
}

func (c *cta) ended() bool {
	for _, w := range c.warps {
		if len(w.stack) > 0 {
			return false
		}
	}
	return true
}
