import PandoConsistency
import PandoModels

/// A commit, or a place in the order of commits, from its transaction to the pipeline.
final class InFlightWrite: Sendable {
  let update: LiveUpdate
  let operation: (any ManagedOperation)?
  /// The last commit that it shows.
  let number: UInt64
  /// What it brings to live trees that do not hold it yet.
  let nodes: [LiveNode]

  init(
    _ update: LiveUpdate, _ operation: (any ManagedOperation)?, number: UInt64, nodes: [LiveNode]
  ) {
    self.update = update
    self.operation = operation
    self.number = number
    self.nodes = nodes
  }
}

/// Where the commits are on their way: what is prepared, committed, processed.
struct InFlightWrites {
  /// The last commit whose change set has been prepared, in this flush too.
  var prepared: UInt64
  /// The last commit that is on disk and was handed to the pipeline.
  private(set) var committed: UInt64
  /// How many changes are queued that are not committed.
  var queuedChanges = 0
  /// The last commit that the live trees show.
  private(set) var processed: UInt64
  /// What the last flush has prepared, and how much of it is committed.
  private var flush: [InFlightWrite] = []
  private var committedInFlush = 0
  /// Loads that are ahead of the pipeline.
  private var waiting: [ReadAhead] = []
  private var touched = TouchedKeys()
  private var carried = CarriedTypes()

  init(committed number: UInt64) {
    prepared = number
    committed = number
    processed = number
  }

  /// Forgets what a flush has prepared that is run again, or has failed.
  mutating func beginFlush() {
    prepared = committed
    for write in flush[committedInFlush...] { carried.remove(write.nodes) }
    flush = []
    committedInFlush = 0
  }

  /// Notes a write in its transaction.
  mutating func prepare(_ write: InFlightWrite) {
    flush.append(write)
    carried.add(write.nodes)
    prepared = write.number
  }

  /// Notes, before anything is read for it, that a commit touches keys.
  ///
  /// Whoever registers a tree looks here afterwards, and whoever prepares looks at the registry
  /// afterwards: one of the two sees the other.
  mutating func touch(_ keys: [ByteString], by number: UInt64) { touched.touch(keys, by: number) }

  /// The types, besides those of live trees, as which a node will be live soon.
  func carriedTypes(of identifier: ByteString) -> [any SimpleModel.Type] {
    carried.types(of: identifier)
  }

  /// Notes a write that is on disk.
  mutating func commit(_ write: InFlightWrite) {
    committedInFlush += 1
    committed = max(committed, write.number)
  }

  /// Notes a write that live trees show.
  ///
  /// - Returns: The loads that need not wait any longer.
  mutating func process(_ write: InFlightWrite) -> [ReadAhead] {
    carried.remove(write.nodes)
    advance(to: write.number)
    guard !waiting.isEmpty else { return [] }
    let processed = processed
    let ready = waiting.filter { $0.number <= processed }
    waiting.removeAll { $0.number <= processed }
    return ready
  }

  /// Notes what the live trees show, where there is no writer.
  mutating func advance(to number: UInt64) {
    processed = max(processed, number)
    touched.forget(before: processed)
  }
}

extension InFlightWrites {
  /// What to do with a tree that was read.
  enum Alignment {
    /// Show it: nothing has touched it since. Its nodes count as carried until `end` is called.
    case show
    /// It waits for the pipeline to come to the commit that it was read from.
    case wait
    /// Something has touched it since: it has to be read again, in the order of writes.
    case again
  }

  mutating func align(_ entry: ReadAhead, nodes: [LiveNode]) -> Alignment {
    let number = entry.number
    if entry.knownSince == nil, queuedChanges > 0, entry.load.isMiss { return .again }
    // Ahead of all that we know: another process wrote, or our own flush is just ending.
    if number > committed { return .again }
    if number > processed {
      waiting.append(entry)
      return .wait
    }
    let keys = entry.load.keys + nodes.map(\.identifier)
    if let knownSince = entry.knownSince {
      // Writes since then bring what is awaited by themselves.
      let isMissed =
        touched.contains(keys, after: number) && !touched.contains(keys, after: knownSince)
      return isMissed ? .again : .show
    }
    if touched.contains(keys, after: number) { return .again }
    carried.add(nodes)
    return .show
  }

  /// Begins to wait for nodes without reading: writes prepared from now on bring them.
  mutating func announce(_ load: any StoreLoad, _ nodes: [LiveNode]) -> ReadAhead {
    carried.add(nodes)
    return ReadAhead(load, number: committed, knownSince: prepared)
  }

  /// Ends what ``announce(_:_:)`` or ``align(_:nodes:)`` began.
  mutating func end(_ nodes: [LiveNode]) { carried.remove(nodes) }
}

/// Which commit was the last to touch a key, for the last commits.
private struct TouchedKeys {
  /// How many keys are remembered; loads that are older are read again.
  static let keyCountMaximum = 65_536

  private var numbers: [ByteString: UInt64] = [:]
  private var log: [(number: UInt64, keys: [ByteString])] = []
  private var head = 0
  private var loggedKeyCount = 0
  /// Nothing is known of this commit and those before.
  private var floor: UInt64 = 0

  mutating func touch(_ keys: [ByteString], by number: UInt64) {
    guard !keys.isEmpty else { return }
    if keys.count > Self.keyCountMaximum / 2 {
      floor = max(floor, number)
      return
    }
    for key in keys { numbers[key] = number }
    log.append((number, keys))
    loggedKeyCount += keys.count
  }

  func contains(_ keys: [ByteString], after number: UInt64) -> Bool {
    if number < floor { return true }
    return keys.contains { (numbers[$0] ?? 0) > number }
  }

  /// Keeps memory bounded: commits that live trees show may be forgotten.
  mutating func forget(before number: UInt64) {
    while loggedKeyCount > Self.keyCountMaximum, head < log.count, log[head].number <= number {
      let entry = log[head]
      for key in entry.keys where numbers[key] == entry.number { numbers[key] = nil }
      floor = max(floor, entry.number)
      loggedKeyCount -= entry.keys.count
      log[head].keys = []
      head += 1
    }
    if head > 1024, head > log.count / 2 {
      log.removeFirst(head)
      head = 0
    }
  }
}

/// As which types nodes will be live soon, by identifier.
private struct CarriedTypes {
  private struct Entry {
    let type: any SimpleModel.Type
    var count: Int
  }

  private var entries: [ByteString: [Entry]] = [:]

  mutating func add(_ nodes: [LiveNode]) {
    for node in nodes {
      var list = entries.removeValue(forKey: node.identifier) ?? []
      if let index = list.firstIndex(where: { $0.type == node.type }) {
        list[index].count += 1
      } else {
        list.append(Entry(type: node.type, count: 1))
      }
      entries[node.identifier] = list
    }
  }

  mutating func remove(_ nodes: [LiveNode]) {
    for node in nodes {
      guard var list = entries.removeValue(forKey: node.identifier) else { continue }
      if let index = list.firstIndex(where: { $0.type == node.type }) {
        list[index].count -= 1
        if list[index].count == 0 { list.remove(at: index) }
      }
      if !list.isEmpty { entries[node.identifier] = list }
    }
  }

  func types(of identifier: ByteString) -> [any SimpleModel.Type] {
    entries[identifier]?.map(\.type) ?? []
  }
}
