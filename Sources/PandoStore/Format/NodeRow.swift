import PandoRecords

/// A node with all its records: a value of the `nodes` table, read in place.
///
/// ```
/// offset 0       1        2           6               6 + 24·n
///        ┌───────┬────────┬───────────┬───────────────┬────────────────────┬──────────┐
///        │ flags │ n      │ bytes of  │ n records,    │ identifier (UTF-8) │ n bodies │
///        │       │        │ identifier│ 24 bytes each │                    │ (CBOR)   │
///        └───────┴────────┴───────────┴───────────────┴────────────────────┴──────────┘
/// flags: bit 0 = asked for (set as a root or listed by a collection at some time)
///
/// a record: 0      2      4                8               16         24
///           ┌──────┬──────┬────────────────┬───────────────┬──────────┐
///           │ type │ 0    │ bytes of body  │ commit number │ checksum │
///           └──────┴──────┴────────────────┴───────────────┴──────────┘
/// ```
///
/// Integers are little-endian. Records and bodies are sorted by type number; the bodies are
/// adjacent. Commit number and checksum are a `RecordHeader`.
///
/// All records of a node are in one row because they are written together: a change of one also
/// changes the others. Nodes that were stored together have successive numbers, so a tree is mostly
/// read from one page.
struct NodeRow: ~Escapable {
  /// The most projections that one node can have.
  ///
  /// The count is one byte; real nodes have fewer than ten.
  static let typeCountMaximum = 255
  static let fixedByteCount = 6
  static let entryByteCount = 24
  /// The offset of a record's header in its entry.
  static let headerOffset = 8

  private let bytes: Span<UInt8>
  /// The number of records.
  let recordCount: Int
  private let identifierByteCount: Int

