import ModelCore

/// Makes values of the `nodes` table; ``NodeRow`` draws them.
enum NodeRowBytes {
  /// One record to be written.
  struct Record {
    let type: UInt32
    let commitNumber: UInt64
    let body: ArraySlice<UInt8>
  }

  /// Replaces the contents of a buffer by the row of a node with one record.
  static func make(
    identifier: String, isAskedFor: Bool, _ record: Record, in row: inout [UInt8]
  ) {
    row.removeAll(keepingCapacity: true)
    appendStart(
      isAskedFor: isAskedFor, recordCount: 1, identifierByteCount: identifier.utf8.count, to: &row)
    appendEntry(record, to: &row)
    row.append(contentsOf: identifier.utf8)
    row.append(contentsOf: record.body)
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
