import PandoModels

/// The records of one tree, encoded but not yet stored: if a part of the tree is refused, nothing of
/// it has been written.
struct PendingRecords {
  struct Record {
    let reference: RecordReference
    let identifier: String
    /// Whether the node had no number before this tree came.
    let isNewNode: Bool
    /// The index of the model among those kept; -1 if it was not.
    fileprivate let value: Int
    fileprivate let body: Range<Int>
    fileprivate let edges: Range<Int>
  }

  private(set) var records: [Record] = []
  /// Whether an identifier came more than once.
  var hasRepeatedNodes = false
  /// The first number that a new node can have.
  private var firstNewNode: UInt64
  /// The index of the record of each new node, in the order of their numbers; -1 for none.
  private var newRecords: [Int] = []
  /// Models that were asked for.
  private var values: [any SimpleModel] = []
  /// All bodies, one after another.
  private var bytes: [UInt8] = []
  /// All edges, one record's after another's.
  private var edges: [RecordEdge] = []

  /// The room that is kept for the next tree.
  private static let keptByteCountMaximum = 1 << 20

  /// Makes a collection for one tree.
  ///
  /// - Parameter firstNewNode: The first number that a new node of the tree can have.
  init(firstNewNode: UInt64) { self.firstNewNode = firstNewNode }

  mutating func append(
    _ reference: RecordReference, identifier: String, isNewNode: Bool = false,
    value: (any SimpleModel)? = nil, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) {
    let bodyStart = bytes.count
    let edgeStart = self.edges.count
    unsafe bytes.append(contentsOf: body)
    self.edges.append(contentsOf: edges)
    if isNewNode { noteNewNode(reference.node) }
    if let value { values.append(value) }
    records.append(
      Record(
        reference: reference, identifier: identifier, isNewNode: isNewNode,
        value: value == nil ? -1 : values.count - 1, body: bodyStart..<bytes.count,
        edges: edgeStart..<self.edges.count))
  }

  /// Notes that the next record is that of a new node.
  private mutating func noteNewNode(_ node: UInt64) {
    precondition(node >= firstNewNode, "new node \(node), the first is \(firstNewNode)")
    let place = Int(node - firstNewNode)
    while newRecords.count <= place { newRecords.append(-1) }
    newRecords[place] = records.count
  }

  /// Forgets all records and keeps the room for them.
  mutating func removeAll(firstNewNode: UInt64) {
    guard bytes.count <= Self.keptByteCountMaximum else {
      self = PendingRecords(firstNewNode: firstNewNode)
      return
    }
    self.firstNewNode = firstNewNode
    hasRepeatedNodes = false
    if !records.isEmpty { records.removeAll(keepingCapacity: true) }
    if !newRecords.isEmpty { newRecords.removeAll(keepingCapacity: true) }
    if !values.isEmpty { values = [] }
    if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
    if !edges.isEmpty { edges.removeAll(keepingCapacity: true) }
  }

  func body(of record: Record) -> ArraySlice<UInt8> { bytes[record.body] }

  /// An edge for each distinct child of a record, sorted by child.
  func edges(of record: Record) -> ArraySlice<RecordEdge> { edges[record.edges] }

  /// The model of a record, where it came as one and was asked for.
  func value(of record: Record) -> (any SimpleModel)? {
    record.value < 0 ? nil : values[record.value]
  }

  /// Calls a closure with the records of new nodes, in the order of their numbers; no node comes twice.
  func forEachNewRecord(_ body: (Record) throws -> Void) rethrows {
    for index in newRecords where index >= 0 { try body(records[index]) }
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
