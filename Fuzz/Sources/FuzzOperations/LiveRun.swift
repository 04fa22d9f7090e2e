import FuzzSupport
import Pando
import PandoFixtures
import PandoModels

/// Providers over the store of a run: they make some of its writes, and show all of them.
final class LiveRun {
  static let list = "list:live"

  private let manager: DataModelManager
  private let docs: [LiveView<DocModel>]
  private let cards: LiveView<CardModel>
  private let people: [LiveView<PersonModel>]
  private let badges: LiveView<BadgeModel>
  private let images: LiveView<ImageModel>
  /// The first makes the edits, the second stands still at times.
  private let lists: [LiveList<PersonModel>]
  private let batch: BatchDataProviderListener

  init(_ store: ModelStore) throws {
    let manager = try DataModelManager(store: store)
    self.manager = manager
    docs = (0..<2).map { _ in LiveView(manager) }
    cards = LiveView(manager)
    people = (0..<2).map { _ in LiveView(manager) }
    badges = LiveView(manager)
    images = LiveView(manager)
    lists = (0..<2).map { _ in LiveList(manager, Self.list) }
    batch = BatchDataProviderListener(
      dataProviders: [docs[1].provider, people[1].provider, lists[1].provider],
      dataModelManager: manager)
    for list in lists { try list.begin() }
  }

  func end() throws { try blocking { [manager] in await manager.close() } }

  func drain() throws { try blocking { [manager] in await manager.drain() } }

  /// All providers show what the store holds, and their delegates know it.
  func check(_ store: ModelStore) throws {
    try drain()
    try store.read { snapshot in
      for view in docs { try view.check(snapshot) }
      try cards.check(snapshot)
      for view in people { try view.check(snapshot) }
      try badges.check(snapshot)
      try images.check(snapshot)
      for list in lists { try list.check(snapshot) }
    }
  }

  /// Makes some calls of providers, and the same writes to the reference.
  func perform(on run: inout ModelRun, _ operations: inout OperationMaker) throws {
    switch Int.random(in: 0..<10, using: &operations.trees.random) {
    case 0..<4:
      let tree = operations.trees.tree()
      let isUpdate = operations.trees.chance(30)
      let isDone = try expect(set(tree, isUpdate), .setModel(tree), &run)
      if !isDone, !isUpdate { takeBack(tree.typeName) }
    case 4:
      let key = operations.trees.pick(
        TreeMaker.identifiers(of: operations.trees.pick(TreeMaker.types)))
      try expect(manager.deleteModel(Named(name: key)), .delete(key), &run)
    case 5: pause(operations.trees.chance(50))
    case 6: try fetch(&operations)
    default:
      // Several at once: the shown state is ahead of the committed one. No delegate is called meanwhile,
      // so that what the calls return is in order with it.
      let gate = WriterGate(run.store)
      var calls: [(PendingWrite, StoreOperation)] = []
      for _ in 0..<operations.trees.pick([1, 1, 2, 4]) { calls.append(try edit(&operations)) }
      gate.open()
      for (write, operation) in calls { try expect(write, operation, &run) }
    }
    try check(run.store)
    try run.compare()
  }

  private func set(_ tree: TreeNode, _ isUpdate: Bool) throws -> PendingWrite {
    if isUpdate { return manager.updateModel(try model(tree)) }
    switch tree.typeName {
    case "Doc": return try docs[0].set(tree)
    case "Card": return try cards.set(tree)
    case "Person": return try people[0].set(tree)
    case "Badge": return try badges.set(tree)
    default: return try images.set(tree)
    }
  }

  /// The last set was refused: its provider shows again what it did before.
  private func takeBack(_ typeName: String) {
    switch typeName {
    case "Doc": docs[0].takeBack()
    case "Card": cards.takeBack()
    case "Person": people[0].takeBack()
    case "Badge": badges.takeBack()
    default: images.takeBack()
    }
  }

