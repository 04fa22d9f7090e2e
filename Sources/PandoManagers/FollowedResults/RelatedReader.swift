import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Reads the related values of entities for one iteration.
///
/// ```
/// join ─► advance: which entities have another value? ─► value, for these ─► advance …
/// ```
protocol RelatedReader<Value>: AnyObject {
  associatedtype Value: Sendable

  /// Begins to follow the related models, unless it does.
  ///
  /// - Parameter bell: Published after each news.
  /// - Throws: The error why they can't be followed.
  func join(_ bell: ObservedState<Void>) throws

  /// Takes over the newest state.
  ///
  /// - Returns: The entities whose values may differ from those of the state before.
  /// - Throws: The error by which the models can't be followed any more.
  func advance() throws -> RelatedNews

  /// The value of an entity in the state that was taken over; it may be newer.
  func value(of key: QueryValue) throws -> Value

  /// Whether two values are equal, with the same bytes in their texts.
  func areSame(_ old: Value, _ new: Value) -> Bool
}

/// The entities whose related values may have changed.
enum RelatedNews {
  /// There is no state yet.
  case loading
  /// There will be no other state.
  case ended
  case entities(Set<QueryValue>)
  case all

  /// The news of two.
  func joined(_ other: RelatedNews) -> RelatedNews {
    switch (self, other) {
    case (.ended, _), (_, .ended): .ended
    case (.loading, _), (_, .loading): .loading
    case (.all, _), (_, .all): .all
    case (.entities(let one), .entities(let others)): .entities(one.union(others))
    }
  }
}

/// A live object that an iteration follows, and the newest value that it has taken over.
struct JoinedView<Live: LiveView> {
  private let source: FollowedSource<Live>
  private var following: (live: Live, cursor: ObserverCursor)?
  private weak var bell: ObservedState<Void>?
  private(set) var value: Live.Value?
  private(set) var isEnded = false

  init(_ source: FollowedSource<Live>) { self.source = source }

  mutating func join(_ bell: ObservedState<Void>) throws {
    if following != nil { return }
    let joined = try source.join()
    joined.live.observed.ring(bell)
    self.bell = bell
    following = joined
  }

  /// Takes over the newest value.
  ///
  /// - Returns: Whether it is another one.
  /// - Throws: The error that ended the live object.
  mutating func advance() throws -> Bool {
    guard let live = following?.live, var cursor = following?.cursor else { return false }
    defer { following = (live, cursor) }
    let news = try live.observed.newest(&cursor)
    isEnded = cursor.isFinished
    // The iteration may have taken the ring for the end together with the one for the last value.
    if news != nil, live.observed.endsObservation(cursor) { bell?.publish(()) }
    guard let newest = news?.contents else { return false }
    value = newest
    return true
  }
}

/// The readers of several related values; the value is a tuple of theirs.
final class RelatedReaders<each Part: Sendable & Equatable>: RelatedReader {
  private let readers: (repeat any RelatedReader<each Part>)

  init(_ readers: repeat any RelatedReader<each Part>) { self.readers = (repeat each readers) }

  func join(_ bell: ObservedState<Void>) throws {
    for reader in repeat each readers { try reader.join(bell) }
  }

  func advance() throws -> RelatedNews {
    var news = RelatedNews.entities([])
    for reader in repeat each readers { news = news.joined(try reader.advance()) }
    return news
  }

  func value(of key: QueryValue) throws -> (repeat each Part) {
    (repeat try (each readers).value(of: key))
  }

  func areSame(_ old: (repeat each Part), _ new: (repeat each Part)) -> Bool {
    for (reader, old, new) in repeat (each readers, each old, each new) {
      guard reader.areSame(old, new) else { return false }
    }
    return true
  }
}

/// A related value that can be followed.
protocol FollowedRelatedSource<Value>: RelatedSource {
  /// Prepares readers, which share the work.
  ///
  /// - Parameter hub: Follows the store, or the error why it can't be followed.
  /// - Returns: A function that makes a reader.
  func makeReader(
    _ hub: Result<StoreHub, any Error>
  ) -> @Sendable () -> any RelatedReader<Value>
}

