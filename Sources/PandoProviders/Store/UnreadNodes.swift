import PandoModels
import PandoStore
import PandoSystem

/// Nodes that live trees show as they were, because what is stored of them can't be decoded: they are read
/// again when a node changes that they are or hold.
final class UnreadNodes: Sendable {
  private let waiting = Locked<[ReadFailure]>([])

  var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

  /// Adds what can't be decoded.
  func add(_ failure: ReadFailure) {
    if !failure.nodes.isEmpty { waiting.withLock { $0.append(failure) } }
  }

  /// Whether one of them waits for one of some nodes.
  func wait(for nodes: Set<ByteString>) -> Bool {
    waiting.withLock { $0.contains { !$0.nodes.isDisjoint(with: nodes) } }
  }

  /// Takes out those that wait for one of some nodes.
  ///
  /// - Returns: Their identifiers; one may be there several times.
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
