import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoStore

@Suite struct CountedListDamageTests {
  typealias Row = CountedList.Row

  /// Sets the checksum of a row anew, as if the list had written these bytes.
  private func sealed(_ bytes: [UInt8], _ list: CountedList, block: UInt64) -> [UInt8] {
    var bytes = bytes
    guard bytes.count >= 8 else { return bytes }
    let sum = CountedList.checksum(
      of: bytes.span.extracting(8...), list: list.number, block: block)
    for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
    return bytes
  }

  private func block(_ key: [UInt8]) -> UInt64 { key[8...].reduce(0) { $0 << 8 | UInt64($1) } }

  private func leaf(_ number: UInt64) -> UInt64 { CountedList.leafBit | number }

  /// Does everything a list can do; whatever it throws must be an error of the list.
  private func useAll(_ list: CountedList, in transaction: inout WriteTransaction) throws -> Int {
    var errorCount = 0
    func attempt(_ body: (inout WriteTransaction) throws -> Void) throws {
      struct Undo: Error {}
      do {
        try transaction.nested { transaction in
          try body(&transaction)
          throw Undo()
        }
      } catch is Undo {
      } catch is CountedListError {
        errorCount += 1
      }
    }
    let element: [UInt8] = [1, 2, 3]
    try attempt { try list.checkInvariants(in: $0.snapshot) }
    try attempt { try list.forEach(of: $0.snapshot) { _, _ in true } }
    let count = (try? list.count(in: transaction.snapshot)) ?? 0
    for index in [0, count / 3, count - 1] where index >= 0 && index < count {
      try attempt { _ = try list.element(at: index, in: $0.snapshot) }
      try attempt { try list.insert(element.span, at: index, in: &$0) }
      try attempt { try list.remove(in: index..<(index + 1), in: &$0) }
      try attempt { try list.remove(in: 0..<index, in: &$0) }
      try attempt { try list.remove(in: (index / 2)..<index, in: &$0) }
    }
    try attempt { try list.append(contentsOf: smallElements(0..<5_000), in: &$0) }
    try attempt { try list.edit(in: &$0) { index, _ in index % 3 == 0 ? .remove : .keep } }
    try attempt { transaction in
      try list.removeAll(in: &transaction)
      #expect(try list.count(in: transaction.snapshot) == 0)
    }
    return errorCount
  }

