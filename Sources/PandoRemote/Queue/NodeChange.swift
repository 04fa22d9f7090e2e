import PandoManagers
import PandoModels
import PandoSystem

/// The records of a node without a write and with it.
struct NodeChange {
  private let before: NodeRecords
  private let after: NodeRecords

  init(_ node: QueuedUndo.Node) throws { try self.init(node.before, node.after) }

  /// Reads the records.
  ///
  /// - Parameters:
  ///   - before: The records without the write, as lossless JSON.
  ///   - after: Those with it.
  /// - Throws: `JSONError` if somebody else has written the bytes.
  init(_ before: String, _ after: String) throws {
    self.init(try NodeRecords(before), try NodeRecords(after))
  }

  private init(_ before: NodeRecords, _ after: NodeRecords) {
    (self.before, self.after) = (before, after)
  }

  /// The fields of a record as they would be without the write.
  func undoing(_ record: TreeNode) -> TreeValue {
    guard let before = before.nodes.record(of: record.typeName),
      let after = after.nodes.record(of: record.typeName)
    else { return record.fields }
    return record.fields.undoing(from: before.fields, to: after.fields)
  }

  /// The records of the node before it, as lossless JSON; `nil` if there was none.
  var restored: String? { before.isEmpty ? nil : before.json }

  /// Whether the write has made or removed the node.
  var isWhole: Bool { before.isEmpty || after.isEmpty }

  /// Lets a later write have found and left the node as it would have been without this one.
  ///
  /// - Parameters:
  ///   - later: What the later write has done to it.
  ///   - removed: What the later write has removed.
  ///   - isSubject: Whether the write was about this node, and not about one that holds it.
  /// - Returns: What is left of the change behind the later write; `nil` if nothing is.
  /// - Throws: `JSONError` if somebody else has written the bytes.
  func undo(
    in later: inout QueuedUndo.Node, removing removed: Set<ByteString> = [],
    isSubject: Bool = false
  ) throws -> NodeChange? {
    if before.isEmpty {
      // It would not have been there, whatever was done to it here; then the next one has made it.
      if isSubject || later.before.hasSameBytes(as: after.json) {
        if !later.before.isEmpty { later.found = later.before }
        later.before = ""
      }
      return nil
    }
    if after.isEmpty {
      if later.before.isEmpty { later.before = before.json }
      return nil
    }
    let isChanged = later.isChanged
    let found = try undoing(NodeRecords(later.before, knowing: after))
    later.before = found.json
    if later.after.isEmpty { return nil }
    let left = try NodeRecords(later.after, knowing: after)
    var without = found
    if isChanged {
      // What it has lost by a removal it has lost because it held it.
      without = found.losing(removed) ?? undoing(left)
    }
    later.after = without.json
    return without == left ? nil : NodeChange(without, left)
  }

  /// Lets a removal have changed a node that would have held what it removed.
  ///
  /// - Parameters:
  ///   - removed: What it has removed.
  ///   - identifier: The identifier of the node.
  /// - Returns: What it would have done to the node, and what is left of the change behind it; `nil` if that
  ///   would have held nothing of it.
  func removal(
    of removed: Set<ByteString>, from identifier: String
  ) -> (node: QueuedUndo.Node, left: NodeChange)? {
    guard !before.isEmpty, let lost = before.losing(removed), lost != before else { return nil }
    let node = QueuedUndo.Node(identifier: identifier, before: before.json, after: lost.json)
    return (node, NodeChange(lost, after))
  }

  /// The records of the node as they would be without the write, as lossless JSON.
  func undoing(_ json: String) throws -> String {
    try undoing(NodeRecords(json, knowing: after)).json
  }

  private func undoing(_ records: NodeRecords) -> NodeRecords {
    if records == after { return before }
    var nodes = records.nodes
    for place in nodes.indices { nodes[place].fields = undoing(nodes[place]) }
    return NodeRecords(nodes)
  }
}

/// The records of a node, and the lossless JSON that stands for them.
struct NodeRecords: Equatable {
  let json: String
  let nodes: [TreeNode]

  var isEmpty: Bool { nodes.isEmpty }

  init(_ nodes: [TreeNode]) { (json, self.nodes) = (nodes.json, nodes) }

  /// Reads records.
  ///
  /// - Parameters:
  ///   - json: The records.
  ///   - known: Records that they may be, which are read already.
  /// - Throws: `JSONError` if somebody else has written the bytes.
  init(_ json: String, knowing known: NodeRecords? = nil) throws {
    if let known, json.hasSameBytes(as: known.json) {
      self = known
    } else {
      (self.json, nodes) = (json, try [TreeNode](json: json))
    }
  }

  static func == (one: NodeRecords, other: NodeRecords) -> Bool {
    one.json.hasSameBytes(as: other.json)
  }

  /// The records as a removal leaves them; `nil` if there is no removal, or the node goes with it.
  func losing(_ removed: Set<ByteString>) -> NodeRecords? {
    if removed.isEmpty { return nil }
    var nodes = nodes
    for place in nodes.indices {
      guard let left = nodes[place].fields.losing({ removed.contains(ByteString($0)) }) else {
        return nil
      }
      nodes[place].fields = left
    }
    return NodeRecords(nodes)
  }
}
