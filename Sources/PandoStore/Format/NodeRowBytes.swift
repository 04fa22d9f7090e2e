import PandoModels

/// Makes values of the `nodes` table; ``NodeRow`` draws them.
enum NodeRowBytes {
  /// One record to be written.
  struct Record {
    let type: UInt32
    let commitNumber: UInt64
    let body: ArraySlice<UInt8>
  }

  /// How many bytes the row of a node with one record has.
  static func byteCount(identifier: String, body: ArraySlice<UInt8>) -> Int {
    NodeRow.fixedByteCount + NodeRow.entryByteCount + identifier.utf8.count + body.count
  }

  /// Fills room of ``byteCount(identifier:body:)`` bytes with the row of a node with one record.
  static func write(
    identifier: String, isAskedFor: Bool, _ record: Record,
    to room: UnsafeMutableRawBufferPointer
  ) {
    let identifierStart = NodeRow.fixedByteCount + NodeRow.entryByteCount
    // All are in bounds: there is room for all of them together.
    unsafe room.storeBytes(of: isAskedFor ? 1 : 0, toByteOffset: 0, as: UInt8.self)
    unsafe room.storeBytes(of: 1, toByteOffset: 1, as: UInt8.self)
    unsafe identifier.utf8Span.span.withUnsafeBytes { text in
      unsafe room.store(UInt32(text.count), at: 2)
      unsafe UnsafeMutableRawBufferPointer(rebasing: room[identifierStart...])
        .copyMemory(from: text)
      unsafe record.body.withUnsafeBytes { body in
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[(identifierStart + text.count)...])
          .copyMemory(from: body)
        let header = unsafe RecordHeader(commitNumber: record.commitNumber, body: body)
        let entry = NodeRow.fixedByteCount
        unsafe room.store(UInt16(record.type), at: entry)
        unsafe room.store(UInt16(0), at: entry + 2)
        unsafe room.store(UInt32(body.count), at: entry + 4)
        unsafe room.store(header.commitNumber, at: entry + NodeRow.headerOffset)
        unsafe room.store(header.checksum, at: entry + NodeRow.headerOffset + 8)
      }
    }
  }

  /// The row with a record replaced or added.
  static func row(_ old: borrowing NodeRow, with record: Record) -> [UInt8] {
    let replaced = old.index(ofType: record.type)
    var row: [UInt8] = []
    let identifier = old.identifierBytes
    appendStart(
      isAskedFor: old.isAskedFor, recordCount: old.recordCount + (replaced == nil ? 1 : 0),
      identifierByteCount: identifier.count, to: &row)
    // Where the record comes in the order of type numbers.
    let place = (0..<old.recordCount).first { old.type($0) >= record.type } ?? old.recordCount
    for index in 0..<old.recordCount {
      if index == place { appendEntry(record, to: &row) }
      if index == replaced { continue }
      let body = old.body(index)
      appendEntry(type: old.type(index), bodyByteCount: body.count, old.header(index), to: &row)
    }
    if place == old.recordCount { appendEntry(record, to: &row) }
    append(identifier, to: &row)
    for index in 0..<old.recordCount {
      if index == place { row.append(contentsOf: record.body) }
      if index == replaced { continue }
      let body = old.body(index)
      append(body, to: &row)
    }
    if place == old.recordCount { row.append(contentsOf: record.body) }
    return row
  }

  /// A row that says of itself that the node was asked for.
  static func markAskedFor(_ row: inout [UInt8]) { row[0] |= 1 }

  private static func appendStart(
    isAskedFor: Bool, recordCount: Int, identifierByteCount: Int, to row: inout [UInt8]
  ) {
    row.append(isAskedFor ? 1 : 0)
    row.append(UInt8(recordCount))
    append(UInt32(identifierByteCount), to: &row)
  }

  private static func appendEntry(_ record: Record, to row: inout [UInt8]) {
    let header = unsafe record.body.withUnsafeBytes { body in
      unsafe RecordHeader(commitNumber: record.commitNumber, body: body)
    }
    appendEntry(type: record.type, bodyByteCount: record.body.count, header, to: &row)
  }

  private static func appendEntry(
    type: UInt32, bodyByteCount: Int, _ header: RecordHeader, to row: inout [UInt8]
  ) {
    append(UInt16(type), to: &row)
    append(UInt16(0), to: &row)
    append(UInt32(bodyByteCount), to: &row)
    append(header.commitNumber, to: &row)
    append(header.checksum, to: &row)
  }

  private static func append(_ value: some FixedWidthInteger, to row: inout [UInt8]) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe row.append(contentsOf: $0) }
  }

  private static func append(_ bytes: Span<UInt8>, to row: inout [UInt8]) {
    // Read during the call only.
    unsafe bytes.withUnsafeBytes { unsafe row.append(contentsOf: $0) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores an integer, little endian.
  fileprivate func store<Value: FixedWidthInteger & BitwiseCopyable>(
    _ value: Value, at offset: Int
  ) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
