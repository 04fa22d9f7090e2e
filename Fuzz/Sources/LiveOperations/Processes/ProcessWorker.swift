import Foundation
import Pando
import Synchronization

/// One process of `torture processes`: writes and watches, as the lines of its standard input say.
///
/// ```
/// go        ─► writes until it is paused
/// pause     ─► "paused COUNT" when all of it is committed; COUNT is what the clock says
/// check N   ─► "checked COMMITS RELOADS DELAY…" when all that it shows at N is right
/// state     ─► "state …": what it waits for
/// end       ─► closes all, and ends
/// ```
public enum ProcessWorker {
  /// Makes the store; no process has it open.
  public static func makeStore(_ path: String) throws { try ProcessViews.makeStore(path) }

  /// Works until the line that ends it.
  ///
  /// - Throws: ``LiveFinding`` if a state is not the expected one; the error of a call.
  public static func run(_ settings: ProcessSettings) async throws {
    let ledger = Ledger(trace: nil)
    let commands = commands(ledger)
    let views = try await ProcessViews(settings, ledger)
    var seeds = Choices(seed: settings.seed).split(2)[...]
    var writer = ProcessWriter(views, settings, seeds.removeFirst())
    var editor = try await ProcessEditor(views, settings, seeds.removeFirst())
    // It would see what others have committed whenever it writes.
    let writes = settings.control != .hearsNothing
    answer("ready")
    let mustPause = Flag()
    var work: Task<(ProcessWriter, ProcessEditor), any Error>?
    for await line in commands {
      let words = line.split(separator: " ")
      switch words.first {
      case "go":
        mustPause.set(false)
        work = Task { [writer, editor] in
          if !writes { return (writer, editor) }
          var writer = writer
          async let edited = Self.edit(editor, mustPause)
          try await writer.run { mustPause.isSet }
          let editor = try await edited
          // The newest commit moves the clock.
          try await writer.write()
          return (writer, editor)
        }
      case "pause":
        mustPause.set(true)
        if let done = try await work?.value { (writer, editor) = done }
        try ledger.throwFinding()
        answer("paused \(try writer.count())")
      case "check":
        try await views.check(Int(words.last ?? "") ?? 0)
        let counters = views.store.counters
        let delays = views.takeDelays().map { " \($0)" }.joined()
        answer("checked \(counters.othersCommits) \(counters.reloads)\(delays)")
      default:
        await views.close()
        return
      }
    }
  }

  private static func edit(
    _ editor: ProcessEditor, _ mustPause: Flag
  ) async throws -> ProcessEditor {
    var editor = editor
    try await editor.run { mustPause.isSet }
    return editor
  }

  private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }
    func set(_ isSet: Bool) { value.withLock { $0 = isSet } }
  }

  /// The lines of standard input; a waiting process answers them too.
  private static func commands(_ ledger: Ledger) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() {
        if line == "state" {
          let waits = ledger.progress.waits.prefix { $0 != "\n" }
          answer("state \(waits)")
        } else {
          continuation.yield(line)
        }
      }
      // The process that started it has ended.
      exit(0)
    }
    return lines
  }

  private static func answer(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
