import PandoConsistency
import PandoModels
import PandoSystem

/// The memory of a manager without store and cache.
///
/// It keeps committed models by identifier, and lists without a provider by cache key. A
/// ``LiveCollection`` keeps the lists that providers show. The shelf is a holder like those of
/// providers, so its models change together with theirs.
///
/// An update of shown data only adds no models, but changes models that are kept already.
final class MemoryShelf: LiveHolder, @unchecked Sendable {
  // Sendable because its mutable state is used on the pipeline only.

  private struct ModelKey: Hashable {
    let identifier: ByteString
    let type: ObjectIdentifier
  }

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

  /// Keeps the models of an update; of a model without an identifier, the nodes that it contains.
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
      // A model that is kept already has changed with the update.
      if self.models[key] == nil { self.models[key] = put(model, .model(key), scope) }
    }
  }

  /// Returns the elements of a list without a provider; `nil` if there is none.
  func list(_ cacheKey: String) -> [any SimpleModel]? {
    lists[ByteString(cacheKey)].map { rows in rows.compactMap { trees[$0] } }
  }

  /// Replaces the kept elements of a list; `nil` removes the list.
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

  /// Changes the kept models at once, because only the pipeline reads them.
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
