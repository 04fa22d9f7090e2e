import PandoModels
import PandoStore
import PandoSystem

/// Nodes that live trees show as they were, because what is stored of them can't be decoded: they are read
/// again when a node changes that they are or hold.
final class UnreadNodes: Sendable {
  /// By the nodes that they wait for; those that have been read since are found here once more at most.
  private let waiting = Locked<[ByteString: Set<ByteString>]>([:])

  var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

  /// Adds what can't be decoded.
  @_optimize(size)
  func add(_ failure: ReadFailure) {
    waiting.withLock { waiting in
      for node in failure.nodes { waiting[ByteString(node), default: []].insert(failure.key) }
    }
  }

  /// Whether one of them waits for one of some nodes.
  func wait(for nodes: [String]) -> Bool {
    waiting.withLock { waiting in nodes.contains { waiting[ByteString($0)] != nil } }
  }

  /// Takes out those that wait for one of some nodes.
  @_optimize(size)
  func take(_ nodes: Set<ByteString>) -> Set<ByteString> {
    waiting.withLock { waiting in
      var found: Set<ByteString> = []
      if waiting.isEmpty { return found }
      for node in nodes { found.formUnion(waiting.removeValue(forKey: node) ?? []) }
      return found
    }
  }
}
