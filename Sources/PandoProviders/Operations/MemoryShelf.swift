import PandoConsistency
import PandoModels
import PandoSystem

/// The memory of a manager without store and cache: committed models by identifier, and lists that nobody shows by
/// cache key.
///
/// It is a holder like those of the providers: its models change together with theirs. A ``LiveCollection`` keeps a
/// list that somebody shows.
///
/// An update of what is shown only adds nothing here, and changes what is kept already: in memory the two are not apart.
final class MemoryShelf: LiveHolder, @unchecked Sendable {
  // Sendable because only the pipeline uses what can change.

  private struct ModelKey: Hashable {
    let identifier: ByteString
    let type: ObjectIdentifier
  }

  /// The owner of a row.
  private enum Owner {
    case model(ModelKey)
    case list(ByteString)
  }

  let number: UInt64
  private var trees: [LiveRow: any SimpleModel] = [:]
  private var owners: [LiveRow: Owner] = [:]
  private var models: [ModelKey: LiveRow] = [:]
  private var lists: [ByteString: [LiveRow]] = [:]
  private var lastRow: LiveRow = 0
  private var isAdded = false

  init(_ manager: ConsistencyManager) { number = manager.makeHolderNumber() }

  /// Keeps models that an update has brought; of one without an identifier, the nodes that it holds.
  func keep(_ models: [any SimpleModel], _ scope: PipelineScope) {
    for model in models {
      guard let identifier = model.modelIdentifier else {
        guard let model = model as? any Model else { continue }
        var children: [any SimpleModel] = []
        model.forEach { children.append($0) }
        keep(children, scope)
        continue
      }
      let key = ModelKey(
        identifier: ByteString(identifier), type: ObjectIdentifier(type(of: model)))
      // One that is kept already has changed with the update.
      if self.models[key] == nil { self.models[key] = put(model, .model(key), scope) }
    }
  }

  /// The elements of a list that nobody shows; `nil` if there is none.
  func list(_ cacheKey: String) -> [any SimpleModel]? {
    lists[ByteString(cacheKey)].map { rows in rows.compactMap { trees[$0] } }
  }

  /// Keeps the elements of a list in place of those that were kept; `nil` to keep none.
  func setList(_ cacheKey: String, to models: [any SimpleModel]?, _ scope: PipelineScope) {
    let key = ByteString(cacheKey)
    for row in lists[key] ?? [] { remove(row, scope) }
    lists[key] = models.map { $0.map { put($0, .list(key), scope) } }
  }

  private func put(_ model: any SimpleModel, _ owner: Owner, _ scope: PipelineScope) -> LiveRow {
    if !isAdded {
      isAdded = true
      scope.add(self)
    }
    lastRow += 1
    trees[lastRow] = model
    owners[lastRow] = owner
    scope.register(self, row: lastRow, old: nil, new: model)
    return lastRow
  }

  private func remove(_ row: LiveRow, _ scope: PipelineScope) {
    guard let tree = trees.removeValue(forKey: row) else { return }
    owners[row] = nil
    scope.register(self, row: row, old: tree, new: nil)
  }

  func tree(ofRow row: LiveRow) -> (any SimpleModel)? { trees[row] }

  /// Changes what is kept at once, as nobody sees it but the pipeline.
  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    for row in rows {
      guard let tree = trees[row],
        let regeneration = scope.regenerate(tree, isConcerned: true)
      else { continue }
      if let model = regeneration.model {
        guard type(of: model) == type(of: tree) else { continue }
        scope.register(self, row: row, old: tree, new: model)
        trees[row] = model
        continue
      }
      switch owners[row] {
      case .model(let key): models[key] = nil
      case .list(let key): lists[key]?.removeAll { $0 == row }
      case nil: break
      }
      remove(row, scope)
    }
    return nil
  }
}
