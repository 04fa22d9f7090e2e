import Pando
import PandoLMDB

/// The key-value workloads on the module `PandoLMDB`.
final class PandoDatabase: KeyValueDatabase {
  private let environment: Environment
  private let table: RawTable

  init(path: String, mapSizeInBytes: Int, _ durability: Durability) throws {
    var configuration = Environment.Configuration()
    configuration.mapSizeInBytes = mapSizeInBytes
    configuration.durability = durability
    environment = try Environment(path: path, configuration: configuration)
    table = try environment.rawTable("rows")
  }

  func makeSession() throws -> any KeyValueSession { PandoSession(environment, table) }

  func settle() throws { try environment.sync() }

  func close() { environment.close() }
}

private struct PandoSession: KeyValueSession {
  private let environment: Environment
  private let table: RawTable

  init(_ environment: Environment, _ table: RawTable) {
    self.environment = environment
    self.table = table
  }

  func write(
    _ rows: KeyValueRows, _ order: [UInt32], rowsPerCommit: Int, _ latencies: Latencies?
  ) throws {
    let latencies = latencies ?? Latencies(stride: order.count + 1)
    if rowsPerCommit == 1 {
      for row in order {
        try latencies.time {
          try environment.write { try put(rows, Int(row), &$0) }
        }
      }
      return
    }
    for start in stride(from: 0, to: order.count, by: rowsPerCommit) {
      try environment.write { transaction in
        for row in order[start..<min(start + rowsPerCommit, order.count)] {
          try latencies.time { try put(rows, Int(row), &transaction) }
        }
      }
    }
  }

  @inline(__always)
  private func put(
    _ rows: KeyValueRows, _ row: Int, _ transaction: inout WriteTransaction
  ) throws {
    let (keys, values) = (rows.keys, rows.values)
    try transaction.put(
      values.span.row(row, of: rows.valueByteCount),
      forKey: keys.span.row(row, of: rows.keyByteCount), in: table)
  }

  func read(_ keys: KeyValueKeys, each: Bool, _ latencies: Latencies?) throws -> KeyValueSeen {
    let latencies = latencies ?? Latencies(stride: keys.count + 1)
    return each ? try readEach(keys, latencies) : try readAll(keys, latencies)
  }

  private func readAll(
    _ keys: KeyValueKeys, _ latencies: Latencies
  ) throws -> KeyValueSeen {
    let (count, size, block) = (keys.count, keys.keyByteCount, keys.bytes)
    return try environment.read { snapshot in
      let keys = block.span
      var seen = KeyValueSeen(checksum: 0, count: 0)
      for index in 0..<count {
        try latencies.time {
          let key = keys.row(index, of: size)
          if let value = try snapshot.bytes(forKey: key, in: table) { seen.addFound(value) }
        }
      }
      return seen
    }
  }

  private func readEach(
    _ keys: KeyValueKeys, _ latencies: Latencies
  ) throws -> KeyValueSeen {
    let (count, size, block) = (keys.count, keys.keyByteCount, keys.bytes)
    var seen = KeyValueSeen(checksum: 0, count: 0)
    for index in 0..<count {
      try latencies.time {
        try environment.read { snapshot in
          let key = block.span.row(index, of: size)
          if let value = try snapshot.bytes(forKey: key, in: table) { seen.addFound(value) }
        }
      }
    }
    return seen
  }

  func walk(reversed: Bool, _ latencies: Latencies?) throws -> KeyValueSeen {
    let latencies = latencies ?? Latencies(stride: 1 << 30)
    return try environment.read { snapshot in
      var seen = KeyValueSeen(checksum: 0, count: 0)
      var cursor = try snapshot.cursor(in: table)
      while try latencies.time({ try step(&cursor, reversed, &seen) }) {}
      return seen
    }
  }

  @inline(__always)
  private func step(
    _ cursor: inout Cursor, _ reversed: Bool, _ seen: inout KeyValueSeen
  ) throws -> Bool {
    let isFound = reversed ? try cursor.moveToPrevious() : try cursor.moveToNext()
    guard isFound, let key = cursor.key, let value = cursor.value else { return false }
    seen.addRow(key, value)
    return true
  }

  func seek(_ keys: KeyValueKeys, rowCount: Int, _ latencies: Latencies?) throws -> KeyValueSeen {
    let (count, size, block) = (keys.count, keys.keyByteCount, keys.bytes)
    let latencies = latencies ?? Latencies(stride: count + 1)
    return try environment.read { snapshot in
      let keys = block.span
      var seen = KeyValueSeen(checksum: 0, count: 0)
      var cursor = try snapshot.cursor(in: table)
      for index in 0..<count {
        try latencies.time {
          let key = keys.row(index, of: size)
          var isFound = try cursor.move(toFirstNotBelow: key)
          for _ in 0..<rowCount {
            guard isFound, let key = cursor.key, let value = cursor.value else { break }
            seen.addRow(key, value)
            isFound = try cursor.moveToNext()
          }
        }
      }
      return seen
    }
  }

  func hash() throws -> UInt64 {
    try environment.read { snapshot in
      var fingerprint = Fingerprint()
      try snapshot.scan(table) { key, value in
        fingerprint.add(key)
        fingerprint.add(value)
        return true
      }
      return fingerprint.value
    }
  }
}

extension Span<UInt8> {
  /// The bytes of one row of a block of rows.
  @_lifetime(copy self)
  @inline(__always)
  fileprivate func row(_ index: Int, of byteCount: Int) -> Span<UInt8> {
    extracting(index * byteCount..<(index + 1) * byteCount)
  }
}

extension KeyValueSeen {
  /// Adds a value of at least 8 bytes.
  @inline(__always)
  fileprivate mutating func addFound(_ value: Span<UInt8>) {
    checksum.add(value)
    count += 1
  }

  /// Adds a key and its value.
  @inline(__always)
  fileprivate mutating func addRow(_ key: Span<UInt8>, _ value: Span<UInt8>) {
    checksum.add(key)
    addFound(value)
  }
}

extension UInt64 {
  /// As `checksum_add` in C.
  @inline(__always)
  fileprivate mutating func add(_ value: Span<UInt8>) {
    let bytes = value.bytes
    let first = bytes.unsafeLoadUnaligned(as: UInt64.self)
    let last = bytes.unsafeLoadUnaligned(fromByteOffset: value.count - 8, as: UInt64.self)
    self = self &* 31 &+ first &+ last &+ UInt64(value.count)
  }
}
