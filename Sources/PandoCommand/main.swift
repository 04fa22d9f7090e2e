import PandoSystem

// The top-level code is the whole program: arguments in, exit status out.
let exitCode = await CommandLineTool().run(Array(CommandLine.arguments.dropFirst()))
exit(exitCode.rawValue)