  @Test(arguments: seeds(4))
  func `any changed byte is noticed`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let rows = try list.rows(in: transaction.snapshot).sorted {
        $0.key.lexicographicallyPrecedes($1.key)
      }
      for _ in 0..<60 {
        guard let (key, value) = rows.randomElement(using: &random) else { return }
        var bytes = value
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try transaction.put(bytes.span, forKey: key.span, in: list.table)
        #expect(throws: CountedListError.self, "seed \(seed), byte \(index) of block \(block(key))")
        {
          try list.forEach(of: transaction.snapshot) { _, _ in true }
        }
        try transaction.put(value.span, forKey: key.span, in: list.table)
      }
      try list.checkInvariants(in: transaction.snapshot)
    }
  }

  @Test(arguments: seeds(6))
  func `bytes with a right checksum never stop the process`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let rows = try list.rows(in: transaction.snapshot).sorted {
        $0.key.lexicographicallyPrecedes($1.key)
      }
      // The root, the first and the last row above the leaves, and the first and the last leaf of
      // the list as it was built: rows on the way to the positions that are used.
      let firstLeaf = rows.firstIndex { $0.value[26] == 0 } ?? 0
      let places = [0, 1, firstLeaf - 1, firstLeaf, rows.count - 1]
      for step in 0..<15 {
        let (key, value) = rows[places[step % places.count]]
        var bytes = value
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let end = Bool.random(using: &random) ? bytes.count : min(bytes.count, 60)
          bytes[Int.random(in: 8..<end, using: &random)] =
            [0, 1, 2, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
          bytes.removeLast(Int.random(in: 0...(bytes.count - 1), using: &random))
        }
        bytes = sealed(bytes, list, block: block(key))
        try transaction.put(bytes.span, forKey: key.span, in: list.table)
        let errorCount = try useAll(list, in: &transaction)
        if bytes.dropFirst(28).count != value.count - 28 { #expect(errorCount > 0) }
        try transaction.put(value.span, forKey: key.span, in: list.table)
      }
      try list.checkInvariants(in: transaction.snapshot)
    }
  }

  @Test func `entries that lead to the same rows never stop the process`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: repeatElement([1, 2, 3, 4], count: 30_000), in: &transaction)
      let rows = try list.rows(in: transaction.snapshot)
      for (key, value) in rows where value[26] > 0 {
        var bytes = value
        // The second child is the first once more; both have as many elements.
        bytes.replaceSubrange(44..<60, with: bytes[28..<44])
        bytes = sealed(bytes, list, block: block(key))
        try transaction.put(bytes.span, forKey: key.span, in: list.table)
        #expect(throws: CountedListError.self) {
          try list.checkInvariants(in: transaction.snapshot)
        }
        _ = try useAll(list, in: &transaction)
        try transaction.put(value.span, forKey: key.span, in: list.table)
      }
    }
  }

  @Test func `a missing row is named`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let key = list.key(ofBlock: leaf(3))
      try transaction.delete(key: key.span, in: list.table)
      let error = CountedListError.damaged(list: 7, block: leaf(3), reason: "the row is missing")
      #expect(throws: error) { try list.forEach(of: transaction.snapshot) { _, _ in true } }
      #expect(throws: error) { try list.checkInvariants(in: transaction.snapshot) }
      #expect("\(error)" == "list 7, leaf 3 is damaged: the row is missing")
      #expect(try useAll(list, in: &transaction) > 0)
    }
  }

  @Test func `a row under the key of another is not taken`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: repeatElement([1, 2, 3, 4], count: 30_000), in: &transaction)
      let second = list.key(ofBlock: leaf(2))
      let bytes = try list.row(leaf(1), in: transaction.snapshot)
      try transaction.put(bytes.span, forKey: second.span, in: list.table)
      #expect(
        throws: CountedListError.damaged(list: 7, block: leaf(2), reason: "wrong checksum")
      ) {
        try list.forEach(of: transaction.snapshot) { _, _ in true }
      }
    }
  }

  @Test func `a row that nothing leads to is found`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: [[1], [2]], in: &transaction)
      let key = list.key(ofBlock: 99)
      try transaction.put([1, 2, 3].span, forKey: key.span, in: list.table)
      #expect(
        throws: CountedListError.damaged(
          list: 7, block: 99, reason: "no row leads to this one")
      ) {
        try list.checkInvariants(in: transaction.snapshot)
      }
    }
  }

  @Test func `a block is never given twice`() throws {
    try withList { list, transaction in
      try list.append(contentsOf: smallElements(0..<30_000), in: &transaction)
      let key = list.key(ofBlock: CountedList.rootBlock)
      var root = try list.row(CountedList.rootBlock, in: transaction.snapshot)
      root.replaceSubrange(16..<24, with: [2, 0, 0, 0, 0, 0, 0, 0])
      root = sealed(root, list, block: CountedList.rootBlock)
      try transaction.put(root.span, forKey: key.span, in: list.table)
      #expect(
        throws: CountedListError.damaged(
          list: 7, block: leaf(2), reason: "the block was given before")
      ) {
        try list.append(contentsOf: smallElements(0..<1_000), in: &transaction)
      }
    }
  }

  @Test func `neighbours that are nearly empty are found`() throws {
    try withList { list, transaction in
      let run = try CountedList.Run(elements: [[1], [2]])
      for block in [leaf(1), leaf(2)] {
        try put(run, list, block: block, nextBlock: 0, in: &transaction)
      }
      let root = CountedList.Run(
        level: 1,
        entries: [.init(block: leaf(1), elementCount: 2), .init(block: leaf(2), elementCount: 2)])
      try put(root, list, block: 0, nextBlock: 3, in: &transaction)
      #expect(try list.elements(in: transaction.snapshot) == [[1], [2], [1], [2]])
      #expect(
        throws: CountedListError.damaged(
          list: 7, block: leaf(2), reason: "this leaf and the one before it are underfull")
      ) {
        try list.checkInvariants(in: transaction.snapshot)
      }
      // The next change there repairs it.
      try list.remove(in: 1..<2, in: &transaction)
      #expect(try list.elements(in: transaction.snapshot) == [[1], [1], [2]])
      #expect(try list.checkInvariants(in: transaction.snapshot).leafCount == 1)
    }
  }

  private func put(
    _ run: CountedList.Run, _ list: CountedList, block: UInt64, nextBlock: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let piece = try #require(run.pieces(.even).first)
    let bytes = Row.bytes(
      of: piece, in: run, list: list.number, block: block, nextBlock: nextBlock)
    let key = list.key(ofBlock: block)
    try transaction.put(bytes.span, forKey: key.span, in: list.table)
  }
}
