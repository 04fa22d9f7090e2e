import Pando

/// The key-value workloads on Pando's `LMDB` module.
struct PandoTable {
  private let environment: Environment
  private let table: RawTable

  init(path: String, mapSizeInBytes: Int) throws {
    var configuration = Environment.Configuration()
    configuration.mapSizeInBytes = mapSizeInBytes
    environment = try Environment(path: path, configuration: configuration)
    table = try environment.rawTable("rows")
  }

  /// Stores all rows in one write transaction, in the order given, and commits durably.
  func put(_ data: KeyValueData) throws {
    try environment.write { transaction in
      let keys = data.keys.span
      let values = data.values.span
      for index in 0..<data.count {
        try transaction.put(
          values.row(index, of: KeyValueData.valueByteCount),
          forKey: keys.row(index, of: KeyValueData.keyByteCount), in: table)
      }
    }
  }

  /// Looks all keys up inside one read transaction.
  func get(_ data: KeyValueData) throws -> UInt64 {
    try environment.read { snapshot in
      let keys = data.lookups.span
      var checksum: UInt64 = 0
      for index in 0..<data.count {
        let key = keys.row(index, of: KeyValueData.keyByteCount)
        guard let value = try snapshot.bytes(forKey: key, in: table) else { throw missing(index) }
        checksum.add(value)
      }
      return checksum
    }
  }

  /// Looks each key up in a read transaction of its own.
  func getEach(_ data: KeyValueData) throws -> UInt64 {
    let keys = data.lookups
    var checksum: UInt64 = 0
    for index in 0..<data.count {
      try environment.read { snapshot in
        let key = keys.span.row(index, of: KeyValueData.keyByteCount)
        guard let value = try snapshot.bytes(forKey: key, in: table) else { throw missing(index) }
        checksum.add(value)
      }
    }
    return checksum
  }

  /// Walks the table in key order.
  func scan() throws -> (count: Int, checksum: UInt64) {
    try environment.read { snapshot in
      var count = 0
      var checksum: UInt64 = 0
      try snapshot.scan(table) { key, value in
        checksum.add(key)
        checksum.add(value)
        count += 1
        return true
      }
      return (count, checksum)
    }
  }

  /// A hash of every byte of every row, in key order (FNV-1a).
  func fingerprint() throws -> UInt64 {
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

  func close() { environment.close() }

  private func missing(_ index: Int) -> BenchmarkError {
    BenchmarkError(.wrongResult, "Pando does not find key \(index)")
  }
}

extension Span<UInt8> {
  /// The bytes of one row of a block of rows.
  @_lifetime(copy self)
  fileprivate func row(_ index: Int, of byteCount: Int) -> Span<UInt8> {
    extracting(index * byteCount..<(index + 1) * byteCount)
  }
}

extension UInt64 {
  /// Adds a value of at least 8 bytes; the order of values counts.
  fileprivate mutating func add(_ value: Span<UInt8>) {
    let bytes = value.bytes
    let first = bytes.unsafeLoadUnaligned(as: UInt64.self)
    let last = bytes.unsafeLoadUnaligned(fromByteOffset: value.count - 8, as: UInt64.self)
    self = self &* 31 &+ first &+ last &+ UInt64(value.count)
  }
}
