import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore

/// What a write has replaced: by this it is taken back when the server refuses it.
struct QueuedUndo {
  /// A node that the write has changed.
  struct Node {
    var identifier: String
    /// Its records before and after the write; none where there was no such node.
    var before: [TreeNode]
    var after: [TreeNode]
  }

  /// Where a node stood in a collection that the write has taken it out of.
  struct Place: Sendable {
    let collection: String
    let index: Int
    var identifier: String
    let typeName: String
  }

  /// The nodes: what was written or removed first.
  var nodes: [Node]
  /// The places of what was removed.
  var places: [Place] = []
  /// What the request would have sent before the write; `nil` if that is not known.
  var body: Data?

  /// Reads the bytes that are stored with a request, with the identifiers that nodes have now.
  init(_ bytes: Data, in rows: any QueueRows) throws {
    self = try QueueTable.decode(Array(bytes), as: QueuedUndo.self)
    for place in nodes.indices { try nodes[place].rename(in: rows) }
    for place in places.indices {
      if let alias = try IdentifierAlias.read(places[place].identifier, in: rows) {
        places[place].identifier = alias.new
      }
    }
  }

  init(nodes: [Node], places: [Place] = [], body: Data?) {
    (self.nodes, self.places, self.body) = (nodes, places, body)
  }

  /// What leads from the state before the write to that after it.
  var redo: QueuedUndo {
    QueuedUndo(
      nodes: nodes.map { Node(identifier: $0.identifier, before: $0.after, after: $0.before) },
      body: nil)
  }

  var bytes: Data { get throws { Data(try QueueTable.encode(self)) } }
}

extension QueuedUndo.Node {
  /// Takes the identifiers that servers have given since.
  fileprivate mutating func rename(in rows: any QueueRows) throws {
    var local: Set<ByteString> = []
    for record in before + after { record.addLocalIdentifiers(to: &local) }
    for old in local {
      guard let alias = try IdentifierAlias.read(old.text, in: rows) else { continue }
      let json = try TreeValue(json: alias.json)
      if identifier.hasSameBytes(as: alias.old) { identifier = alias.new }
      before = before.map { $0.renamed(alias, json) }
      after = after.map { $0.renamed(alias, json) }
    }
  }

  /// The same node as a later write would have found and left it, had an earlier write not been.
  func undoing(_ earlier: QueuedUndo.Node) -> QueuedUndo.Node {
    var result = self
    if earlier.before.isEmpty {
      // It would not have been there.
      result.before = []
    } else if earlier.after.isEmpty {
      if before.isEmpty { result.before = earlier.before }
    } else {
      result.before = Self.undoing(before, earlier)
      result.after = Self.undoing(after, earlier)
    }
    return result
  }

  private static func undoing(
    _ records: [TreeNode], _ earlier: QueuedUndo.Node
  ) -> [TreeNode] {
    records.map { record in
      guard let before = earlier.before.record(of: record.typeName),
        let after = earlier.after.record(of: record.typeName)
      else { return record }
      var result = record
      result.fields = record.fields.undoing(from: before.fields, to: after.fields)
      return result
    }
  }
}

extension [TreeNode] {
  /// The record of a type.
  func record(of typeName: String) -> TreeNode? {
    first { $0.typeName.hasSameBytes(as: typeName) }
  }

  fileprivate init(json: String) throws {
    guard case .array(let values) = try TreeValue(json: json, form: .lossless) else {
      self = []
      return
    }
    self = values.compactMap { value in
      guard case .node(let node) = value else { return nil }
      return node
    }
  }

  fileprivate var json: String { TreeValue.array(map { .node($0) }).json(.lossless) }
}

extension TreeNode {
  fileprivate func addLocalIdentifiers(to found: inout Set<ByteString>) {
    if identifier.contains(":local:") { found.insert(ByteString(identifier)) }
    fields.addLocalIdentifiers(to: &found)
  }

  fileprivate func renamed(_ alias: IdentifierAlias, _ json: TreeValue) -> TreeNode {
    var result = self
    if identifier.hasSameBytes(as: alias.old) { result.identifier = alias.new }
    let local = IdentifierAlias.localText(of: alias.old)
    result.fields = fields.repointing(alias.old, to: alias.new)
      .replacing(local, with: json, name: alias.text)
    return result
  }
}

extension TreeValue {
  fileprivate func addLocalIdentifiers(to found: inout Set<ByteString>) {
    switch self {
    case .reference(let identifier, _):
      if identifier.contains(":local:") { found.insert(ByteString(identifier)) }
    case .required(let value), .tagged(_, let value): value.addLocalIdentifiers(to: &found)
    case .array(let values): for value in values { value.addLocalIdentifiers(to: &found) }
    case .object(let fields): for value in fields.values { value.addLocalIdentifiers(to: &found) }
    case .entries(let entries):
      for value in entries.values { value.addLocalIdentifiers(to: &found) }
    default: break
    }
  }
}

extension QueuedUndo: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    nodes = try row.get("nodes")
    places = try row.find("places") ?? []
    body = try row.find("body")
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(nodes, forKey: TextKey("nodes"))
    if !places.isEmpty { try row.encode(places, forKey: TextKey("places")) }
    try row.encodeIfPresent(body, forKey: TextKey("body"))
  }
}

extension QueuedUndo.Node: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    identifier = try row.get("identifier")
    before = try [TreeNode](json: row.get("before"))
    after = try [TreeNode](json: row.get("after"))
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(identifier, forKey: TextKey("identifier"))
    try row.encode(before.json, forKey: TextKey("before"))
    try row.encode(after.json, forKey: TextKey("after"))
  }
}

extension QueuedUndo.Place: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    collection = try row.get("collection")
    index = try row.get("index")
    identifier = try row.get("identifier")
    typeName = try row.get("typeName")
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(collection, forKey: TextKey("collection"))
    try row.encode(index, forKey: TextKey("index"))
    try row.encode(identifier, forKey: TextKey("identifier"))
    try row.encode(typeName, forKey: TextKey("typeName"))
  }
}