  private func model(_ tree: TreeNode) throws -> any SimpleModel {
    switch tree.typeName {
    case "Doc": try DocModel(tree)
    case "Card": try CardModel(tree)
    case "Person": try PersonModel(tree)
    case "Badge": try BadgeModel(tree)
    default: try ImageModel(tree)
    }
  }

  private func pause(_ isPaused: Bool) {
    FuzzTarget.trace("live pause \(isPaused)")
    if isPaused {
      batch.isPaused = true
      docs[1].freeze()
      people[1].freeze()
      lists[1].freeze()
    } else {
      docs[1].unfreeze()
      people[1].unfreeze()
      lists[1].unfreeze()
      batch.isPaused = false
    }
  }

  private func fetch(_ operations: inout OperationMaker) throws {
    let listens = operations.trees.chance(60)
    let doc = operations.trees.pick(TreeMaker.identifiers(of: "Doc"))
    let person = operations.trees.pick(TreeMaker.identifiers(of: "Person"))
    let choice = operations.trees.pick([0, 1, 2, 3])
    FuzzTarget.trace("live fetch \([doc, person, doc, person][choice]), listens \(listens)")
    switch choice {
    case 0: try docs[1].fetch(doc, listens: listens)
    case 1: try people[1].fetch(person, listens: listens)
    case 2: try cards.fetch(doc, listens: listens)
    default: try badges.fetch(person, listens: listens)
    }
  }

  /// Edits the list by its first provider, in terms of what that shows.
  private func edit(_ operations: inout OperationMaker) throws -> (PendingWrite, StoreOperation) {
    let provider = lists[0].provider
    let count = provider.count
    let trees = (0..<operations.trees.pick([1, 1, 2])).map { _ in
      operations.trees.tree("Person", depth: 1)
    }
    let models = try trees.map { try PersonModel($0) }
    let values = trees.map { TreeValue.node($0) }
    let place = Int.random(in: 0...count, using: &operations.trees.random)
    let (write, operation): (PendingWrite, StoreOperation) =
      switch (Int.random(in: 0..<10, using: &operations.trees.random), place < count) {
      case (0, _):
        (provider.setData(models, cacheKey: Self.list), .setCollection(Self.list, values))
      case (1...2, true):
        (provider.update(models[0], at: place), .update(Self.list, values[0], place))
      case (3...4, true):
        (provider.remove(at: place), .removeElements(Self.list, place..<(place + 1)))
      case (5...6, true):
        (provider.move(from: place, to: count - 1), .move(Self.list, place, count - 1))
      case (7, _): (provider.append(models), .append(Self.list, values))
      default: (provider.insert(models, at: place), .insert(Self.list, values, place))
      }
    lists[0].follow(write.change)
    return (write, operation)
  }

  /// A call must be refused exactly when the reference refuses the same write.
  ///
  /// - Returns: Whether it was carried out.
  @discardableResult
  private func expect(
    _ write: PendingWrite, _ operation: StoreOperation, _ run: inout ModelRun
  ) throws -> Bool {
    let isRefused = (try? blocking { _ = try await write.committed() }) == nil
    FuzzTarget.trace("\(run.step): live\(isRefused ? ", refused" : "") \(operation)")
    let before = run.reference
    var operation = operation
    if case .insert(let key, let values, _) = operation, before.collections[key] == nil {
      operation = .append(key, values)  // a provider makes the list
    }
    do {
      try operation.apply(to: &run.reference)
      guard !run.reference.isCyclic() else { throw ReferenceStore.Refusal.cyclicModel }
    } catch is ReferenceStore.Refusal {
      run.reference = before
      guard isRefused else { throw Difference("\(operation): accepted") }
      return false
    }
    if isRefused {
      // The store may refuse what would be a cycle half way through the write.
      guard run.reference.isCyclic(with: before) else {
        throw Difference("\(operation): refused as \(String(describing: write.error))")
      }
      run.reference = before
    } else {
      _ = run.reference.commit()
    }
    return !isRefused
  }

  /// Only names a node; it is deleted whatever its type.
  @Model fileprivate struct Named {
    var name: String
    var modelIdentifier: String { name }
  }
}
