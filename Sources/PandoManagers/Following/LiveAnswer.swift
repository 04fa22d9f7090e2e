import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed answer to a question.
///
/// It keeps what each entity adds to the answer, so a commit changes it by the difference of the touched entities.
/// It is loaded again instead if the query has an offset or a limit, or names entities. The same holds if the query
/// depends on other rows of the store than the models that `.has` counts.
final class LiveAnswer<E: Queryable, Answer: Sendable>: LiveView {
  /// The answer after a commit.
  enum Value: Sendable {
    case answer(Answer)
    case parts(PartTable, PartReader<E>)

    /// The answer to the question.
    ///
    /// - Throws: `QueryError` as `ModelSnapshot.answer(_:to:)`.
    func answer(to question: Question<E, Answer>) throws -> Answer {
      switch self {
      case .answer(let answer): answer
      case .parts(let table, _): try question.answer(table.tally)
      }
    }
  }

  let followed: AcceptedQuery<E>
  let state = FollowedState<Value>()
  let number = FollowedNumber.next()
  let endings = Endings()
  let hasOtherTypes = false
  private let question: Question<E, Answer>
  private let tracksGroups: Bool

  /// Makes an answer that is not followed yet.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: A valid query.
  ///   - tracksGroups: Whether the table records which groups of a grouped question have changed.
  init(_ question: Question<E, Answer>, of query: Query<E>, tracksGroups: Bool = false) {
    self.question = question
    self.tracksGroups = tracksGroups
    followed = AcceptedQuery(query, findsByType: query.hasWindow || query.nodeIdentifiers != nil)
  }

  /// Whether the answer is loaded again after each commit that may affect it.
  private var isAskedAgain: Bool {
    followed.needsStore && !followed.countsModels || followed.query.hasWindow
      || followed.query.nodeIdentifiers != nil
  }

  func show(_ answer: QueryResult<E>) -> Bool {
    do {
      observed.publish(.answer(try question.answer(answer.entities)))
    } catch {
      state.fail(error)
    }
    return true
  }

  func load(_ snapshot: ModelSnapshot, _ type: TypeViews<E>) throws -> Value {
    if question.looksIntoNodes { type.noteHolders() }
    if let example = snapshot.example(of: E.self) { type.note(example) }
    let query = try followed.query.current(in: snapshot)
    if isAskedAgain { return .answer(try snapshot.answer(question, to: query)) }
    let reader = try PartReader(question, of: query, snapshot)
    return .parts(try reader.table(in: snapshot, tracksGroups: tracksGroups), reader)
  }

  func nodes(of value: Value) -> Set<ByteString> {
    guard case .parts(let table, _) = value, followed.key.keepsNodes else { return [] }
    return table.identifiers
  }

  func rangedCount(of value: Value) -> Int {
    guard case .parts(let table, _) = value, followed.key.hasRangesOnly else { return 0 }
    return table.count
  }

  func depends(_ value: Value, on node: ByteString) -> Bool {
    guard case .parts(let table, _) = value, followed.key.keepsNodes else { return false }
    return table.contains(node)
  }

  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore,
    _ type: @autoclosure () -> TypeViews<E>
  ) -> ViewPlan<Value> {
    guard case .parts(_, let reader) = state.current,
      let plan = reader.plan(nodes, touched, store)
    else { return .read }
    if plan.isEmpty { return .nothing }
    return .stage { run in
      guard let staged = self.state.staged(before: run.number, isKnown: true),
        case .parts(let table, _) = staged
      else { return nil }
      plan.conditions?.apply(&run)
      return self.stage(plan.parts, in: table, staged, &run)
    }
  }

  private func stage(
    _ parts: [PartTable.Part], in table: PartTable, _ staged: Value, _ run: inout FollowingRun
  ) -> Value? {
    run.tally.evaluations += parts.count
    guard table.stage(parts, &run.moved) else { return nil }
    state.stage(staged, at: run.number)
    return staged
  }

  func stage(
    _ nodes: [ByteString]?, _ run: inout FollowingRun, _ snapshot: ModelSnapshot,
    _ type: TypeViews<E>
  ) throws -> Value? {
    guard let staged = state.staged(before: run.number, isKnown: nodes != nil) else { return nil }
    if let nodes, case .parts(let table, let reader) = staged {
      return stage(try reader.advance(by: nodes, in: snapshot), in: table, staged, &run)
    }
    run.tally.refills += 1
    let value = try load(snapshot, type)
    state.stage(value, at: run.number)
    return value
  }

  func begin(in hub: StoreHub) {}
  func delays(_ value: Value, in hub: StoreHub) -> Bool { false }
  func willShow(_ value: Value) { if case .parts(let table, _) = value { table.show() } }
  func didShow(_ value: Value, in hub: StoreHub) {}
}

/// The part of each entity of a query, and the tally of the shown entities.
///
/// A part has the values that one entity adds to the answer.
///
/// ```
/// commit ─► stage: the parts of the touched nodes change ─► show: the tally changes by their difference
/// ```
/// The pipeline changes it; any thread reads the tally.
final class PartTable: Sendable {
  /// The new part of a touched node; `nil` for an entity that does not belong to the query.
  typealias Part = (node: ByteString, new: [QueryValue]?)

