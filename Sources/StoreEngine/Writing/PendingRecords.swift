import ModelCore

/// The records of one tree, encoded but not yet stored: if a part of the tree is refused, nothing of
/// it has been written.
struct PendingRecords {
  struct Record {
    let reference: RecordReference
    let identifier: String
    /// Whether the node had no number before this tree came.
    let isNewNode: Bool
    /// The model, where it came as one and was asked for.
    let value: (any SimpleModel)?
    fileprivate let body: Range<Int>
    fileprivate let edges: Range<Int>
  }

  private(set) var records: [Record] = []
  /// Whether an identifier came more than once.
  var hasRepeatedNodes = false
  /// All bodies, one after another.
  private var bytes: [UInt8] = []
  /// All edges, one record's after another's.
  private var edges: [RecordEdge] = []

  /// The room that is kept for the next tree.
  private static let keptByteCountMaximum = 1 << 20

  mutating func append(
    _ reference: RecordReference, identifier: String, isNewNode: Bool = false,
    value: (any SimpleModel)? = nil, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) {
    let bodyStart = bytes.count
    let edgeStart = self.edges.count
    unsafe bytes.append(contentsOf: body)
    self.edges.append(contentsOf: edges)
    records.append(
      Record(
        reference: reference, identifier: identifier, isNewNode: isNewNode, value: value,
        body: bodyStart..<bytes.count, edges: edgeStart..<self.edges.count))
  }

  /// Forgets all records and keeps the room for them.
  mutating func removeAll() {
    guard bytes.count <= Self.keptByteCountMaximum else {
      self = PendingRecords()
      return
    }
    records.removeAll(keepingCapacity: true)
    hasRepeatedNodes = false
    bytes.removeAll(keepingCapacity: true)
    edges.removeAll(keepingCapacity: true)
  }

  func body(of record: Record) -> ArraySlice<UInt8> { bytes[record.body] }

  /// An edge for each distinct child of a record, sorted by child.
  func edges(of record: Record) -> ArraySlice<RecordEdge> { edges[record.edges] }

  /// The records of new nodes, in the order of their numbers.
  var newRecordsByNumber: [Record] {
    // A tree of one node, or one whose children are stored, needs no sorting.
    var isSorted = true
    for index in records.indices.dropFirst()
    where records[index - 1].reference.node > records[index].reference.node { isSorted = false }
    let new = records.filter(\.isNewNode)
    return isSorted ? new : new.sorted { $0.reference.node < $1.reference.node }
  }

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
