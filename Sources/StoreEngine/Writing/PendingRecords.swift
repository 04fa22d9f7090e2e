import ModelCore

/// The records of one tree, encoded but not yet stored: if a part of the tree is refused, nothing of
/// it has been written.
struct PendingRecords {
  struct Record {
    let reference: RecordReference
    let identifier: String
    /// Whether the node had no number before this tree came.
    let isNewNode: Bool
    /// The model, where it came as one and not as an untyped tree.
    let value: (any SimpleModel)?
    fileprivate let body: Range<Int>
    let edges: [RecordEdge]
  }

  private(set) var records: [Record] = []
  /// Whether an identifier came more than once.
  var hasRepeatedNodes = false
  /// All bodies, one after another.
  private var bytes: [UInt8] = []

  mutating func append(
    _ reference: RecordReference, identifier: String, isNewNode: Bool = false,
    value: (any SimpleModel)? = nil, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: body)
    records.append(
      Record(
        reference: reference, identifier: identifier, isNewNode: isNewNode, value: value,
        body: start..<bytes.count, edges: edges))
  }

  func body(of record: Record) -> ArraySlice<UInt8> { bytes[record.body] }

  /// The records that count: of two for one node and type the later one.
  ///
  /// - Parameter report: Called when a record replaces one whose content differs.
  /// - Returns: The records that are to be stored, in traversal order.
  func effective(_ report: (Record) throws -> Void) rethrows -> [Record] {
    guard hasRepeatedNodes else { return records }
    var last: [RecordReference: Int] = [:]
    for (index, record) in records.enumerated() {
      if let earlier = last.updateValue(index, forKey: record.reference),
        body(of: records[earlier]) != body(of: record)
      {
        try report(record)
      }
    }
    return records.enumerated().filter { last[$1.reference] == $0 }.map(\.element)
  }
}
