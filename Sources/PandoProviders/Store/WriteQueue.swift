import PandoStore
import PandoSystem

/// Writes in the order of their commits.
struct WriteQueue {
  private var writes = Deque<CommitEffects>()
  /// The count of writes that were removed.
  private(set) var start = 0

  /// The count of writes that were appended.
  var end: Int { start + writes.count }
  var isEmpty: Bool { writes.isEmpty }

  mutating func append(_ flush: [CommitEffects]) { writes.append(contentsOf: flush) }

  mutating func popFirst() -> CommitEffects? {
    guard let write = writes.popFirst() else { return nil }
    start += 1
    return write
  }

  /// Puts back the write that was removed last.
  mutating func putBack(_ write: CommitEffects) {
    writes.prepend(write)
    start -= 1
  }

  /// Returns the commits up to a number, with the unchanged writes before the last; at least
  /// `minimum`.
  func first(upTo number: UInt64, minimum: Int) -> [CommitEffects] {
    let last = writes.lastIndex { write in
      write.changeSet.map { $0.commitNumber.value <= number } ?? false
    }
    return Array(writes.prefix(max(last.map { $0 + 1 } ?? 0, minimum)))
  }

  mutating func remove(_ count: Int) {
    writes.removeFirst(count)
    start += count
  }
}
