import Glibc

// Top-level code is the whole program: arguments in, exit status out.
let exitCode = await Library().run(Array(CommandLine.arguments.dropFirst()))
exit(exitCode)
