import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

/// Runs `body` in a write transaction with an empty list.
func withList(
  number: UInt64 = 7, _ body: (CountedList, inout WriteTransaction) throws -> Void
) throws {
  try withEnvironment { environment in
    let table = try environment.rawTable("elements")
    try environment.write { transaction in
      try body(CountedList(table: table, number: number), &transaction)
    }
  }
}

/// Elements of a few bytes, each different from the others.
func smallElements(_ range: Range<Int>) -> [[UInt8]] {
  range.map { index in
    (0..<(4 + index % 5)).map { UInt8(truncatingIfNeeded: index >> (8 * ($0 & 3))) }
  }
}

extension CountedList {
  func elements(in snapshot: Snapshot, _ range: Range<Int>? = nil) throws -> [[UInt8]] {
    var elements: [[UInt8]] = []
    try forEach(in: range, of: snapshot) { index, bytes in
      #expect(index == elements.count + (range?.lowerBound ?? 0))
      elements.append([UInt8](bytes))
      return true
    }
    return elements
  }

  /// The value of one row.
  func row(_ block: UInt64, in snapshot: Snapshot) throws -> [UInt8] {
    let key = key(ofBlock: block)
    let bytes = try #require(try rows(in: snapshot)[[UInt8](key.span)])
    return bytes
  }

  /// The values of all rows of the table by their keys.
  func rows(in snapshot: Snapshot) throws -> [[UInt8]: [UInt8]] {
    var rows: [[UInt8]: [UInt8]] = [:]
    try snapshot.scan(table) { key, value in
      rows[[UInt8](key)] = [UInt8](value)
      return true
    }
    return rows
  }
}

extension CountedList {
  /// Replaces all elements.
  func replaceAll(
    with elements: some Sequence<[UInt8]>, in transaction: inout WriteTransaction
  ) throws {
    try removeAll(in: &transaction)
    try insert(contentsOf: elements, at: 0, in: &transaction)
  }
}
