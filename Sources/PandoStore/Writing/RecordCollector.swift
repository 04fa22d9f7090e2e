import PandoModels
import PandoRecords

/// Receives the nodes of a tree from an encoder, assigns their numbers, and keeps their records
/// until the whole tree is valid.
///
/// It puts new identifiers into their table at once, because a lookup first would search it twice.
/// ``WriteSession/whole(_:)`` removes them again if the tree is refused.
///
/// `open`, `openValues` and `compared` are the path of nodes under way; `pending` has the finished
/// ones. ``forget()`` empties everything between operations. Only the writing thread uses it.
@safe final class RecordCollector: RecordSink, TreeSink {
  /// Lives as long as the operation of a write that uses this.
  @exclusivity(unchecked) private var unmanagedSession: Unmanaged<WriteSession>
  /// Whether the tree refers to stored nodes by name and so may close a cycle with them.
  private(set) var namesStoredNodes = false
  // Only the writing thread uses these, and calls nothing during an access.
  @exclusivity(unchecked) private(set) var pending: PendingRecords
  /// The first number for new nodes of this tree.
  @exclusivity(unchecked) private var firstNewNode: UInt64
  /// The numbers of stored nodes in this tree.
  @exclusivity(unchecked) private var storedNodes = SmallNumberSet()
  /// Nodes whose bodies are under way, innermost last.
  @exclusivity(unchecked) private var open: [OpenNode] = []
  /// The models of the same nodes, if needed.
  @exclusivity(unchecked) private var openValues: [(any SimpleModel)?] = []
  @exclusivity(unchecked) private var needsModels: Bool
  /// Those of them whose declared fields are compared, innermost last.
  @exclusivity(unchecked) private var compared:
    [(depth: Int, fields: DeclaredFields, model: any SimpleModel)] = []

  /// The former identifiers in the tree, by the present ones.
  private(set) var formerIdentifiers: [String: String] = [:]

  /// Whether a reference may name a node that is not stored yet, as in a dump.
  private let promisesNodes: Bool

  init(_ session: WriteSession, promisesNodes: Bool = false) {
    unsafe unmanagedSession = .passUnretained(session)
    self.promisesNodes = promisesNodes
    unsafe needsModels = session.core.needsModels
    let first = session.state.counters.nextNode
    unsafe firstNewNode = first
    unsafe pending = PendingRecords(firstNewNode: first)
  }

