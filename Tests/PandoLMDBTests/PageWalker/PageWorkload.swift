import CPandoLMDB
import Foundation
import PandoFixtures

/// Random contents that bring every sort of page into a file.
struct PageWorkload {
  /// A table of a workload: its flags, and the sizes of its keys and values.
  struct Table {
    let name: String?
    var flags: Int32 = 0
    var keySizes: ClosedRange<Int> = 1...40
    var valueSizes: ClosedRange<Int> = 0...200
    /// Out of how many keys the random ones are drawn; few keys are often replaced and deleted.
    var keyCount: Int = 400
  }

  var tables: [Table]
  var transactions = 12
  var changesPerTransaction = 120
  /// Of 100 changes, how many delete.
  var deletesPerHundred = 30

  /// Every way in which liblmdb can lay out a table.
  static let everything = PageWorkload(tables: [
    Table(name: "bytes"),
    Table(name: "empty", keyCount: 0),
    Table(name: "large values", valueSizes: 0...20_000, keyCount: 60),
    Table(name: "long keys", keySizes: 300...511, valueSizes: 0...800, keyCount: 300),
    Table(name: "reverse", flags: MDB_REVERSEKEY),
    Table(name: "integers", flags: MDB_INTEGERKEY, keySizes: 8...8),
    Table(name: "small integers", flags: MDB_INTEGERKEY, keySizes: 4...4),
  ])

  /// Keys of all orders and sizes, with little behind them.
  static let keys = PageWorkload(tables: [
    Table(name: "long keys", keySizes: 300...511, valueSizes: 0...20, keyCount: 100),
    Table(name: "reverse", flags: MDB_REVERSEKEY, keySizes: 1...20, keyCount: 100),
    Table(name: "integers", flags: MDB_INTEGERKEY, keySizes: 8...8, valueSizes: 7...7),
    Table(
      name: "small integers", flags: MDB_INTEGERKEY, keySizes: 4...4, valueSizes: 0...8, keyCount: 9
    ),
  ])

  /// Small, for tests that make hundreds of copies.
  static let small = PageWorkload(
    tables: [
      Table(name: "a", valueSizes: 0...400, keyCount: 150),
      Table(name: "b", keySizes: 200...400, valueSizes: 0...100, keyCount: 80),
      Table(name: "large", valueSizes: 3000...12_000, keyCount: 10),
      Table(name: "few", keySizes: 1...4, valueSizes: 1...60, keyCount: 5),
      Table(
        name: "fixed", flags: MDB_INTEGERKEY, keySizes: 8...8, valueSizes: 6...6, keyCount: 300),
    ], transactions: 5)

  /// Only plain values in the main table, with its branch pages.
  static let mainOnly = PageWorkload(
    tables: [Table(name: nil, valueSizes: 0...300, keyCount: 500)], transactions: 6)

  /// Makes the contents.
  ///
  /// A reader that stays open in the middle makes the free list long.
  func fill(_ environment: PageFixture, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let keys = tables.map { table in
      (0..<table.keyCount).map { _ in
        random.pageBytes(Int.random(in: table.keySizes, using: &random))
      }
    }
    func run(_ range: Range<Int>) throws {
      for _ in range {
        try environment.write { transaction in
          for (table, keys) in zip(tables, keys) {
            try change(table, keys, transaction, &random)
          }
        }
      }
    }
    let third = transactions / 3
    try run(0..<third)
    try environment.read { _ in try run(third..<2 * third) }
    try run(2 * third..<transactions)
  }

  private func change(
    _ table: Table, _ keys: [[UInt8]], _ transaction: PageFixtureTransaction,
    _ random: inout SeededGenerator
  ) throws {
    let handle = try transaction.table(table.name, flags: table.flags | MDB_CREATE)
    guard !keys.isEmpty else { return }
    for _ in 0..<changesPerTransaction {
      let key = keys[Int.random(in: keys.indices, using: &random)]
      let value = random.pageBytes(Int.random(in: table.valueSizes, using: &random))
      if Int.random(in: 0..<100, using: &random) < deletesPerHundred {
        try transaction.delete(key, in: handle)
      } else {
        try transaction.put(value, forKey: key, in: handle)
      }
    }
  }
}

extension SeededGenerator {
  /// Random bytes, eight at a time: tests make megabytes of them.
  mutating func pageBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
