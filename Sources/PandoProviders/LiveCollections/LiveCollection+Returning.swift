import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Returns the committed elements if a commit has removed an element and inserted it again.
  ///
  /// Members are then notified of a move instead of a deletion and an insertion. Used for commits
  /// that are not edits of this collection.
  ///
  /// - Parameters:
  ///   - changes: The changes of positions.
  ///   - models: The new models, by their positions after all changes.
  ///   - rows: The rows that contain changed nodes.
  ///   - scope: Regenerates the rows.
  /// - Returns: `nil` if no removed element was inserted again.
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
  /// True if the changes contain both a deletion and an insertion.
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
