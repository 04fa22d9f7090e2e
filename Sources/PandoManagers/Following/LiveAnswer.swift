import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed answer to a question.
///
/// It keeps what each entity adds to the answer, so a commit changes it by the difference of the touched entities.
/// A question about a window of a query, about named entities or about entities that nodes hold is asked again
/// instead.
final class LiveAnswer<E: Queryable, Answer: Sendable>: LiveView {
  /// The answer after a commit.
  enum Value: Sendable {
    case answer(Answer)
    case parts(PartTable<E>)

    /// The answer to the question.
    ///
    /// - Throws: `QueryError` as `ModelSnapshot.answer(_:to:)`.
    func answer(to question: Question<E, Answer>) throws -> Answer {
      switch self {
      case .answer(let answer): answer
      case .parts(let table): try question.answer(table.tally)
      }
    }
  }

  let followed: AcceptedQuery<E>
  let state = FollowedState<Value>()
  let number = FollowedNumber.next()
  let endings = Endings()
  let hasOtherTypes = false
  private let question: Question<E, Answer>

  /// Makes an answer that is not followed yet.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: A valid query.
  init(_ question: Question<E, Answer>, of query: Query<E>) {
    self.question = question
    followed = AcceptedQuery(query, findsByType: query.hasWindow || query.nodeIdentifiers != nil)
  }

  /// Whether the question is asked again after each commit that concerns it.
  private var isAskedAgain: Bool {
    followed.needsStore || followed.query.hasWindow || followed.query.nodeIdentifiers != nil
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
    if let example = snapshot.example(of: E.self) { type.note(example) }
    let query = try followed.query.current(in: snapshot)
    if isAskedAgain { return .answer(try snapshot.answer(question, to: query)) }
    return .parts(try PartTable(AnswerParts(question, of: query, snapshot), snapshot))
  }

  func nodes(of value: Value) -> Set<ByteString> {
    guard case .parts(let table) = value, case .values = followed.key else { return [] }
    return table.identifiers
  }

  func depends(_ value: Value, on node: ByteString) -> Bool {
    guard case .parts(let table) = value, case .values = followed.key else { return false }
    return table.contains(node)
  }

  func stage(
    _ nodes: [ByteString]?, _ run: inout FollowingRun, _ snapshot: ModelSnapshot,
    _ type: TypeViews<E>
  ) throws -> Value? {
    run.displaced = []
    guard let staged = state.staged(before: run.number, isKnown: nodes != nil) else { return nil }
    let value: Value
    if let nodes, case .parts(let table) = staged {
      run.tally.evaluations += nodes.count
      guard try table.stage(nodes, snapshot) else { return nil }
      value = staged
    } else {
      run.tally.refills += 1
      value = try load(snapshot, type)
    }
    state.stage(value, at: run.number)
    return value
  }

  func begin(in hub: StoreHub) {}
  func delays(_ value: Value, in hub: StoreHub) -> Bool { false }
  func willShow(_ value: Value) { if case .parts(let table) = value { table.show() } }
  func didShow(_ value: Value, in hub: StoreHub) {}
}

/// The part of each entity of a query in an answer, and the tally of the shown entities.
///
/// ```
/// commit ─► stage: the parts of the touched nodes change ─► show: the tally changes by their difference
/// ```
/// The pipeline changes it; any thread reads the tally.
final class PartTable<E: Queryable>: Sendable {
  private struct Change {
    let old: [QueryValue]?
    let new: [QueryValue]?
  }

  private struct State {
    var parts: [ByteString: [QueryValue]] = [:]
    /// The changes of parts that the tally lacks.
    var staged: [Change] = []
    var tally: RunningTally
  }

  private let source: AnswerParts<E>
  private let state: Locked<State>

  /// Counts the entities of a version.
  ///
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  init(_ source: AnswerParts<E>, _ snapshot: ModelSnapshot) throws {
    self.source = source
    var counted = State(tally: source.tally)
    try source.forEach(in: snapshot) { identifier, part in
      counted.parts[identifier] = part
      counted.tally.add(part)
    }
    state = Locked(counted)
  }

  /// The nodes of the counted entities, with those of staged changes.
  var identifiers: Set<ByteString> { state.withLock { Set($0.parts.keys) } }

  /// Whether a node is one of ``identifiers``.
  func contains(_ node: ByteString) -> Bool { state.withLock { $0.parts[node] != nil } }

  /// The tally of the shown entities.
  var tally: Tally { state.withLock { $0.tally }.tally }

  /// Reads the parts of touched nodes.
  ///
  /// - Returns: Whether one has changed.
  /// - Throws: As `ModelSnapshot.answer(_:to:)`.
  func stage(_ nodes: [ByteString], _ snapshot: ModelSnapshot) throws -> Bool {
    let parts = try nodes.map { ($0, try source.part(of: $0, in: snapshot)) }
    return state.withLock { state in
      for (node, new) in parts {
        let old = state.parts[node]
        if old == new { continue }
        state.parts[node] = new
        state.staged.append(Change(old: old, new: new))
      }
      return !state.staged.isEmpty
    }
  }

  /// Shows the staged changes in the tally.
  func show() {
    state.withLock { state in
      for change in state.staged {
        if let old = change.old { state.tally.remove(old) }
        if let new = change.new { state.tally.add(new) }
      }
      state.staged = []
    }
  }
}
