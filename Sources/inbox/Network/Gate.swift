/// Holds answers of the network back until somebody lets them go.
///
/// With it, who comes first is decided and not left to chance.
actor Gate {
  private var heldPaths: Set<String> = []
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// From now on, answers for a path wait.
  func hold(_ path: String) { heldPaths.insert(path) }

  /// Lets the answers for a path go, those that wait and all that follow.
  func release(_ path: String) {
    heldPaths.remove(path)
    for continuation in waiting.removeValue(forKey: path) ?? [] { continuation.resume() }
  }

  /// Lets everything go.
  func releaseAll() {
    for path in heldPaths.union(waiting.keys) { release(path) }
  }

  /// Waits while a path is held.
  func pass(_ path: String) async {
    guard heldPaths.contains(path) else { return }
    await withCheckedContinuation { waiting[path, default: []].append($0) }
  }
}
