import ModelCore

/// The records of one tree, encoded but not yet stored: if a part of the tree is refused, nothing of
/// it has been written.
struct PendingRecords {
  struct Record {
    let reference: RecordReference
    let identifier: String
    /// The model, where it came as one and not as an untyped tree.
    let value: (any SimpleModel)?
    fileprivate let body: Range<Int>
    let edges: [RecordEdge]
  }

  private(set) var records: [Record] = []
  /// All bodies, one after another.
  private var bytes: [UInt8] = []

  mutating func append(
    _ reference: RecordReference, identifier: String, value: (any SimpleModel)?,
    body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: body)
    records.append(
      Record(
        reference: reference, identifier: identifier, value: value, body: start..<bytes.count,
        edges: edges))
  }

  func body(of record: Record) -> ArraySlice<UInt8> { bytes[record.body] }
}
