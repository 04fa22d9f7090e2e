import Foundation
import Glibc
import PandoSystem

/// Ends the process with all tests when they wait for what will never come, and says what that is.
///
/// It looks at progress and not at the time: a machine may be as slow as it is. Once a second, when
/// no test or case has begun or ended since the last look, it looks at the threads of this process and of
/// all processes it has started. Two things end the run:
/// - ``patience`` looks in a row have found that every thread sleeps;
/// - all of them together have used ``processorPatience`` seconds of the processor while no test or
///   case began or ended: something goes round in circles.
///
/// The process is watched from before `main` (`CPandoSpawn/begin.c`).
struct Watchdog {
  /// How many looks may find that nothing runs.
  ///
  /// The variable `PANDO_TEST_PATIENCE` says another number.
  var patience = 120
  /// How many seconds of the processor may be used between the ends of two tests.
  ///
  /// By far more than any test needs with a sanitizer; what passes before the first test does not count.
  /// The variable `PANDO_TEST_PROCESSOR_PATIENCE` says another number.
  var processorPatience = 1800

  private static let listedCount = 40
  private let events = TestEvents()

  /// Watches on threads of its own.
  static func start(_ descriptor: CInt) {
    var watchdog = Watchdog()
    watchdog.patience = number("PANDO_TEST_PATIENCE") ?? watchdog.patience
    watchdog.processorPatience =
      number("PANDO_TEST_PROCESSOR_PATIENCE") ?? watchdog.processorPatience
    let (started, events) = (watchdog, watchdog.events)
    Thread.detachNewThread { events.follow(descriptor) }
    Thread.detachNewThread { started.watch() }
  }

  /// Removes the folder that `CPandoSpawn/begin.c` has made for the tests.
  private static func removeFolder() {
    if let path = getenv("PANDO_TEST_FOLDER") { removeTree(String(cString: path)) }
  }

  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  private func watch() {
    var count = 0
    var quietCount = 0
    var usedBefore: Int?
    while true {
      sleep(1)
      guard events.count == count else {
        (count, quietCount, usedBefore) = (events.count, 0, nil)
        continue
      }
      guard let tree = ProcessTree() else { return }
      quietCount = tree.isActive ? 0 : quietCount + 1
      let used = tree.processorSeconds
      let before = count == 0 ? used : usedBefore ?? used
      usedBefore = before
      if quietCount >= patience {
        end(
          "no test has begun or ended and nothing has run at \(quietCount) looks, one a second",
          tree)
      }
      if used - before >= processorPatience {
        end("no test has begun or ended while \(used - before) s of the processor were used", tree)
      }
    }
  }

  /// Whether the watchdog ends the run; from then on nothing else does.
  private static let isEnding = Locked(false)

  /// Waits for the watchdog when it ends the run: a test that has waited for a process that it has
  /// killed goes on, and must not end the run as a good one.
  static func leave() {
    while isEnding.withLock({ $0 }) { pause() }
    removeFolder()
  }

  private func end(_ reason: String, _ tree: ProcessTree) -> Never {
    Self.isEnding.withLock { $0 = true }
    var lines = ["The watchdog of the tests ends the run: \(reason)."]
    lines += list("Tests that have begun and not ended, the oldest first", events.running)
    lines += list("Waits, the oldest first", Waits.all)
    lines += list("Processes that the tests have started", tree.lines)
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    _ = write(STDERR_FILENO, text, text.count)
    tree.killDescendants()
    Self.removeFolder()
    _exit(EXIT_FAILURE)
  }

  private func list(_ title: String, _ lines: [String]) -> [String] {
    let shown = lines.prefix(Self.listedCount).map { "  \($0)" }
    let rest = lines.count - shown.count
    return ["\(title): \(lines.isEmpty ? "none" : "\(lines.count)")"] + shown
      + (rest > 0 ? ["  and \(rest) more"] : [])
  }
}

/// Begins to watch; called before `main`, for the tests' own program only.
///
/// - Parameter events: Where the events of the tests can be read.
@c(pando_watch_tests)
func watchTests(_ events: CInt) {
  Watchdog.start(events)
  atexit { Watchdog.leave() }
}