  private struct Change {
    let old: [QueryValue]?
    let new: [QueryValue]?
  }

  private struct State {
    var parts: [ByteString: [QueryValue]] = [:]
    /// The changes of parts that the tally lacks.
    var staged: [Change] = []
    let tally: RunningTally
    /// The last changed groups, in order.
    var changed: [GroupValues] = []
    /// The number of changed groups that are not kept any more.
    var changedStart = 0

    /// Shows the staged changes, and returns the groups that have changed.
    mutating func show() -> Set<GroupValues> {
      for change in staged {
        if let old = change.old { tally.remove(old) }
        if let new = change.new { tally.add(new) }
      }
      staged = []
      return tally.takeChangedGroups()
    }
  }

  /// When more changed groups are kept, the older half is dropped.
  private static let changedMaximum = 8_192

  private let state: Locked<State>

  /// Makes a table without entities.
  ///
  /// - Parameter measure: The measure; its fields are positions in a part.
  init(_ measure: NumberedMeasure<some Sendable>) {
    state = Locked(State(tally: RunningTally(measure)))
  }

  /// Keeps the groups that change from now on, for ``changedGroups(since:)``.
  func trackGroups() { state.withLock { $0.tally.trackGroups() } }

  /// Counts an entity.
  func insert(_ identifier: ByteString, _ part: [QueryValue]) {
    state.withLock { state in
      state.parts[identifier] = part
      state.tally.add(part)
    }
  }

  /// The nodes of the counted entities, with those of staged changes.
  var identifiers: Set<ByteString> { state.withLock { Set($0.parts.keys) } }

  /// The number of ``identifiers``.
  var count: Int { state.withLock { $0.parts.count } }

  /// Whether a node is one of ``identifiers``.
  func contains(_ node: ByteString) -> Bool { state.withLock { $0.parts[node] != nil } }

  /// The tally of the shown entities.
  var tally: Tally { state.withLock { $0.tally.tally } }

  /// The tally of the shown entities of a group; `nil` if there are none.
  func tally(of group: GroupValues) -> Tally? { state.withLock { $0.tally.tally(of: group) } }

  /// The groups that have changed since an earlier call.
  ///
  /// - Parameter place: The place among all changes that an earlier call has returned; `nil` for the first call.
  /// - Returns: The groups, `nil` if they are not known any more; and the place for the next call.
  func changedGroups(since place: Int?) -> (groups: [GroupValues]?, place: Int) {
    state.withLock { state in
      let end = state.changedStart + state.changed.count
      guard let place, place >= state.changedStart else { return (nil, end) }
      return (Array(state.changed[(place - state.changedStart)...]), end)
    }
  }

  /// Stages the parts of touched nodes.
  ///
  /// - Parameters:
  ///   - parts: The parts.
  ///   - moved: Receives the nodes that the table gains or loses.
  /// - Returns: Whether a part has changed.
  func stage(_ parts: [Part], _ moved: inout [ByteString]) -> Bool {
    state.withLock { state in
      for (node, new) in parts {
        let old = state.parts[node]
        if PartTable.areSame(old, new) { continue }
        state.parts[node] = new
        if old == nil || new == nil { moved.append(node) }
        state.staged.append(Change(old: old, new: new))
      }
      return !state.staged.isEmpty
    }
  }

  /// Works out how parts of touched nodes change the numbers of entities in the groups of a grouped question.
  ///
  /// It changes nothing.
  ///
  /// - Parameter parts: The parts.
  /// - Returns: The parts that differ from those of the table, and the difference of each number.
  func differences(of parts: [Part]) -> (parts: [Part], counts: [GroupValues: Int]) {
    state.withLock { state in
      var counts: [GroupValues: Int] = [:]
      let changed = parts.filter { node, new in
        let old = state.parts[node]
        if PartTable.areSame(old, new) { return false }
        if let old { state.tally.forEachGroup(of: old) { counts[$0, default: 0] -= 1 } }
        if let new { state.tally.forEachGroup(of: new) { counts[$0, default: 0] += 1 } }
        return true
      }
      return (changed, counts)
    }
  }

  /// Whether two parts add the same to an answer; `==` does not suffice, because it takes all lists as equal.
  private static func areSame(_ old: [QueryValue]?, _ new: [QueryValue]?) -> Bool {
    guard let old, let new else { return old == nil && new == nil }
    return zip(old, new).allSatisfy { !$0.differs(from: $1) }
  }

  /// Shows parts of touched nodes at once.
  ///
  /// - Returns: The groups that have changed, if the table tracks them.
  func show(_ parts: [Part]) -> Set<GroupValues> {
    var moved: [ByteString] = []
    return stage(parts, &moved) ? state.withLock { $0.show() } : []
  }

  /// Shows the staged changes in the tally.
  func show() {
    state.withLock { state in
      state.changed += state.show()
      if state.changed.count > Self.changedMaximum {
        let dropped = state.changed.count - Self.changedMaximum / 2
        state.changed.removeFirst(dropped)
        state.changedStart += dropped
      }
    }
  }
}
