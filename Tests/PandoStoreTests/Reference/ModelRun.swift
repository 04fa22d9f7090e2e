import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// A store and its reference, changed in the same way and compared after each write.
struct ModelRun {
  private struct Thrown: Error {}

  var store: ModelStore
  var reference = ReferenceStore(types: TreeMaker.types)
  var step = 0
  let seed: UInt64
  let usesModels: Bool
  private let path: String

  init(path: String, seed: UInt64, usesModels: Bool) throws {
    self.path = path
    self.seed = seed
    self.usesModels = usesModels
    store =
      switch Backing.current {
      case .folder: try ModelStore(path: path, configuration: .forTests)
      case .memory: try ModelStore.inMemory(configuration: .forTests)
      }
    // Give the types their numbers in the order of the reference.
    try perform(
      TreeMaker.types.map { .set(TreeNode("first:\($0)", type: $0)) }, isThrown: false)
    try perform([.removeAll], isThrown: false)
  }

  var place: Comment { "seed \(seed), step \(step), over \(Backing.current)" }

  /// Goes on with the same contents, opened again; in memory with a copy.
  mutating func reopen() throws {
    switch Backing.current {
    case .folder:
      store.close()
      store = try ModelStore(path: path, configuration: .forTests)
    case .memory:
      let copy = try ModelStore.inMemory(copyOf: store, configuration: .forTests)
      store.close()
      store = copy
    }
    try compare()
  }

  /// Some operations that the reference accepts one after another, or a single one that may be
  /// refused.
  func plan(_ operations: inout OperationMaker) throws -> [StoreOperation] {
    if operations.trees.chance(50) { return [operations.operation(reference)] }
    var planned: [StoreOperation] = []
    var state = reference
    for _ in 0..<4 {
      let operation = operations.operation(state)
      var tried = state
      guard (try? operation.apply(to: &tried)) != nil, !tried.isCyclic(with: state) else {
        continue
      }
      state = tried
      planned.append(operation)
    }
    return planned
  }

  mutating func perform(_ operations: [StoreOperation], isThrown: Bool) throws {
    let outcome = Result {
      try store.commit { transaction in
        for operation in operations { try operation.apply(to: &transaction) }
        if isThrown { throw Thrown() }
      }
    }
    let before = reference
    do {
      for operation in operations { try operation.apply(to: &reference) }
      guard !reference.isCyclic() else { throw ReferenceStore.Refusal.cyclicModel }
    } catch let refusal as ReferenceStore.Refusal {
      reference = before
      try checkRefused(outcome, as: refusal)
      return try compare()
    }
    if isThrown {
      reference = before
      #expect(throws: Thrown.self, place) { try outcome.get() }
    } else if case .failure(let error as StoreError) = outcome, error.code == .cyclicModel {
      // The store may refuse what would be a cycle half way through the write.
      try #require(reference.isCyclic(with: before), "\(place) \(operations)")
      reference = before
    } else {
      let changes = reference.commit()
      let changeSet = try outcome.get().changeSet
      try compare(changeSet, changes, before)
    }
    try compare()
  }

  private func checkRefused(
    _ outcome: Result<(result: Void, changeSet: ChangeSet?), any Error>,
    as refusal: ReferenceStore.Refusal
  ) throws {
    guard case .failure(let error) = outcome else {
      Issue.record("\(place): the store accepted what must be refused as \(refusal)")
      return
    }
    let code = (error as? StoreError)?.code.rawValue ?? (error as? ModelError)?.code.rawValue
    try #require(code == "\(refusal)", "\(place): \(error)")
  }
}
