import PandoConsistency
import PandoModels
import PandoSystem

/// A holder that takes its updates as a provider does, and counts how often it is asked.
final class TreeHolder: LiveHolder {
  private struct State {
    var tree: (any SimpleModel)?
    var askedCount = 0
  }

  let number: UInt64
  private let state: Locked<State>

  /// Registers a tree, which may be compared with what others hold.
  init(_ tree: any SimpleModel, _ manager: ConsistencyManager, isCompared: Bool = false) {
    number = manager.makeHolderNumber()
    state = Locked(State(tree: tree))
    manager.enqueue { [self] scope in
      scope.add(self)
      if isCompared {
        scope.registerFirst(self, row: 0, NewTree(tree))
      } else {
        scope.register(self, row: 0, old: nil, new: tree)
      }
    }
  }

  /// Shows another tree, without an update.
  func move(to tree: any SimpleModel, _ manager: ConsistencyManager) {
    manager.enqueue { [self] scope in
      scope.register(self, row: 0, old: self.tree, new: tree)
      state.withLock { $0.tree = tree }
    }
  }

  var tree: (any SimpleModel)? { state.withLock { $0.tree } }

  /// How often an update asked since the last time this was read.
  func takeAskedCount() -> Int {
    state.withLock { state in
      defer { state.askedCount = 0 }
      return state.askedCount
    }
  }

  func tree(ofRow row: LiveRow) -> (any SimpleModel)? { tree }

  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    let tree = state.withLock { state in
      state.askedCount += 1
      return state.tree
    }
    guard let tree, let result = scope.regenerate(tree, of: self, row: 0) else { return nil }
    scope.register(self, row: 0, result)
    state.withLock { $0.tree = result.model }
    return nil
  }
}