  /// Runs a closure with the session, without reference counting.
  @inline(__always)
  private func withSession<Result>(_ body: (WriteSession) throws -> Result) rethrows -> Result {
    try unsafe unmanagedSession._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Starts another operation; nothing of the last one is left.
  func begin(_ session: WriteSession) {
    unsafe unmanagedSession = .passUnretained(session)
    unsafe needsModels = session.core.needsModels
    let first = session.state.counters.nextNode
    unsafe firstNewNode = first
    unsafe pending.firstNewNode = first
  }

  /// Discards everything, for another operation.
  func forget() {
    unsafe pending.removeAll()
    namesStoredNodes = false
    formerIdentifiers = [:]
    unsafe storedNodes.removeAll()
    if unsafe !open.isEmpty { unsafe open.removeAll(keepingCapacity: true) }
    if unsafe !openValues.isEmpty { unsafe openValues = [] }
    if unsafe !compared.isEmpty { unsafe compared = [] }
  }

  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference {
    let known = try withSession { try $0.known(type) }
    if unsafe needsModels { unsafe openValues.append(value()) }
    if let fields = known.fields, fields.areOpen {
      unsafe compared.append((open.count, fields, value()))
    }
    return try begin(identifier: identifier, type: known.number)
  }

  func beginNode(identifier: String, typeName: String) throws -> RecordReference {
    let type = try withSession { session in
      session.core.reportUnlessKnown(typeNamed: typeName)
      return try session.typeNumber(named: typeName)
    }
    if unsafe needsModels { unsafe openValues.append(nil) }
    return try begin(identifier: identifier, type: type)
  }

  private func begin(identifier: String, type: UInt32) throws -> RecordReference {
    var node = OpenNode(identifier: identifier)
    if IdentifierAlias.canExist(of: identifier), let alias = try alias(of: identifier) {
      node.alias = alias
      node.identifier = alias.new
      formerIdentifiers[alias.new] = identifier
    }
    let number = try number(of: node.identifier)
    node.isNew = number.isNew
    unsafe open.append(node)
    return RecordReference(node: number.number, type: type)
  }

  /// The identifier that a server has assigned to a node since the caller read it.
  ///
  /// The stored tree then differs from the given one, so followers have to read it.
  private func alias(of identifier: String) throws -> IdentifierAlias? {
    try withSession { session in
      let row = try session.reading { try $0.property(IdentifierAlias.rowName(of: identifier)) }
      guard let row, let alias = try IdentifierAlias.read(row, of: identifier) else { return nil }
      session.state.content?.rename(alias.new)
      return alias
    }
  }

  /// A reference to a node that is stored already or occurs in this tree.
  func reference(identifier: String, typeName: String) throws -> RecordReference {
    let type = try withSession { try $0.typeNumber(named: typeName) }
    var identifier = identifier
    if IdentifierAlias.canExist(of: identifier), let alias = try alias(of: identifier) {
      identifier = alias.new
    }
    namesStoredNodes = true
    if promisesNodes {
      let promised = try withSession { try $0.insertIdentifier(identifier) }
      return RecordReference(node: promised.number, type: type)
    }
    guard let node = try withSession({ try $0.reading { try $0.node(identifier) } }) else {
      throw StoreError(
        .noSuchNode, identifier, "is referred to, but no such node is stored; store it first")
    }
    return RecordReference(node: node, type: type)
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    guard let node = unsafe open.popLast() else {
      preconditionFailure("an encoder ended a node that it had not begun")
    }
    if unsafe !open.isEmpty {
      unsafe open[open.count - 1].height = unsafe max(open[open.count - 1].height, node.height + 1)
    }
    var value = unsafe needsModels ? openValues.popLast() ?? nil : nil
    if let last = unsafe compared.last, unsafe last.depth == open.count {
      unsafe compared.removeLast()
      try unsafe last.fields.check(last.model, body, self)
    }
    func append(_ body: UnsafeRawBufferPointer) {
      unsafe pending.append(
        reference, identifier: node.identifier, isNewNode: node.isNew, height: node.height,
        value: value, body: body, edges: edges)
    }
    guard let alias = node.alias else { return unsafe append(body) }
    // The model has the former identifier.
    value = nil
    let renamed = try unsafe alias.renamed(body)
    unsafe renamed.withUnsafeBytes { unsafe append($0) }
  }

  private func number(of identifier: String) throws -> (number: UInt64, isNew: Bool) {
    let node = try withSession { try $0.insertIdentifier(identifier) }
    if node.isNew { return node }
    if unsafe node.number >= firstNewNode {
      unsafe pending.hasRepeatedNodes = true
      return (node.number, true)
    }
    if unsafe !storedNodes.insert(node.number) { unsafe pending.hasRepeatedNodes = true }
    return node
  }
}

/// A node whose body is under way.
private struct OpenNode {
  var identifier: String
  var isNew = false
  var height = 1
  /// The alias, if the tree has the node under a former identifier.
  var alias: IdentifierAlias?
}

extension ThreadSlot<RecordCollector> {
  /// Collectors for reuse.
  static let collecting = ThreadSlot()
}

/// The children of declared fields: their records precede that of the parent, or are stored.
extension RecordCollector: FieldChildren {
  func record(_ reference: RecordReference) throws -> FieldChild? {
    // With two records of a node in one tree, it is unknown which the parent contains.
    if unsafe pending.hasRepeatedNodes { return nil }
    if let body = unsafe pending.lastBody(of: reference) {
      return unsafe FieldChild(type: reference.type, body: body)
    }
    return try withSession { try $0.record(reference) }
  }

  func identifier(ofNode node: UInt64) throws -> String? {
    if let pending = unsafe pending.identifier(ofNode: node) { return pending }
    return try withSession { try $0.identifier(ofNode: node) }
  }

  func records(ofNode node: UInt64) throws -> [FieldChild] {
    try withSession { try $0.records(ofNode: node) }
  }

  func swiftType(_ number: UInt32) throws -> (any SimpleModel.Type)? {
    try withSession { try $0.swiftType(number) }
  }
}

/// A set of numbers that is usually small enough for a list to be faster.
private struct SmallNumberSet {
  private static let listCountMaximum = 16

  private var list: [UInt64] = []
  private var set: Set<UInt64> = []

  /// Adds a number.
  ///
  /// - Returns: `false` if it was present.
  mutating func insert(_ number: UInt64) -> Bool {
    if list.contains(number) { return false }
    if list.count < Self.listCountMaximum {
      list.append(number)
      return true
    }
    return set.insert(number).inserted
  }

