import PandoManagers
import PandoModels
import PandoRecords
import PandoSystem

/// The records of a node without a write and with it.
struct NodeChange {
  private let before: NodeRecords
  private let after: NodeRecords
  private let dictionaries: Set<[UInt8]>

  init(_ node: QueuedUndo.Node) { self.init(node.before, node.after, node.dictionaries) }

  private init(_ before: NodeRecords, _ after: NodeRecords, _ dictionaries: Set<[UInt8]>) {
    (self.before, self.after, self.dictionaries) = (before, after, dictionaries)
  }

  /// The records of the node before it; `nil` if there was none.
  var restored: NodeRecords? { before.isEmpty ? nil : before }

  /// Whether the write has created or removed the node.
  var isWhole: Bool { before.isEmpty || after.isEmpty }

  /// Rewrites the change that a later write has made to the node, as if this write had never been.
  ///
  /// - Parameters:
  ///   - later: The node before and after the later write.
  ///   - removed: The nodes that the later write has removed.
  ///   - isSubject: Whether this write was one of the node itself, and not of one around it.
  /// - Returns: The part of this change that remains after the later write; `nil` if there is none.
  /// - Throws: `ModelError` if the bytes are malformed.
  func undo(
    in later: inout QueuedUndo.Node, removing removed: Set<ByteString> = [],
    isSubject: Bool = false
  ) throws -> NodeChange? {
    if before.isEmpty {
      // Without this write there was no node, so the next write has created it.
      if isSubject || later.before == after {
        if !later.before.isEmpty { later.found = later.before }
        later.before = NodeRecords()
      }
      return nil
    }
    if after.isEmpty {
      if later.before.isEmpty { later.before = before }
      return nil
    }
    later.dictionaries.formUnion(dictionaries)
    let isChanged = later.isChanged
    later.before = try undoing(later.before)
    if later.after.isEmpty { return nil }
    let left = later.after
    later.after = later.before
    if isChanged {
      // A removal has emptied the fields that contained the removed nodes.
      let lost = removed.isEmpty ? nil : try later.before.losing(removed.contains)
      later.after = try lost ?? undoing(left)
    }
    return later.after == left ? nil : NodeChange(later.after, left, later.dictionaries)
  }

  /// Returns the change that a later removal would have made to the node without this write.
  ///
  /// - Parameters:
  ///   - removed: The nodes that it has removed.
  ///   - identifier: The identifier of the node.
  /// - Returns: The change, and the part of this change that remains after it; `nil` if the node would have contained
  ///   none of the removed ones.
  /// - Throws: `ModelError` if the bytes are malformed.
  func removal(
    of removed: Set<ByteString>, from identifier: String
  ) throws -> (node: QueuedUndo.Node, left: NodeChange)? {
    guard let lost = try before.losing(removed.contains), lost != before else { return nil }
    let node = QueuedUndo.Node(
      identifier: identifier, before: before, after: lost, dictionaries: dictionaries)
    return (node, NodeChange(lost, after, dictionaries))
  }

  /// Returns records of the node as they would be without the write.
  func undoing(_ records: NodeRecords) throws -> NodeRecords {
    try records.undoing(from: before, to: after, dictionaries: dictionaries)
  }
}
