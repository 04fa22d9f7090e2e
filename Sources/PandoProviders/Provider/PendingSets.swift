import PandoConsistency
import PandoSystem

/// The uncommitted sets of one provider, oldest first.
struct PendingSets {
  /// The oldest set, which is the only one in most cases.
  private var first: SetOperation?
  /// The sets after the oldest one.
  private var others = Deque<SetOperation>()

  @inline(__always) var isEmpty: Bool { first == nil }
  var last: SetOperation? { others.last ?? first }

  mutating func append(_ operation: SetOperation) {
    if first == nil { first = operation } else { others.append(operation) }
  }

  /// Returns an operation if it is one of the pending sets.
  ///
  /// - Complexity: O(1) for the oldest set, which is usual unless others have failed out of order.
  func find(_ operation: any LiveOperation) -> SetOperation? {
    if let first, first === operation { return first }
    return index(of: operation).map { others[$0] }
  }

  /// Removes an operation.
  ///
  /// - Returns: True if it was the last one; `nil` if it was not found.
  mutating func remove(_ operation: any LiveOperation) -> Bool? {
    if let first, first === operation {
      let isLast = others.isEmpty
      takeNext()
      return isLast
    }
    guard let index = index(of: operation) else { return nil }
    let isLast = index == others.count - 1
    others.remove(at: index)
    return isLast
  }

  /// Removes an operation and all before it; does nothing if it is not found.
  mutating func removeThrough(_ operation: SetOperation) {
    guard find(operation) != nil else { return }
    while let first {
      takeNext()
      if first === operation { return }
    }
  }

  /// Makes the second set the oldest.
  private mutating func takeNext() { first = others.popFirst() }

  private func index(of operation: any LiveOperation) -> Int? {
    others.firstIndex { $0 === operation }
  }
}
