// Torture: what is stored must survive whatever happens to processes, disks and power. Run it with
// `Fuzz/torture`; docs/reliability.md says what each command shows.

import Glibc

signal(SIGPIPE, SIG_IGN)
do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  switch options.command {
  case "kill":
    var run = try KillRun(options)
    try run.run()
  case "kill-writer": try await KillRoles.write(options)
  case "kill-reader": try KillRoles.read(options)
  case "kill-holder": try KillRoles.hold(options)
  case "powercut":
    var run = try PowerCutRun(options)
    try run.run()
  case "powercut-writer": try await PowerCutWriter.run(options)
  case "powercut-checker":
    var checker = try CutChecker(options)
    try checker.run()
  case "faults":
    var run = try FaultsRun(options)
    try run.run()
  case "faults-writer":
    var writer = try FaultsWriter(options)
    try await writer.run()
  case "full-disk":
    var run = try FullDiskRun(options)
    try run.run()
  case "soak":
    var run = try SoakRun(options)
    try run.run()
  case "live":
    var run = try TortureLive(options)
    try await run.run()
  case "processes":
    var run = try ProcessesRun(options)
    try run.run()
  case "processes-worker": try await ProcessesRun.work(options)
  case "origins": try await OriginsRun(options).run()
  case "origins-writer": try await OriginsWriter(options).run()
  case "hostile": try HostileRun(options).run()
  case "hostile-grower": try HostileRun.grow(options)
  case "soak-worker": try await SoakRoles.work(options)
  case "soak-visitor": try SoakRoles.visit(options)
  default: throw TortureFailure(Options.usage)
  }
} catch {
  complain("torture: \(error)")
  exit(1)
}