  /// Reads a row.
  ///
  /// - Throws: ``StoreError`` `damaged` if the stated sizes do not match the row.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, node: UInt64) throws {
    guard bytes.count >= Self.fixedByteCount, bytes[0] <= 1 else {
      throw Self.malformed(node, bytes.count)
    }
    // In bounds by the line above; the following reads by the checks before them.
    let identifierByteCount = Int(unsafe bytes.bytes.integer(at: 2, as: UInt32.self))
    let recordCount = Int(bytes[1])
    self.bytes = bytes
    self.recordCount = recordCount
    self.identifierByteCount = identifierByteCount
    var expected = Self.fixedByteCount + Self.entryByteCount * recordCount
    guard bytes.count >= expected else { throw Self.malformed(node, bytes.count) }
    expected += identifierByteCount
    for index in 0..<recordCount { expected += bodyByteCount(index) }
    guard bytes.count == expected else { throw Self.malformed(node, bytes.count) }
  }

  /// The record of a type in a row that has no other one, as most rows have; `nil` for any other row.
  ///
  /// It reads and checks at once what ``init(_:node:)``, ``index(ofType:)``, ``header(_:)`` and ``body(_:)`` do.
  ///
  /// - Returns: The header, and the offset of the body, which goes to the end of the row.
  @inline(__always)
  static func onlyRecord(
    ofType type: UInt32, in row: Span<UInt8>
  ) -> (header: RecordHeader, bodyStart: Int)? {
    let identifierStart = fixedByteCount + entryByteCount
    guard row.count >= identifierStart else { return nil }
    // In bounds by the line above.
    let bytes = unsafe row.bytes
    guard row[0] <= 1, row[1] == 1,
      UInt32(unsafe bytes.integer(at: fixedByteCount, as: UInt16.self)) == type
    else { return nil }
    let bodyStart = identifierStart + Int(unsafe bytes.integer(at: 2, as: UInt32.self))
    let bodyByteCount = Int(unsafe bytes.integer(at: fixedByteCount + 4, as: UInt32.self))
    guard row.count == bodyStart + bodyByteCount else { return nil }
    let header = unsafe RecordHeader(
      commitNumber: bytes.integer(at: fixedByteCount + headerOffset, as: UInt64.self),
      checksum: bytes.integer(at: fixedByteCount + headerOffset + 8, as: UInt64.self))
    return (header, bodyStart)
  }

  private static func malformed(_ node: UInt64, _ byteCount: Int) -> StoreError {
    .damaged("node \(node)", "its row of \(byteCount) bytes is malformed")
  }

  var byteCount: Int { bytes.count }

  var isAskedFor: Bool { bytes[0] == 1 }

  /// The identifier's UTF-8, unchecked.
  var identifierBytes: Span<UInt8> {
    @_lifetime(copy self)
    get {
      let start = Self.fixedByteCount + Self.entryByteCount * recordCount
      return bytes.extracting(start..<(start + identifierByteCount))
    }
  }

  @inline(__always)
  private func offset(_ index: Int) -> Int {
    precondition(index >= 0 && index < recordCount, "record \(index) of \(recordCount)")
    return Self.fixedByteCount + Self.entryByteCount * index
  }

  /// The type number of a record.
  @inline(__always)
  func type(_ index: Int) -> UInt32 {
    UInt32(unsafe bytes.bytes.integer(at: offset(index), as: UInt16.self))
  }

  /// The commit number and checksum of a record.
  @inline(__always)
  func header(_ index: Int) -> RecordHeader {
    let start = offset(index) + Self.headerOffset
    return unsafe RecordHeader(
      commitNumber: bytes.bytes.integer(at: start, as: UInt64.self),
      checksum: bytes.bytes.integer(at: start + 8, as: UInt64.self))
  }

  @inline(__always)
  private func bodyByteCount(_ index: Int) -> Int {
    Int(unsafe bytes.bytes.integer(at: offset(index) + 4, as: UInt32.self))
  }

  /// The body of a record; its checksum is not checked.
  @_lifetime(copy self)
  @inline(__always)
  func body(_ index: Int) -> Span<UInt8> {
    let count = bodyByteCount(index)
    var start = Self.fixedByteCount + Self.entryByteCount * recordCount + identifierByteCount
    for earlier in 0..<index { start += bodyByteCount(earlier) }
    return bytes.extracting(start..<(start + count))
  }

  /// The index of the record of a type; `nil` if there is none.
  @inline(__always)
  func index(ofType type: UInt32) -> Int? {
    for index in 0..<recordCount where self.type(index) == type { return index }
    return nil
  }

  /// The index of the record with the highest commit number, and then the lowest type number; `nil`
  /// if there is none.
  var newestIndex: Int? {
    var newest: Int?
    for index in 0..<recordCount {
      if let found = newest, header(found).commitNumber >= header(index).commitNumber { continue }
      newest = index
    }
    return newest
  }

  /// The type numbers, in row order.
  var types: [UInt32] { (0..<recordCount).map { type($0) } }

  /// The identifier.
  ///
  /// - Throws: ``StoreError`` `damaged` if it is not UTF-8.
  func identifier(node: UInt64) throws -> String {
    guard let identifier = String(validating: identifierBytes, as: UTF8.self) else {
      throw StoreError.damaged("node \(node)", "its identifier is not UTF-8")
    }
    return identifier
  }
}

