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
    /// Its records before and after the write; empty where there was no such node.
    var before: NodeRecords
    var after: NodeRecords
    /// Its records before the write, where ``before`` is empty because what made the node was taken back.
    var found: NodeRecords?
    /// The place of that, if a server had sent it as it was before.
    var datedAt: UInt64?
    /// The places in its records that look like those of enums, and are none: ``NodeRecords/place(_:in:)``.
    var dictionaries: Set<[UInt8]> = []

    var isChanged: Bool { before != after }
  }

  /// Where a node stood in a collection that the write has taken it out of.
  struct Place: Sendable, Codable {
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
  init(_ bytes: Data, in rows: QueueRows) throws {
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
      nodes: nodes.map {
        Node(
          identifier: $0.identifier, before: $0.after, after: $0.before,
          dictionaries: $0.dictionaries)
      })
  }

  /// What the write has removed.
  var removed: Set<ByteString> {
    Set(nodes.filter { $0.after.isEmpty && !$0.before.isEmpty }.map { ByteString($0.identifier) })
  }

  /// What it has to stay in order with, besides its first node: the other nodes, and what removed ones hold.
  var related: [String] {
    get throws {
      let held = try nodes.filter { $0.after.isEmpty }.reduce(into: Set<ByteString>()) {
        $0.formUnion(try $1.before.references)
      }
      let others = nodes.dropFirst().map { ByteString($0.identifier) }
      return (others + held.ordered()).unique.map(\.text)
    }
  }

  var bytes: Data { get throws { Data(try QueueTable.encode(self)) } }
}

extension QueuedUndo.Node {
  /// Takes the identifiers that servers have given since.
  fileprivate mutating func rename(in rows: QueueRows) throws {
    let all = before.records + after.records + (found?.records ?? [])
    guard IdentifierAlias.canExist(of: identifier) || all.contains(where: \.mayNameLocally) else {
      return
    }
    let names = try all.reduce(into: Set([ByteString(identifier)])) {
      $0.formUnion(try $1.references)
    }
    var aliases = try names.filter { IdentifierAlias.canExist(of: $0.text) }.ordered()
      .compactMap { try IdentifierAlias.read($0.text, in: rows) }
    let texts = try all.reduce(into: Set()) { $0.formUnion(try $1.texts) }
      .filter { $0.text.hasPrefix("local:") }
    aliases += try IdentifierAlias.all(of: texts, in: rows).filter { !aliases.contains($0) }
    for alias in aliases {
      if identifier.hasSameBytes(as: alias.old) { identifier = alias.new }
      before = try before.renamed(alias)
      after = try after.renamed(alias)
      found = try found?.renamed(alias)
    }
  }
}

extension NodeRecords.Record {
  /// Whether `local:` is in it, found byte by byte.
  fileprivate var mayNameLocally: Bool {
    // The colon is rare.
    body.indices.dropFirst(5).contains { place in
      body[place] == UInt8(ascii: ":") && body[place - 5..<place].elementsEqual("local".utf8)
    }
  }
}

extension NodeRecords {
  /// Reads the lossless JSON that former versions have stored; an empty text for no records.
  fileprivate init(json: String) throws {
    self.init()
    guard !json.isEmpty, case .array(let values) = try TreeValue(json: json, form: .lossless) else {
      return
    }
    self = try NodeRecords(
      values.compactMap { value in
        guard case .node(let node) = value else { return nil }
        return node
      })
  }

  fileprivate func renamed(_ alias: IdentifierAlias) throws -> NodeRecords {
    var result = self
    for place in records.indices {
      try result.records[place].rename(
        alias.old, to: alias.new, IdentifierAlias.localText(of: alias.old), to: alias.value)
    }
    return result
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
    // Former versions have texts.
    before = try row.find("recordsBefore") ?? NodeRecords(json: row.get("before"))
    after =
      try row.find("recordsAfter") ?? row.find("after").map(NodeRecords.init(json:)) ?? before
    found = try row.find("recordsFound") ?? row.find("found").map(NodeRecords.init(json:))
    datedAt = try row.find("datedAt")
    dictionaries = try row.find("dictionaries") ?? []
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(identifier, forKey: TextKey("identifier"))
    try row.encode(before, forKey: TextKey("recordsBefore"))
    if isChanged { try row.encode(after, forKey: TextKey("recordsAfter")) }
    try row.encodeIfPresent(found, forKey: TextKey("recordsFound"))
    try row.encodeIfPresent(datedAt, forKey: TextKey("datedAt"))
    if !dictionaries.isEmpty { try row.encode(dictionaries, forKey: TextKey("dictionaries")) }
  }
}
