import CPeerSupport
import Foundation
import Pando
import PandoLMDB
import Synchronization

/// A process that the `processes` suite has started.
///
/// It says ``ready``, in the end what it has seen and an empty line, and answers each line that it reads with
/// its processor time. It ends when there is nothing more to read.
enum Worker {
  /// Its work.
  enum Role: String {
    /// Shows a model by a provider until that has a number.
    case show
    /// Waits for commits and reads a row until that has a number.
    case wait
    /// Holds the writer's lock so many milliseconds, and again after each commit of another process.
    case hold
  }

  /// The first argument of such a process.
  static let option = "--process"
  /// Its first line.
  static let ready = "ready"
  /// The line that it prints each time when it has the lock.
  static let held = "held"

  /// Runs it.
  ///
  /// - Parameter arguments: Those after ``option``: role, folder and number.
  /// - Throws: ``BenchmarkError``, or what the store throws.
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 3, let role = Role(rawValue: arguments[0]),
      let number = Int(arguments[2])
    else { throw BenchmarkError(.usage, "\(option) is not an option") }
    Thread.detachNewThread {
      while readLine() != nil { say(String(process_time())) }
      exit(0)
    }
    switch role {
    case .show: try show(arguments[1], until: number)
    case .wait: try wait(arguments[1], until: number)
    case .hold: try hold(arguments[1], milliseconds: number)
    }
  }

  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  private static func say(_ sightings: [Sighting]) {
    say(sightings.map { $0.text + "\n" }.joined())
  }

  private static func show(_ path: String, until last: Int) throws {
    let manager = try DataModelManager(store: SharedStore.open(path, follows: true))
    let provider = DataProvider<LiveAuthor>(dataModelManager: manager)
    let delegate = SightingDelegate(last)
    provider.delegate = delegate
    let key = SharedStore.author(0).identifier
    provider.fetchDataFromCache(withCacheKey: key) { _, _ in delegate.fetched.signal() }
    delegate.fetched.wait()
    waitUntilDone { await manager.drain() }
    say(ready)
    delegate.done.wait()
    say(delegate.sightings)
    sleepForEver(provider)
  }

  private static func wait(_ path: String, until last: Int) throws {
    let rows = try SharedRows(path)
    var sightings: [Sighting] = []
    var version = try rows.version()
    say(ready)
    while sightings.last?.number != last {
      guard let next = try rows.wait(after: version) else { continue }
      version = next
      sightings.append(Sighting(try rows.number(), at: latency_now()))
    }
    say(sightings)
    sleepForEver(rows)
  }

  private static func hold(_ path: String, milliseconds: Int) throws {
    let rows = try SharedRows(path)
    var version = try rows.version()
    say(ready)
    while true {
      try rows.holdLock(milliseconds) { say(held) }
      while true {
        guard let next = try rows.wait(after: version) else { continue }
        version = next
        break
      }
    }
  }

  /// Leaves the end of the process to the thread that reads.
  private static func sleepForEver(_ object: AnyObject) {
    withExtendedLifetime(object) {
      while true { sleep(1_000) }
    }
  }
}

/// Notes when it is called, with which number.
private final class SightingDelegate: DataProviderDelegate {
  let fetched = DispatchSemaphore(value: 0)
  let done = DispatchSemaphore(value: 0)
  private let last: Int
  private let seen = Mutex<[Sighting]>([])

  init(_ last: Int) { self.last = last }

  var sightings: [Sighting] { seen.withLock { $0 } }

  func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {
    let now = latency_now()
    guard let author = dataProvider.data as? LiveAuthor else { return }
    seen.withLock { $0.append(Sighting(author.number, at: now)) }
    if author.number == last { done.signal() }
  }
}