extension RelatedAnswer: FollowedRelatedSource {
  func makeReader(
    _ hub: Result<StoreHub, any Error>
  ) -> @Sendable () -> any RelatedReader<Value> {
    let source = FollowedSource(hub) {
      try self.validate()
      return LiveAnswer(self.grouped, of: self.query, tracksGroups: true)
    }
    return { Reader(self, source) }
  }

  private final class Reader: RelatedReader {
    private let related: RelatedAnswer
    private var view: JoinedView<LiveAnswer<S, Tally>>
    private var table: PartTable?
    /// The place among the changed groups of the table.
    private var place: Int?
    private var groups: [GroupValues: Tally] = [:]

    init(_ related: RelatedAnswer, _ source: FollowedSource<LiveAnswer<S, Tally>>) {
      self.related = related
      view = JoinedView(source)
    }

    func join(_ bell: ObservedState<Void>) throws { try view.join(bell) }

    func advance() throws -> RelatedNews {
      let isNew = try view.advance()
      if view.isEnded { return .ended }
      switch view.value {
      case nil: return .loading
      case .answer(let tally):
        (table, groups) = (nil, tally.groups)
        return isNew ? .all : .entities([])
      case .parts(let newest, _):
        if table !== newest { (table, place) = (newest, nil) }
        let changed = newest.changedGroups(since: place)
        place = changed.place
        guard let groups = changed.groups else { return .all }
        return .entities(
          Set(groups.lazy.compactMap { if case .one(let key) = $0 { key } else { nil } }))
      }
    }

    func value(of key: QueryValue) throws -> Value {
      try related.answer(table.map { $0.tally(of: .one(key)) } ?? groups[.one(key)])
    }

    func areSame(_ old: Value, _ new: Value) -> Bool {
      guard old == new else { return false }
      // Equal texts may differ in their bytes.
      guard let old = old as? any QueryRepresentable, let new = new as? any QueryRepresentable
      else { return true }
      return !old.queryValue.differs(from: new.queryValue)
    }
  }
}

extension RelatedModels: FollowedRelatedSource {
  func makeReader(
    _ hub: Result<StoreHub, any Error>
  ) -> @Sendable () -> any RelatedReader<Value> {
    let followed = AcceptedQuery(query)
    let source = FollowedSource(hub) {
      try self.validate()
      return LiveQuery(followed)
    }
    return { Reader(self, source) }
  }

  private final class Reader: RelatedReader {
    private let related: RelatedModels
    private var view: JoinedView<LiveQuery<S>>
    /// The models of all entities, ordered by these first.
    private var rows: ChunkedArray<ResultRow>?

    init(_ related: RelatedModels, _ source: FollowedSource<LiveQuery<S>>) {
      self.related = related
      view = JoinedView(source)
    }

    func join(_ bell: ObservedState<Void>) throws { try view.join(bell) }

    func advance() throws -> RelatedNews {
      let isNew = try view.advance()
      if view.isEnded { return .ended }
      guard let window = view.value else { return .loading }
      guard isNew else { return .entities([]) }
      let newest = window.shownRows
      defer { rows = newest }
      guard let rows else { return .all }
      var changed: Set<QueryValue> = []
      for part in newest.changedParts(since: rows) {
        let old = rows.elements(in: part.old) { $0 }
        let new = newest.elements(in: part.new) { $0 }
        let kept = Set(old.lazy.map { ObjectIdentifier($0) }).intersection(
          new.lazy.map { ObjectIdentifier($0) })
        for row in old + new where !kept.contains(ObjectIdentifier(row)) {
          changed.insert(row.values[0])
        }
      }
      return .entities(changed)
    }

    func value(of key: QueryValue) throws -> Value {
      guard let rows else { return related.value(of: 0) { _ in nil } }
      let first = rows.partitioningIndex { !($0.values[0] < key) }
      var own: [ResultRow] = []
      for row in rows[first...] {
        guard row.values[0] == key, own.count < related.mostRead else { break }
        own.append(row)
      }
      return related.value(of: own.count) { own[$0].entity(as: S.self) }
    }

    func areSame(_ old: Value, _ new: Value) -> Bool { related.areSame(old, new) }
  }
}