extension RawSpan {
  /// A little-endian integer within bounds.
  @unsafe
  @inline(__always)
  fileprivate func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type
  ) -> Value {
    Value(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension String {
  /// Makes text from bytes in a row; `nil` if they are not valid UTF-8.
  init?(validating bytes: Span<UInt8>, as encoding: UTF8.Type) {
    guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: utf8)
  }
}

/// The fields of a ``NodeRow`` beside its records, independent of the row.
struct NodeSummary: Equatable {
  let identifier: String
  let isAskedFor: Bool
  /// The types of the node's records, in row order.
  let types: [UInt32]

  init(_ row: borrowing NodeRow, node: UInt64) throws {
    identifier = try row.identifier(node: node)
    isAskedFor = row.isAskedFor
    types = row.types
  }
}

/// Encodes values of the `nodes` table; ``NodeRow`` draws them.
enum NodeRowBytes {
  /// A record to write.
  struct Record {
    let type: UInt32
    let commitNumber: UInt64
    let body: ArraySlice<UInt8>

    fileprivate var header: RecordHeader {
      unsafe body.withUnsafeBytes { unsafe RecordHeader(commitNumber: commitNumber, body: $0) }
    }
  }

  /// The size of the row of a node with one record.
  static func byteCount(identifier: String, body: ArraySlice<UInt8>) -> Int {
    NodeRow.fixedByteCount + NodeRow.entryByteCount + identifier.utf8.count + body.count
  }

  /// Fills room of ``byteCount(identifier:body:)`` bytes with the row of a node with one record.
  static func write(
    identifier: String, isAskedFor: Bool, _ record: Record,
    to room: UnsafeMutableRawBufferPointer
  ) {
    let identifierStart = NodeRow.fixedByteCount + NodeRow.entryByteCount
    // In bounds: the room is large enough for all of them together.
    unsafe room.storeBytes(of: isAskedFor ? 1 : 0, toByteOffset: 0, as: UInt8.self)
    unsafe room.storeBytes(of: 1, toByteOffset: 1, as: UInt8.self)
    unsafe identifier.utf8Span.span.withUnsafeBytes { text in
      unsafe room.store(UInt32(text.count), at: 2)
      unsafe UnsafeMutableRawBufferPointer(rebasing: room[identifierStart...])
        .copyMemory(from: text)
      unsafe record.body.withUnsafeBytes { body in
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[(identifierStart + text.count)...])
          .copyMemory(from: body)
        unsafe room.storeEntry(
          record.type, body.count,
          RecordHeader(commitNumber: record.commitNumber, body: body), at: NodeRow.fixedByteCount)
      }
    }
  }

  /// The row with one record replaced or added.
  static func row(_ old: borrowing NodeRow, with record: Record) -> [UInt8] {
    let replaced = old.index(ofType: record.type)
    // The position of the record in type order.
    let position = (0..<old.recordCount).first { old.type($0) >= record.type } ?? old.recordCount
    let recordCount = old.recordCount + (replaced == nil ? 1 : 0)
    let identifierByteCount = old.identifierBytes.count
    var byteCount = old.byteCount + record.body.count
    byteCount += replaced.map { -old.body($0).count } ?? NodeRow.entryByteCount
    return unsafe Array(unsafeUninitializedCapacity: byteCount) { room, count in
      let row = UnsafeMutableRawBufferPointer(room)
      // In bounds: the room is large enough for all parts, written one after the other.
      unsafe row.storeBytes(of: old.isAskedFor ? 1 : 0, toByteOffset: 0, as: UInt8.self)
      unsafe row.storeBytes(of: UInt8(recordCount), toByteOffset: 1, as: UInt8.self)
      unsafe row.store(UInt32(identifierByteCount), at: 2)
      var end = NodeRow.fixedByteCount + NodeRow.entryByteCount * recordCount
      unsafe row.copy(old.identifierBytes, to: &end)
      var entry = NodeRow.fixedByteCount
      func add(_ type: UInt32, _ header: RecordHeader, _ body: Span<UInt8>) {
        unsafe row.storeEntry(type, body.count, header, at: entry)
        unsafe row.copy(body, to: &end)
        entry += NodeRow.entryByteCount
      }
      for index in 0...old.recordCount {
        if index == position { add(record.type, record.header, record.body.span) }
        if index == replaced || index == old.recordCount { continue }
        add(old.type(index), old.header(index), old.body(index))
      }
      count = byteCount
    }
  }

  /// Marks in a row that the node was asked for.
  static func markAskedFor(_ row: inout [UInt8]) { row[0] |= 1 }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a little-endian integer.
  fileprivate func store<Value: FixedWidthInteger & BitwiseCopyable>(
    _ value: Value, at offset: Int
  ) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  /// Stores the entry of a record.
  fileprivate func storeEntry(
    _ type: UInt32, _ bodyByteCount: Int, _ header: RecordHeader, at entry: Int
  ) {
    unsafe store(UInt16(type), at: entry)
    unsafe store(UInt16(0), at: entry + 2)
    unsafe store(UInt32(bodyByteCount), at: entry + 4)
    unsafe store(header.commitNumber, at: entry + NodeRow.headerOffset)
    unsafe store(header.checksum, at: entry + NodeRow.headerOffset + 8)
  }

  /// Copies bytes to an offset, and advances the offset.
  fileprivate func copy(_ bytes: Span<UInt8>, to offset: inout Int) {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: self[offset...]).copyMemory(from: bytes)
    }
    offset += bytes.count
  }
}
