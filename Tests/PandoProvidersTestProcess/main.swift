// The other process of the provider tests: `PandoProvidersTestProcess SCENARIO FOLDER [ARGUMENTS]`. It says
// what it saw on standard output; a failed expectation ends it with status 1 and a line on standard error.

let arguments = Array(CommandLine.arguments.dropFirst())
let scenarios: [String: (String, [String]) async throws -> Void] = [
  "everyone": Everyone.run,
  "watch": Watch.run,
]

guard arguments.count >= 2, let scenario = scenarios[arguments[0]] else {
  fail("usage: PandoProvidersTestProcess SCENARIO FOLDER [ARGUMENTS]")
}
do {
  try await scenario(arguments[1], Array(arguments.dropFirst(2)))
} catch {
  fail("\(arguments[0]): \(error)")
}
