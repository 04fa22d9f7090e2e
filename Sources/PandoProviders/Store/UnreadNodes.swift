import PandoModels
import PandoStore
import PandoSystem

/// Nodes that live trees show in an old state, because the stored one can't be decoded.
///
/// Such a node is read again when it or a node that it contains changes.
final class UnreadNodes: Sendable {
  private let waiting = Locked<[ReadFailure]>([])

  var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

  /// Adds a node that can't be decoded.
  func add(_ failure: ReadFailure) {
    if !failure.nodes.isEmpty { waiting.withLock { $0.append(failure) } }
  }

  /// Returns true if one of the nodes would lead to another read.
  func wait(for nodes: Set<ByteString>) -> Bool {
    waiting.withLock { $0.contains { !$0.nodes.isDisjoint(with: nodes) } }
  }

  /// Removes the unread nodes that wait for a change of one of some nodes.
  ///
  /// - Returns: Their identifiers; one may occur several times.
  func take(_ nodes: Set<ByteString>) -> [ByteString] {
    waiting.withLock { waiting in
      var found: [ByteString] = []
      for index in waiting.indices.reversed() where !waiting[index].nodes.isDisjoint(with: nodes) {
        found.append(waiting.remove(at: index).key)
      }
      return found
    }
  }
}
