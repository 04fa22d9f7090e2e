import PandoManagers
import PandoModels
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

  /// Whether the write has made or removed the node.
  var isWhole: Bool { before.isEmpty || after.isEmpty }

  /// Lets a later write have found and left the node as it would have been without this one.
  ///
  /// - Parameters:
  ///   - later: What the later write has done to it.
  ///   - removed: What the later write has removed.
  ///   - isSubject: Whether the write was about this node, and not about one that holds it.
  /// - Returns: What is left of the change behind the later write; `nil` if nothing is.
  /// - Throws: `ModelError` if somebody else has written the bytes.
  func undo(
    in later: inout QueuedUndo.Node, removing removed: Set<ByteString> = [],
    isSubject: Bool = false
  ) throws -> NodeChange? {
    if before.isEmpty {
      // It would not have been there, whatever was done to it here; then the next one has made it.
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
      // What it has lost by a removal it has lost because it held it.
      let lost = removed.isEmpty ? nil : try later.before.losing(removed.contains)
      later.after = try lost ?? undoing(left)
    }
    return later.after == left ? nil : NodeChange(later.after, left, later.dictionaries)
  }

  /// Lets a removal have changed a node that would have held what it removed.
  ///
  /// - Parameters:
  ///   - removed: What it has removed.
  ///   - identifier: The identifier of the node.
  /// - Returns: What it would have done to the node, and what is left of the change behind it; `nil` if that
  ///   would have held nothing of it.
  /// - Throws: `ModelError` if somebody else has written the bytes.
  func removal(
    of removed: Set<ByteString>, from identifier: String
  ) throws -> (node: QueuedUndo.Node, left: NodeChange)? {
    guard let lost = try before.losing(removed.contains), lost != before else { return nil }
    let node = QueuedUndo.Node(
      identifier: identifier, before: before, after: lost, dictionaries: dictionaries)
    return (node, NodeChange(lost, after, dictionaries))
  }

  /// The records of the node as they would be without the write.
  func undoing(_ records: NodeRecords) throws -> NodeRecords {
    try records.undoing(from: before, to: after, dictionaries: dictionaries)
  }
}
