import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// What a write has replaced: by this it is taken back when the server refuses it.
struct QueuedUndo {
  /// A node of the entities: one that the write has changed, or left as it was.
  struct Node {
    var identifier: String
    /// Its records before and after the write, as lossless JSON; empty where there was no such node.
    var before: String
    var after: String
    /// Its records before the write, where ``before`` is empty because what made the node was taken back.
    var found: String?
    /// The place of that, if a server had sent it as it was before.
    var datedAt: UInt64?

    var isChanged: Bool { !before.hasSameBytes(as: after) }
  }

  /// Where a node stood in a collection that the write has taken it out of.
  struct Place: Sendable {
    let collection: String
    let index: Int
    var identifier: String
    let typeName: String
  }

  /// The nodes: what was written or removed first; of an entity that was written all in it, before or after.
  var nodes: [Node]
  /// The places of what was removed.
  var places: [Place] = []
  /// Whether the request sends the first node as the write has left it.
  var sendsEntity = false

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

  init(nodes: [Node], places: [Place] = [], sendsEntity: Bool = false) {
    (self.nodes, self.places, self.sendsEntity) = (nodes, places, sendsEntity)
  }

  /// What leads from the state before the write to that after it.
  var redo: QueuedUndo {
    QueuedUndo(
      nodes: nodes.map { Node(identifier: $0.identifier, before: $0.after, after: $0.before) })
  }

  /// What the write has removed.
  var removed: Set<ByteString> {
    Set(nodes.filter { $0.after.isEmpty && !$0.before.isEmpty }.map { ByteString($0.identifier) })
  }

  /// What it has to stay in order with, besides its first node: the other nodes, and what removed ones hold.
  var related: [String] {
    get throws {
      let held = try nodes.filter { $0.after.isEmpty }.reduce(into: Set<ByteString>()) {
        $0.formUnion(try $1.references(\.before))
      }
      let others = nodes.dropFirst().map { ByteString($0.identifier) }
      return (others + held.ordered()).unique.map(\.text)
    }
  }

  var bytes: Data { get throws { Data(try QueueTable.encode(self)) } }
}

extension QueuedUndo.Node {
  /// What its records name.
  func references(_ records: KeyPath<Self, String>) throws -> Set<ByteString> {
    try [TreeNode](json: self[keyPath: records]).reduce(into: []) { $0.formUnion($1.references) }
  }

  /// Takes the identifiers that servers have given since.
  fileprivate mutating func rename(in rows: any QueueRows) throws {
    guard [identifier, before, after, found ?? ""].contains(where: \.mayNameLocally) else {
      return
    }
    var (old, new) = (try [TreeNode](json: before), try [TreeNode](json: after))
    var first = try [TreeNode](json: found ?? "")
    var local: Set<ByteString> = []
    for record in old + new + first {
      if record.identifier.contains(":local:") { local.insert(ByteString(record.identifier)) }
      local.formUnion(record.references.filter { $0.text.contains(":local:") })
    }
    var aliases = try local.ordered().compactMap { try IdentifierAlias.read($0.text, in: rows) }
    let texts = (old + new + first).reduce(into: Set<ByteString>()) {
      $1.fields.addLocalTexts(to: &$0)
    }
    aliases += try IdentifierAlias.all(of: texts, in: rows).filter { !aliases.contains($0) }
    for alias in aliases {
      let json = try TreeValue(json: alias.json)
      if identifier.hasSameBytes(as: alias.old) { identifier = alias.new }
      old = old.map { $0.renamed(alias, json) }
      new = new.map { $0.renamed(alias, json) }
      first = first.map { $0.renamed(alias, json) }
    }
    (before, after) = (old.json, new.json)
    if found != nil { found = first.json }
  }
}

extension String {
  /// Whether `local:` is in it, found byte by byte: `contains` takes as long as all else that is done with it.
  fileprivate var mayNameLocally: Bool {
    var text = self
    return text.withUTF8 { bytes in
      var place = 0
      while place + 5 < bytes.count {
        // The colon is rare.
        if unsafe bytes[place + 5] == UInt8(ascii: ":"),
          unsafe bytes[place..<place + 5].elementsEqual("local".utf8)
        {
          return true
        }
        place += 1
      }
      return false
    }
  }
}

extension [TreeNode] {
  init(json: String) throws {
    guard !json.isEmpty, case .array(let values) = try TreeValue(json: json, form: .lossless) else {
      self = []
      return
    }
    self = values.compactMap { value in
      guard case .node(let node) = value else { return nil }
      return node
    }
  }

  var json: String { isEmpty ? "" : TreeValue.array(map { .node($0) }).json(.lossless) }
}

extension TreeNode {
  /// The identifiers of the nodes that it names.
  var references: Set<ByteString> {
    var found: Set<ByteString> = []
    fields.addReferences(to: &found)
    return found
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
  /// Adds the identifiers that it names as values.
  fileprivate func addLocalTexts(to found: inout Set<ByteString>) {
    switch self {
    case .string(let text): if text.hasPrefix("local:") { found.insert(ByteString(text)) }
    case .required(let value), .tagged(_, let value): value.addLocalTexts(to: &found)
    case .array(let values): for value in values { value.addLocalTexts(to: &found) }
    case .object(let fields): for value in fields.values { value.addLocalTexts(to: &found) }
    case .entries(let entries): for value in entries.values { value.addLocalTexts(to: &found) }
    default: break
    }
  }

  fileprivate func addReferences(to found: inout Set<ByteString>) {
    switch self {
    case .reference(let identifier, _): found.insert(ByteString(identifier))
    case .required(let value), .tagged(_, let value): value.addReferences(to: &found)
    case .array(let values): for value in values { value.addReferences(to: &found) }
    case .object(let fields): for value in fields.values { value.addReferences(to: &found) }
    case .entries(let entries):
      for value in entries.values { value.addReferences(to: &found) }
    default: break
    }
  }
}

extension QueuedUndo: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    nodes = try row.get("nodes")
    places = try row.find("places") ?? []
    sendsEntity = try row.find("sendsEntity") ?? false
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(nodes, forKey: TextKey("nodes"))
    if !places.isEmpty { try row.encode(places, forKey: TextKey("places")) }
    if sendsEntity { try row.encode(true, forKey: TextKey("sendsEntity")) }
  }
}

extension QueuedUndo.Node: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    identifier = try row.get("identifier")
    before = try row.get("before")
    after = try row.find("after") ?? before
    found = try row.find("found")
    datedAt = try row.find("datedAt")
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(identifier, forKey: TextKey("identifier"))
    try row.encode(before, forKey: TextKey("before"))
    if isChanged { try row.encode(after, forKey: TextKey("after")) }
    try row.encodeIfPresent(found, forKey: TextKey("found"))
    try row.encodeIfPresent(datedAt, forKey: TextKey("datedAt"))
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
