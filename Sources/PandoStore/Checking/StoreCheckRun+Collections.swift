import PandoLMDB
import PandoModels

extension StoreCheckRun {
  /// Every collection has its key in both tables, a whole list, and elements that the dependency
  /// index knows.
  mutating func checkCollections(_ reader: borrowing StoreReader, _ state: StoreState) throws {
    let names = try reader.snapshot.count(of: reader.tables.collectionNames)
    let total = try reader.snapshot.count(of: reader.tables.collections)
    if names != total { try note("collections", "\(names) names for \(total) keys") }
    var numbers: Set<UInt64> = []
    try reader.snapshot.scan(reader.tables.collections) { key, value in
      try noting { run in
        let cacheKey = try StoreReader.text(key, "a cache key")
        guard let number = ByteFields.littleEndian(value, at: 0, width: 8), value.count == 8 else {
          return try run.note(cacheKey, "its collection row is malformed")
        }
        run.count { $0.collectionCount += 1 }
        if number >= state.nextCollection || !numbers.insert(number).inserted {
          try run.note(cacheKey, "its number \(number) is taken or has not been given out")
        }
        if try !reader.cacheKey(ofCollection: number).hasSameBytes(as: cacheKey) {
          try run.note(cacheKey, "its number leads back to another cache key")
        }
        try run.checkElements(of: cacheKey, number, reader)
      }
      tell(.collections, report.collectionCount, of: total)
      return true
    }
    try checkLooseRows(reader, numbers)
  }

  private mutating func checkElements(
    of cacheKey: String, _ number: UInt64, _ reader: borrowing StoreReader
  ) throws {
    let list = CountedList(table: reader.tables.elements, number: number)
    var occurrences: [UInt64: Int] = [:]
    do {
      _ = try list.checkInvariants(in: reader.snapshot)
      try list.forEach(of: reader.snapshot) { _, bytes in
        let element = try CollectionElement(bytes, of: cacheKey)
        if case .value(let body) = element { try RecordBody.validate(body.span) }
        for child in try element.children() { occurrences[child, default: 0] += 1 }
        count { $0.elementCount += 1 }
        return true
      }
    } catch let error as CountedListError {
      return try note(cacheKey, "\(error)")
    } catch let error as ModelError {
      return try note(cacheKey, "an element can't be read: \(error)")
    }
    for (child, count) in occurrences {
      guard let row = try reader.summary(of: child) else {
        try note(cacheKey, "it lists node \(child), which does not exist")
        continue
      }
      if try reader.occurrenceCount(of: child, inCollection: number) != count {
        try note(cacheKey, "the dependency index does not count \(row.identifier) \(count) times")
      }
      self.count { $0.edgeCount += 1 }
    }
  }

  /// No list has rows without a collection that owns it.
  private mutating func checkLooseRows(
    _ reader: borrowing StoreReader, _ numbers: Set<UInt64>
  ) throws {
    var last: UInt64?
    try reader.snapshot.scan(reader.tables.elements) { key, _ in
      guard let number = ByteFields.bigEndian(key, at: 0) else {
        try note("elements", "a key has \(key.count) bytes instead of 16")
        return true
      }
      if number != last, !numbers.contains(number) {
        try note("collection \(number)", "it has elements but no cache key")
      }
      last = number
      return true
    }
  }
}
