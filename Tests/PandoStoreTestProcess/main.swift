// The other process of the store tests: `StoreTestProcess SCENARIO FOLDER`. It says what it saw on
// standard output; a failed expectation ends it with status 1 and a line on standard error.

import Glibc

let scenarios: [String: (String) throws -> Void] = [
  "write-versions": Scenario.writeVersions,
  "read-versions": Scenario.readVersions,
  "disk-full": Scenario.diskFull,
  "fork": Scenario.fork,
  "failed-flush": Scenario.failedFlush,
  "owner-only": Scenario.ownerOnly,
  "strange-directories": Scenario.strangeDirectories,
  "clock-jumps": Scenario.clockJumps,
  "temporary-refused": Scenario.temporaryRefused,
  "grow": Scenario.grow,
  "write-people": Scenario.writePeople,
  "write-people-silently": Scenario.writePeopleSilently,
  "same-number": Scenario.sameNumber,
  "migrate": Scenario.migrate,
  "other-folder": Scenario.otherFolder,
]

guard CommandLine.arguments.count == 3, let scenario = scenarios[CommandLine.arguments[1]] else {
  fail("usage: StoreTestProcess SCENARIO FOLDER")
}
do {
  try scenario(CommandLine.arguments[2])
} catch {
  fail("\(CommandLine.arguments[1]): \(error)")
}
