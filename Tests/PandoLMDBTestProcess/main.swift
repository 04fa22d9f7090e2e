// The other process of the LMDB tests: `LMDBTestProcess SCENARIO FOLDER`. It says what it saw on
// standard output; a failed expectation ends it with status 1 and a line on standard error.

import Glibc

let scenarios: [String: (String) throws -> Void] = [
  "fork": Scenario.fork,
  "grow": Scenario.grow,
  "write-versions": Scenario.writeVersions,
  "read-versions": Scenario.readVersions,
  "hold-reader": Scenario.holdReader,
  "write-once": Scenario.writeOnce,
  "read-and-wait": Scenario.readAndWait,
  "same-number": Scenario.sameNumber,
  "write-on-thread": Scenario.writeOnThread,
  "open-on-thread": Scenario.openOnThread,
  "count-up": Scenario.countUp,
  "fork-in-write": Scenario.forkInWrite,
  "write-with-checkpoints": Scenario.writeWithCheckpoints,
  "failed-flush": Scenario.failedFlush,
  "failed-meta": Scenario.failedMeta,
  "flushed-names": Scenario.flushedNames,
  "open-cut-short": Scenario.openCutShort,
  "disk-full": Scenario.diskFull,
  "lost-map": Scenario.lostMap,
  "fork-in-memory": Scenario.forkInMemory,
  "file-size-limit": Scenario.fileSizeLimit,
]

guard CommandLine.arguments.count == 3, let scenario = scenarios[CommandLine.arguments[1]] else {
  fail("usage: LMDBTestProcess SCENARIO FOLDER")
}
do {
  try scenario(CommandLine.arguments[2])
} catch {
  fail("\(CommandLine.arguments[1]): \(error)")
}
