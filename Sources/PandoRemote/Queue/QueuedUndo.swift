import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// The state that a write has replaced, to undo the write if the server refuses it.
struct QueuedUndo {
  /// A node of the written entities, changed or unchanged.
  struct Node {
    var identifier: String
    /// Its records before and after the write; empty where there was no such node.
    var before: NodeRecords
    var after: NodeRecords
    /// Its records before the write, if ``before`` is empty because the creation of the node was undone.
    var found: NodeRecords?
    /// The sequence number of its state before the write, if a server had sent that.
    var datedAt: UInt64?
    /// The places in its records that look like enums and are none; see ``NodeRecords/place(_:in:)``.
    var dictionaries: Set<[UInt8]> = []

    var isChanged: Bool { before != after }
  }

  /// The position of a node in a collection from which the write has removed it.
  struct Place: Sendable, Codable {
    let collection: String
    let index: Int
    var identifier: String
    let typeName: String
  }

  /// The nodes, the written or removed entity first; of a written one also all nodes inside, before or after.
  var nodes: [Node]
  /// The former positions of removed nodes.
  var places: [Place] = []
  /// Whether the request sends the first node as the write has left it.
  var sendsEntity = false

  /// Reads the bytes that are stored with a request, with the present identifiers of nodes.
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

  /// The inverse: the state before the write in place of the state after it.
  var redo: QueuedUndo {
    QueuedUndo(
      nodes: nodes.map {
        Node(
          identifier: $0.identifier, before: $0.after, after: $0.before,
          dictionaries: $0.dictionaries)
      })
  }

  /// The nodes that the write has removed.
  var removed: Set<ByteString> {
    Set(nodes.filter { $0.after.isEmpty && !$0.before.isEmpty }.map { ByteString($0.identifier) })
  }

  /// The nodes besides the first with whose requests it must stay in order: all others, and children of removed ones.
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
  /// Replaces local identifiers by those that servers have assigned since.
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
    // Looks for the colon first, because it is rare.
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
    // Former versions have stored texts.
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
