import Foundation
import Glibc
import PandoFixtures
import PandoSystem
import Testing

/// What never ends, and what takes long: ``WatchdogTests`` runs each in a process of its own.
@Suite(.enabled(if: getenv("PANDO_TEST_HANGS") != nil, "hangs on purpose; WatchdogTests runs it"))
struct HangingTests {
  static let variable = "PANDO_TEST_HANGS"

  /// Writes the number of a process into the pipe that the variable names, if there is one.
  private static func tell(_ process: pid_t) {
    let pipe = open(getenv(variable), O_WRONLY | O_CLOEXEC)
    guard pipe >= 0 else { return }
    let text = Array("\(process)".utf8)
    _ = write(pipe, text, text.count)
    close(pipe)
  }

  @Test func `waits for an event that never comes`() async {
    await blocking { Event().wait() }
  }

  @Test func `waits for a process that says nothing`() async throws {
    let process = try ChildProcess("/bin/cat")
    Self.tell(process.identifier)
    await blocking { _ = process.nextLine() }
    process.closeInput()
  }

  @Test func `waits in an exit test`() async {
    await #expect(processExitsWith: .success) {
      HangingTests.tell(getpid())
      while true { pause() }
    }
  }

  @Test func `goes round in circles`() {
    while true {}
  }

  @Test func `computes, and so does its process`() async throws {
    var time = timespec()
    while time.tv_sec < 2 { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) }
    try await blocking {
      let run = try ChildProcess.run("/bin/sh", ["-c", "ulimit -t 4; while :; do :; done"])
      #expect([-SIGXCPU, -SIGKILL].contains(run.status))
    }
  }

  private static let runningCount = Locked(0)

  @Test(arguments: 0..<100)
  func `many at once`(number: Int) async {
    Self.runningCount.withLock { count in
      count += 1
      print("running \(count)")
    }
    for _ in 0..<50 { await Task.yield() }
    Self.runningCount.withLock { $0 -= 1 }
  }
}