  mutating func removeAll() {
    if !list.isEmpty { list.removeAll(keepingCapacity: true) }
    if !set.isEmpty { set = [] }
  }
}

/// The records of one tree, encoded but not stored yet: if a part of the tree is refused, nothing
/// of it was written.
///
/// `bytes`, `edges` and `values` contain the parts of `records`, which refer to them by range and
/// index. `newRecords` indexes the records of new nodes by number. One thread uses it.
struct PendingRecords {
  struct Record {
    let reference: RecordReference
    let identifier: String
    /// Whether the node had no number before this tree.
    let isNewNode: Bool
    /// The levels of nodes of its given tree, including itself; 0 if unknown.
    let height: Int
    /// The index of the kept model; -1 if there is none.
    fileprivate let value: Int
    fileprivate let body: Range<Int>
    fileprivate let edges: Range<Int>
  }

  private(set) var records: [Record] = []
  /// Whether an identifier occurred more than once.
  var hasRepeatedNodes = false
  /// The first number for new nodes.
  var firstNewNode: UInt64
  /// The index of the record of each new node, in numerical order; -1 for none.
  private var newRecords: [Int] = []
  /// The kept models.
  private var values: [any SimpleModel] = []
  /// All bodies, one after the other.
  private var bytes: [UInt8] = []
  /// All edges, record by record.
  private var edges: [RecordEdge] = []

  /// The most bytes of capacity kept for the next tree.
  private static let keptByteCountMaximum = 1 << 16

  /// Makes a collection for one tree.
  ///
  /// - Parameter firstNewNode: The first number for new nodes of the tree.
  init(firstNewNode: UInt64) { self.firstNewNode = firstNewNode }

  mutating func append(
    _ reference: RecordReference, identifier: String, isNewNode: Bool = false, height: Int = 0,
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
        reference: reference, identifier: identifier, isNewNode: isNewNode, height: height,
        value: value == nil ? -1 : values.count - 1, body: bodyStart..<bytes.count,
        edges: edgeStart..<self.edges.count))
  }

  /// Appends records of another tree.
  mutating func append(_ records: [Record], of other: PendingRecords) {
    for record in records {
      let body = Array(other.body(of: record))
      unsafe body.withUnsafeBytes { bytes in
        unsafe append(
          record.reference, identifier: record.identifier, body: bytes,
          edges: Array(other.edges(of: record)))
      }
    }
  }

  /// Notes that the next record is that of a new node.
  private mutating func noteNewNode(_ node: UInt64) {
    precondition(node >= firstNewNode, "new node \(node), the first is \(firstNewNode)")
    let position = Int(node - firstNewNode)
    while newRecords.count <= position { newRecords.append(-1) }
    newRecords[position] = records.count
  }

  /// Removes all records and keeps their capacity.
  mutating func removeAll() {
    guard bytes.count <= Self.keptByteCountMaximum else {
      self = PendingRecords(firstNewNode: firstNewNode)
      return
    }
    hasRepeatedNodes = false
    if !records.isEmpty { records.removeAll(keepingCapacity: true) }
    if !newRecords.isEmpty { newRecords.removeAll(keepingCapacity: true) }
    if !values.isEmpty { values = [] }
    if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
    if !edges.isEmpty { edges.removeAll(keepingCapacity: true) }
  }

  func body(of record: Record) -> ArraySlice<UInt8> { bytes[record.body] }

  /// The body of a received record; valid until the next record.
  func lastBody(of reference: RecordReference) -> UnsafeRawBufferPointer? {
    guard let record = records.last(where: { $0.reference == reference }) else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe UnsafeRawBufferPointer(rebasing: $0[record.body]) }
  }

  /// The identifier of a received node.
  func identifier(ofNode node: UInt64) -> String? {
    records.last { $0.reference.node == node }?.identifier
  }

  /// An edge for each distinct child of a record, sorted by child.
  func edges(of record: Record) -> ArraySlice<RecordEdge> { edges[record.edges] }

  /// The kept model of a record, if there is one.
  func value(of record: Record) -> (any SimpleModel)? {
    record.value < 0 ? nil : values[record.value]
  }

  /// Calls a closure with the records of new nodes, in numerical order and without duplicates.
  func forEachNewRecord(_ body: (Record) throws -> Void) rethrows {
    for index in newRecords where index >= 0 { try body(records[index]) }
  }

  /// The effective records: of two for one node and type, the later one.
  ///
  /// - Returns: The records to store, in traversal order, and those that replace one with different
  ///   content.
  func effective() -> (records: [Record], replacing: [Record]) {
    guard hasRepeatedNodes else { return (records, []) }
    var last: [RecordReference: Int] = [:]
    var replacing: [Record] = []
    for (index, record) in records.enumerated() {
      if let earlier = last.updateValue(index, forKey: record.reference),
        body(of: records[earlier]) != body(of: record)
      {
        replacing.append(record)
      }
    }
    return (records.enumerated().filter { last[$1.reference] == $0 }.map(\.element), replacing)
  }
}
