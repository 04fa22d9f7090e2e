import Consistency

/// The sets of one provider that are not committed yet, oldest first.
struct PendingSets {
  private var operations: [SetOperation?] = []
  private var head = 0

  var isEmpty: Bool { head == operations.count }
  var last: SetOperation? { isEmpty ? nil : operations[operations.count - 1] }

  mutating func append(_ operation: SetOperation) { operations.append(operation) }

  /// The operation that an update carries out, if it is one of these.
  ///
  /// - Complexity: O(1) for the oldest, which it is unless others have failed out of order.
  func find(_ operation: any LiveOperation) -> SetOperation? {
    index(of: operation).flatMap { operations[$0] }
  }

  /// Takes an operation out.
  ///
  /// - Returns: Whether it was the last one; `nil` if it was not there.
  mutating func remove(_ operation: any LiveOperation) -> Bool? {
    guard let index = index(of: operation) else { return nil }
    let isLast = index == operations.count - 1
    if index == head {
      operations[index] = nil
      head += 1
      if head == operations.count {
        operations.removeAll(keepingCapacity: head < 16)
        head = 0
      } else if head > 64, head > operations.count / 2 {
        operations.removeFirst(head)
        head = 0
      }
    } else {
      operations.remove(at: index)
    }
    return isLast
  }

  private func index(of operation: any LiveOperation) -> Int? {
    for index in head..<operations.count where operations[index] === operation { return index }
    return nil
  }
}
