import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// Compares a store with the newest copy in its log and the later messages.
///
/// Other processes may have the store open, because the check works on a copy of it.
enum ReplicaCheck {
  static func run(_ path: String, _ log: any ReplicationLog) throws -> ReplicaComparison {
    let own = try LogRepair.copy(path)
    defer { own.remove() }
    guard let other = try StoreCopy(from: log, in: StoreCopy.incoming(path)) else {
      throw StoreError(.unavailable, path, "the log has no copy of a store to compare it with")
    }
    defer { other.remove() }
    try LogRepair.checkCopy(other, of: log, path)
    let (position, start) = (own.row.position, other.row.position)
    guard own.row.log == other.row.log else {
      throw StoreError(.logLost, path, "the log is another one than the store has followed")
    }
    guard start <= position else {
      throw StoreError(
        .unavailable, path,
        "the store has position \(position), and the newest copy has \(start): compare again when the store has reached "
          + "it")
    }
    try bring(other, to: position, log, path)
    var names = Differences()
    try compare(own, other, &names)
    return ReplicaComparison(
      position: position, copyPosition: start, differenceCount: names.count,
      differences: names.first)
  }

  /// Applies the messages after a copy to it.
  private static func bring(
    _ copy: StoreCopy, to position: UInt64, _ log: any ReplicationLog, _ path: String
  ) throws {
    let store = try ModelStore(path: copy.path)
    defer { store.close() }
    let replica = try Replica(store, log: LogPrefix(log, through: position))
    try replica.takeIn(upTo: position)
    guard try store.read({ try $0.replicationRow?.position }) == position else {
      throw StoreError(.logLost, path, "the log does not have the messages through \(position)")
    }
  }

  /// Compares the lines of two dumps; one of them is made on a thread of its own.
  private static func compare(
    _ own: StoreCopy, _ other: StoreCopy, _ names: inout Differences
  ) throws {
    let lines = DumpedLines()
    let (ownStore, otherStore) = (try own.makeStore(), try other.makeStore())
    defer {
      ownStore.close()
      otherStore.close()
    }
    let hasEnded = Monitor(false)
    startThread(named: "pando.compare") {
      do {
        try otherStore.dump { try lines.put($0) }
        lines.end(nil)
      } catch {
        lines.end(error)
      }
      hasEnded.withLock { $0 = true }
      hasEnded.notifyAll()
    }
    defer {
      lines.stop()
      hasEnded.waiting { $0 ? () : nil }
    }
    try ownStore.dump { line in
      let counterpart = try lines.next()
      if line == counterpart, names.areInStep { return }
      names.add(line, fromOther: false)
      if let counterpart { names.add(counterpart, fromOther: true) }
    }
    while let line = try lines.next() { names.add(line, fromOther: true) }
    names.end()
  }
}

/// Lines of a dump that one thread passes to another.
private final class DumpedLines: Sendable {
  private struct State {
    var lines: [String] = []
    var isStopped = false
    var end: Result<Void, any Error>?
  }

  private struct Stop: Error {}

  private static let countMaximum = 1000
  private let state = Monitor(State())

  func put(_ line: String) throws {
    let isStopped = state.waiting { state -> Bool? in
      if state.isStopped { return true }
      guard state.lines.count < Self.countMaximum else { return nil }
      state.lines.append(line)
      return false
    }
    state.notifyAll()
    if isStopped { throw Stop() }
  }

  func end(_ error: (any Error)?) {
    state.withLock { $0.end = error.map { .failure($0) } ?? .success(()) }
    state.notifyAll()
  }

  /// Ends the reader, so that ``put(_:)`` throws.
  func stop() {
    state.withLock { $0.isStopped = true }
    state.notifyAll()
  }

  private let taken = Locked<[String]>([])

  /// The next line; `nil` after the last one.
  func next() throws -> String? {
    if let line = taken.withLock({ $0.popLast() }) { return line }
    let found = try state.waiting { state -> Result<[String], any Error>? in
      if !state.lines.isEmpty {
        return .success(exchange(&state.lines, with: []).reversed())
      }
      return state.end?.map { [] }
    }.get()
    state.notifyAll()
    return taken.withLock { lines in
      lines = found
      return lines.popLast()
    }
  }
}

/// The differences of two dumps in the same order, whose lines arrive alternately.
///
/// A line that only one dump has shifts the other one.
private struct Differences {
  private(set) var count = 0
  private(set) var first: [String] = []
  /// Lines of either dump whose counterpart has not arrived.
  private var waiting: [[String: UInt64]] = [[:], [:]]
  /// The last list of either dump, and how many of its lines have arrived.
  private var parts = [(name: "", count: 0), (name: "", count: 0)]
  private static let namedCountMaximum = 100

  var areInStep: Bool { waiting[0].isEmpty && waiting[1].isEmpty }

  mutating func add(_ line: String, fromOther isOther: Bool) {
    let (own, other) = isOther ? (1, 0) : (0, 1)
    guard let name = Self.name(of: line) else { return }
    parts[own] = (name, parts[own].name == name ? parts[own].count + 1 : 0)
    let key = "\(name)\n\(parts[own].count)"
    let hash = XXHash64.hash(line.utf8Span.span)
    guard let found = waiting[other].removeValue(forKey: key) else {
      waiting[own][key] = hash
      return
    }
    if found != hash { note(name) }
  }

  /// Counts the lines without a counterpart as differences.
  mutating func end() {
    let keys = Set(waiting[0].keys).union(waiting[1].keys)
    for name in Set(keys.map { String($0.prefix { $0 != "\n" }) }).sorted() { note(name) }
    waiting = [[:], [:]]
  }

  private mutating func note(_ name: String) {
    if first.last == name { return }
    count += 1
    if first.count < Self.namedCountMaximum { first.append(name) }
  }

  /// The node, list or type of a line; `nil` for the last line, which counts the others.
  private static func name(of line: String) -> String? {
    guard let value = try? TreeValue(json: line, form: .lossless) else { return line }
    for (key, kind) in [
      ("node", ""), ("collection", "list "), ("type", "type "), ("rules", "rules of "),
    ] {
      if let name = value[key]?.stringValue { return kind + name }
    }
    return value["end"] == nil ? "the last commit" : nil
  }
}
