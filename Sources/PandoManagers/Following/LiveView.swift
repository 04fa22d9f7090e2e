import PandoModels
import PandoProviders
import PandoStore

/// A followed query or graph with its present value.
///
/// Iterations share it and hold it; a ``ViewIndex`` holds it weakly. It ends with the last iteration.
///
/// ```
/// load ─► follow ─► stage, after each commit that a ``ViewIndex`` finds it by ─► commit
/// ```
/// Its value after a commit equals a value that is loaded from the snapshot of that commit.
protocol LiveView<Value>: AnyObject, Sendable {
  associatedtype E: Queryable
  associatedtype Value: Sendable

  /// Unique in this process.
  var number: UInt64 { get }
  /// The query for its entities, or for its roots.
  var followed: AcceptedQuery<E> { get }
  var state: FollowedState<Value> { get }
  /// Closures that run after the last iteration.
  var endings: Endings { get }
  /// Whether an entity of any type may belong to the value; each commit may then affect it while it is loaded.
  var hasOtherTypes: Bool { get }

  /// Shows an answer that is not stored, so that nothing changes it later.
  ///
  /// - Returns: `false` if only stored values can be shown.
  func show(_ answer: QueryResult<E>) -> Bool

  /// Loads the value from a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: The snapshot.
  ///   - type: The views of the type; records whether its entities contain other nodes.
  /// - Returns: The value.
  /// - Throws: `ModelError` if an entity can't be decoded and has to be; `StoreError`.
  func load(_ snapshot: ModelSnapshot, _ type: TypeViews<E>) throws -> Value

  /// The number of the value's nodes, if only ranges of values find other entities for it; otherwise 0.
  func rangedCount(of value: Value) -> Int

  /// The value beyond which no entity enters, for a view with an `order` key; `nil` if any match enters.
  func last(of value: Value) -> QueryValue?

  /// The nodes whose changes may change a value, beside those that ``TypeViews`` finds.
  func nodes(of value: Value) -> Set<ByteString>

  /// Whether a node is one of ``nodes(of:)``.
  func depends(_ value: Value, on node: ByteString) -> Bool

  /// Plans to stage the value after a write from the models that the write was given; changes nothing.
  ///
  /// - Parameters:
  ///   - nodes: The touched nodes that concern it.
  ///   - touched: The entities of the write.
  ///   - store: The store, for the ranks of new entities, and for entities that the write has not touched.
  ///   - type: The views of the type.
  /// - Returns: The plan.
  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore,
    _ type: @autoclosure () -> TypeViews<E>
  ) -> ViewPlan<Value>

  /// Stages the value after commits.
  ///
  /// - Parameters:
  ///   - nodes: The touched nodes that concern it; `nil` if they are unknown.
  ///   - run: Reads the entities of the commits.
  ///   - snapshot: The store after the last commit.
  ///   - type: The views of the type.
  /// - Returns: The value to publish; `nil` if it has not changed.
  /// - Throws: As ``load(_:_:)``.
  func stage(
    _ nodes: [ByteString]?, _ run: inout FollowingRun, _ snapshot: ModelSnapshot,
    _ type: TypeViews<E>
  ) throws -> Value?

  /// Called when a hub begins to follow it.
  func begin(in hub: StoreHub)

  /// Whether a first value must not be shown yet; the view later calls the hub to load it again.
  func delays(_ value: Value, in hub: StoreHub) -> Bool

  /// Called before a value is published.
  func willShow(_ value: Value)

  /// Called after a value was published.
  func didShow(_ value: Value, in hub: StoreHub)
}

/// How a view is staged after a write.
enum ViewPlan<Value: Sendable>: Sendable {
  /// The write changes nothing.
  case nothing
  /// The closure stages the value, and returns it if it has changed.
  case stage(@Sendable (inout FollowingRun) throws -> Value?)
  /// A snapshot has to be read.
  case read
}

extension LiveView {
  /// The state that observers read.
  var observed: ObservedState<Value?> { state.observed }

  /// Whether ``ViewIndex`` finds it by nodes of its value.
  var keepsNodes: Bool {
    if case .type = followed.key { return hasOtherTypes }
    return true
  }

  func rangedCount(of value: Value) -> Int { 0 }
  func last(of value: Value) -> QueryValue? { nil }
  func willShow(_ value: Value) {}

  /// Ends all iterations.
  func finish() { observed.finish() }
}
