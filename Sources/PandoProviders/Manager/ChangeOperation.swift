import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// A change of a node's newest version at the time when the operation runs.
final class ChangeOperation<M: SimpleModel>: ManagedOperation {
  let context: (any Sendable)?
  let outcome: PendingWrite
  let holderNumber: UInt64? = nil
  private let identifier: String
  private let manager: DataModelManager
  private let change: @Sendable (inout M) throws -> Void
  /// Two versions of the model whose difference is the change.
  private let replacement: (new: M, old: M)?
  /// The error if the node does not exist; `nil` if there is nothing to do then.
  private let absence: DataProviderError?
  private let date = Date()
  /// The changed node, if there is no store.
  private let changed = Locked<M?>(nil)

  init(
    _ identifier: String, _ manager: DataModelManager, outcome: PendingWrite = PendingWrite(),
    absence: DataProviderError?, context: (any Sendable)?,
    replacing replacement: (new: M, old: M)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) {
    self.identifier = identifier
    self.manager = manager
    self.outcome = outcome
    self.absence = absence
    self.context = context
    self.replacement = replacement
    self.change = change
  }

  var subjects: [String] { [identifier] }
  var cacheKeys: [String] { [identifier] }

  /// Without a store, this property carries out the change of the live or kept node.
  var obstacle: (any Error)? {
    if case .store = manager.backing { return nil }
    let live = manager.consistencyManager.scope.liveModel(identifier, as: M.self)
    guard var model = live as? M else { return absence }
    do {
      let before = model
      try change(&model)
      try checkIdentifier(of: model)
      if let coded = before as? any (SimpleModel & Codable) {
        model = try Self.consistent(model, from: coded)
      }
      changed.withLock { [model] in $0 = model }
      return nil
    } catch {
      return error
    }
  }

  /// Returns the model with all occurrences of a changed node made equal.
  private static func consistent<Coded: SimpleModel & Codable>(
    _ model: M, from before: Coded
  ) throws -> M {
    guard let new = model as? Coded else { return model }
    return try ModelChildren.rebase(new, from: before, onto: before) as? M ?? model
  }

  /// With a store, the update is empty, because the changed nodes are read after the commit.
  func makeUpdate() -> LiveUpdate {
    if let model = changed.withLock({ $0 }) {
      return LiveUpdate(setting: [model], context: context, date: date)
    }
    var update = LiveUpdate(date: date)
    update.context = context
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    guard let type = M.self as? any (SimpleModel & Codable).Type else {
      throw DataProviderError.notCodable(M.self)
    }
    try update(type, in: &transaction)
  }

  private func update<Stored: SimpleModel & Codable>(
    _ type: Stored.Type, in transaction: inout ModelTransaction
  ) throws {
    if let replacement {
      guard let new = replacement.new as? Stored, let old = replacement.old as? Stored,
        try transaction.snapshot.contains(identifier)
      else {
        if let absence { throw absence }
        return
      }
      return try transaction.set(new, replacing: old)
    }
    let updated = try transaction.updateIfPresent(type, identifier) { stored in
      guard var model = stored as? M else { return }
      try change(&model)
      if let new = model as? Stored { stored = new }
    }
    if updated == nil, let absence { throw absence }
  }

  private func checkIdentifier(of model: M) throws {
    if model.modelIdentifier?.hasSameBytes(as: identifier) == true { return }
    throw DataProviderError(
      .wrongKey, identifier,
      "the update gave it the identifier \(model.modelIdentifier ?? "nil"); it must not change")
  }

  func write(to cache: any CacheDelegate) async throws {
    if let model = changed.withLock({ $0 }) { try await cache.set(model, context) }
  }

  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
