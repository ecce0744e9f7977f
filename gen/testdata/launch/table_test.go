package launch

// entry says what becomes of a folder.
type entry struct {
	launch  map[string]check // how each Launch function is checked
	refused string           // part of what the generator says instead
}

// table is by the folders' names without release and target.
var table = map[string]entry{
	"add":                         {launch: map[string]check{"LaunchAdd": add}},
	"add.blackwell":               {launch: map[string]check{"LaunchAdd": add}},
	"add.cluster":                 {launch: map[string]check{"LaunchAdd": add}},
	"add.cooperative":             {launch: map[string]check{"LaunchAdd": add}},
	"add.pdl":                     {launch: map[string]check{"LaunchAdd": add}},
	"add.raw":                     {launch: map[string]check{"LaunchAdd": add}},
	"calls":                       {launch: map[string]check{"LaunchCalls": calls}},
	"descriptor":                  {launch: map[string]check{"LaunchDescriptor": descriptor}},
	"descriptor_experimental":     {launch: map[string]check{"LaunchDescriptorExperimental": descriptor}},
	"descriptor_experimental.ptx": {refused: "sets a tensor map's stride in PTX 8.4"},
	"dot":                         {launch: map[string]check{"LaunchDot": dot}},
	"dot.cluster":                 {launch: map[string]check{"LaunchDot": dot}},
	"fp8":                         {launch: map[string]check{"LaunchFp8": fp8}},
	"host":                        {launch: map[string]check{"LaunchHost": host}},
	"pdl":                         {launch: map[string]check{"LaunchPdl": pdl}},
	"rows":                        {launch: map[string]check{"LaunchRows": rows}},
	"scalars":                     {launch: map[string]check{"LaunchScalars": scalars}},
	"scale":                       {launch: map[string]check{"LaunchScale": scale}},
	"tuples":                      {launch: map[string]check{"LaunchTuples": tuples}},
	"tuples.raw":                  {launch: map[string]check{"LaunchTuples": tuples}},
	"wide":                        {launch: map[string]check{"LaunchWide": wide}},

	"raw/binary-only": {launch: map[string]check{"LaunchAdd": addBy16}},
	"raw/cache":       {launch: map[string]check{"LaunchAdd": add, "LaunchScaleByTwo": scaleHalves}},
	"raw/dump":        {refused: "add.json is missing beside it"},

	"add.consan": {refused: `is instrumented ("consan")`},
	"add.gsan":   {refused: `is instrumented ("gsan")`},

	"tma": {refused: "parameter %arg0 of tma is a tensor map that no file tells how to encode"},
}
