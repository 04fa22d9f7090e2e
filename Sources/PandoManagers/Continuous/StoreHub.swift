import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Follows the commits of one model store for all managers over it, in step with the live trees.
///
/// A write that concerns no followed query or graph reads nothing. For all others the entities are read
/// from the snapshot that the pipeline of the store shows next.
final class StoreHub: Sendable {
  struct State {
    /// Who follows, by namespace of identifiers; several types can share one.
    var types: [ByteString: [any StoreFollowers]] = [:]
    var tally = HubTally()
  }

  let line: StorePipeline
  let state = Locked(State())
  /// Which graphs are followed.
  let graphs = GraphFollowers()
  /// Where queries are read first: never on the thread of a caller.
  let loader = DispatchQueue(label: "pando.following", attributes: .concurrent)

  private init(_ line: StorePipeline) { self.line = line }

  /// The hub of a store, made now if there is none.
  ///
  /// - Parameter store: An open store.
  /// - Returns: The same hub for everybody, as long as somebody keeps it.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  static func hub(of store: ModelStore) throws -> StoreHub {
    let line = try StorePipeline.pipeline(of: store)
    return line.member { StoreHub(line) }
  }

  var store: ModelStore { line.store }

  /// How much work it has done.
  var tally: HubTally { state.withLock { $0.tally } }

  /// How many queries are followed.
  var queryCount: Int {
    state.withLock { $0.types.values.flatMap { $0 } }.reduce(0) { $0 + $1.count }
  }

  /// Takes in what other processes have committed.
  func refresh() async throws { try await line.refresh() }
}

extension StoreHub: StorePipelineMember {
  func plan(for write: CommitEffects) -> CommitPlan {
    guard let changeSet = write.changeSet else { return .nothing }
    let types = state.withLock { $0.types }.filter { $0.value.contains { $0.count > 0 } }
    if types.isEmpty, graphs.count == 0 { return .nothing }
    let touched = TouchedNodes(changeSet, write.content)
    let hasUpdated = !changeSet.updated.isEmpty
    if graphs.count > 0, graphs.concerns(touched, hasUpdated: hasUpdated) { return .read }
    for (namespace, followers) in types where followers.contains(where: { $0.count > 0 }) {
      // Whoever holds a changed node inside is not known without a read.
      let mayHold = hasUpdated && followers.contains { $0.holdsNodes }
      if mayHold || followers.contains(where: { $0.concerns(touched, of: namespace) }) {
        return .read
      }
    }
    return .nothing
  }

  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? { nil }

  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? {
    let types = state.withLock { $0.types }
    var run = FollowingRun(number: group.number, context: group.newest?.context)
    if !types.isEmpty { run.stage(group, types, snapshot) }
    if graphs.count > 0 { graphs.stage(group, snapshot, &run, self) }
    let tally = run.tally
    state.withLock { $0.tally.add(tally) }
    return run
  }

  func finish(_ write: CommitEffects) {}
  func fail(_ write: CommitEffects, _ error: any Error) {}
  func showUnread(_ write: CommitEffects) {}

  /// A query or graph that can't be read any more ends by the error.
  func failRead(_ error: any Error) {
    for followers in state.withLock({ $0.types }).values.joined() { followers.fail(error) }
    graphs.fail(error, self)
  }
}

/// The nodes that a write has touched, and the models that it was given for them.
struct TouchedNodes {
  /// Those that are there, and those that are gone.
  let identifiers: [ByteString]
  let deleted: Set<ByteString>
  /// What was given, by identifier; empty where that does not say what is stored.
  private var given: [ByteString: any SimpleModel] = [:]
  /// Those that were given with different content.
  private var ambiguous: Set<ByteString> = []

  init(_ changeSet: ChangeSet, _ content: WrittenContent) {
    deleted = Set(changeSet.deleted.map { ByteString($0) })
    identifiers =
      changeSet.updated.map { ByteString($0) } + changeSet.inserted.map { ByteString($0) } + deleted
    guard content.isPlain, !content.hasDeletes else { return }
    for models in content.models {
      models.forEach { visit($0, isOneNode: models.areSingleNodes, 0) }
    }
    for identifier in ambiguous { given[identifier] = nil }
  }

  private mutating func visit(
    _ node: any SimpleModel, isOneNode: Bool = false, _ level: Int
  ) {
    guard level <= RecordLimits.maximumNestingDepth else { return }
    if let identifier = node.modelIdentifier.map({ ByteString($0) }) {
      if let other = given.updateValue(node, forKey: identifier), !other.isEqual(to: node) {
        ambiguous.insert(identifier)
      }
    }
    if !isOneNode { (node as? any Model)?.forEach { visit($0, level + 1) } }
  }

  /// What a node is now as a type: the entity, or `nil` for one that is gone.
  ///
  /// - Returns: `nil` if that has to be read.
  func entity<E: Entity>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = given[identifier] as? E else { return nil }
    return entity
  }
}
