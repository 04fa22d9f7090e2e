import PandoConsistency
import PandoSystem

/// The sets of one provider that are not committed yet, oldest first.
struct PendingSets {
  /// The oldest one; nearly always there are no others.
  private var first: SetOperation?
  /// Those behind it.
  private var others = Deque<SetOperation>()

  @inline(__always) var isEmpty: Bool { first == nil }
  var last: SetOperation? { others.last ?? first }

  mutating func append(_ operation: SetOperation) {
    if first == nil { first = operation } else { others.append(operation) }
  }

  /// The operation that an update carries out, if it is one of these.
  ///
  /// - Complexity: O(1) for the oldest, which it is unless others have failed out of order.
  func find(_ operation: any LiveOperation) -> SetOperation? {
    if let first, first === operation { return first }
    return index(of: operation).map { others[$0] }
  }

  /// Takes an operation out.
  ///
  /// - Returns: Whether it was the last one; `nil` if it was not there.
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

  /// Takes an operation out, with those before it; nothing happens if it is not there.
  mutating func removeThrough(_ operation: SetOperation) {
    guard find(operation) != nil else { return }
    while let first {
      takeNext()
      if first === operation { return }
    }
  }

  /// Makes the second one the oldest.
  private mutating func takeNext() { first = others.popFirst() }

  private func index(of operation: any LiveOperation) -> Int? {
    others.firstIndex { $0 === operation }
  }
}
