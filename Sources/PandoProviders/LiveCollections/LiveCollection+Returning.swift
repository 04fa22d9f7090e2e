import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// The committed elements after somebody else's commit, if an element went in it and came in again
  /// elsewhere: that is told as a move, and not as the two things that were done.
  ///
  /// - Parameters:
  ///   - changes: What was done to the places.
  ///   - models: The new models, by their positions after all changes.
  ///   - rows: The rows that hold something of the update.
  ///   - scope: Regenerates them.
  /// - Returns: `nil` if no element came back.
  func listWithReturning(
    _ changes: [CollectionChangeInformation], _ models: [Int: T], _ rows: [LiveRow],
    _ scope: PipelineScope
  ) -> [T]? {
    guard changes.mayReturnElements else { return nil }
    var list: LiveList<T>? = state.withLock { state in
      guard !state.needsWhole else { return nil }
      let committed = state.committed
      let count = changes.count { if case .insert = $0 { true } else { false } }
      guard
        let script = ListScript(
          changes, models, on: committed.rows, newRows: state.takeRows(count))
      else { return nil }
      let gone = Set(
        state.committedModels(of: script.deleted.ordered())
          .compactMap { $0.model.modelIdentifier.map { ByteString($0) } })
      let returns = script.inserted.contains { row in
        script.models[row]?.modelIdentifier.map { gone.contains(ByteString($0)) } ?? false
      }
      guard returns else { return nil }
      var list = committed
      script.carryOut(on: &list)
      return list
    }
    for (_, place) in list?.places(of: rows) ?? [] {
      guard let model = list?.models[place], let new = scope.regenerate(model)?.model as? T
      else { continue }
      list?.models[place] = new
    }
    return list?.models
  }
}

extension [CollectionChangeInformation] {
  /// Whether something goes and something comes in.
  fileprivate var mayReturnElements: Bool {
    var (hasDelete, hasInsert) = (false, false)
    for change in self {
      switch change {
      case .delete: hasDelete = true
      case .insert: hasInsert = true
      case .update, .move: break
      }
    }
    return hasDelete && hasInsert
  }
}
