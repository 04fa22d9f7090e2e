import PandoModels
import PandoStore
import PandoSystem

/// Entities of one type to request together.
struct GraphAsk: Sendable {
  let type: any Entity.Type
  /// The number of the path's own origin; `nil` for other paths.
  let origin: Int?
  /// Whether they are local, and the request runs in the background.
  let isBehind: Bool
  var identifiers: [ByteString] = []
  /// The path to each entity.
  var paths: [String] = []

  init(_ type: any Entity.Type, origin: Int?, isBehind: Bool) {
    self.type = type
    self.origin = origin
    self.isBehind = isBehind
  }
}

/// The outcome of a request for entities.
struct GraphAnswer: Sendable {
  /// Requested entities that the server lacks.
  var lacked: [ByteString] = []
  /// Entities of the answer that are not stored.
  var unstored: [any Entity] = []
  var error: (any Error)?
}

/// The requests for a graph and their answers.
struct GraphProgress: Sendable {
  /// Entities requested from sources of the caller, by the number of the source.
  private var fetched: [Int: Set<ByteString>] = [:]
  /// Entities requested from managers, each once.
  private var claimed: Set<ByteString> = []
  /// Entities that managers have answered for.
  private(set) var answered: Set<ByteString> = []
  /// Claimed entities that have changed locally before the answer about them.
  private var changed: Set<ByteString> = []
  /// Entities that a server lacks, or whose request has failed.
  private(set) var lacked: Set<ByteString> = []
  /// Entities shown in place of stored ones.
  private(set) var unstored: [ByteString: any Entity] = [:]
  /// Entities shown where none is stored.
  private(set) var given: [ByteString: any Entity] = [:]
  private(set) var failures: [GraphFailure] = []
  /// The commit of the store on disk up to which local changes are applied.
  private var commit: UInt64 = 0

  /// Whether an entity was requested.
  func hasAsked(_ identifier: ByteString, fetcher: Int? = nil) -> Bool {
    fetcher.map { fetched[$0]?.contains(identifier) ?? false } ?? claimed.contains(identifier)
  }

  /// Marks entities as requested, except those that already are.
  ///
  /// - Returns: The entities to request; `nil` if there are none.
  mutating func claim(_ ask: GraphAsk, fetcher: Int?) -> GraphAsk? {
    var rest = GraphAsk(ask.type, origin: ask.origin, isBehind: ask.isBehind)
    for (identifier, path) in zip(ask.identifiers, ask.paths) {
      let isNew =
        fetcher.map { fetched[$0, default: []].insert(identifier).inserted }
        ?? claimed.insert(identifier).inserted
      guard isNew else { continue }
      rest.identifiers.append(identifier)
      rest.paths.append(path)
    }
    return rest.identifiers.isEmpty ? nil : rest
  }

  /// Applies an answer.
  mutating func take(_ answer: GraphAnswer, to ask: GraphAsk, fetcher: Int?) {
    if let error = answer.error { fail(ask, error) }
    if fetcher == nil {
      answered.formUnion(ask.identifiers)
      // An answer is as old as its request, so a later local change counts.
      lacked.formUnion(
        (answer.error == nil ? answer.lacked : ask.identifiers).filter { !changed.contains($0) })
      if !changed.isEmpty { changed.subtract(ask.identifiers) }
    }
    for entity in answer.unstored {
      guard let identifier = entity.modelIdentifier.map({ ByteString($0) }) else { continue }
      if fetcher == nil { unstored[identifier] = entity } else { given[identifier] = entity }
    }
  }

  private mutating func fail(_ ask: GraphAsk, _ error: any Error) {
    for path in ask.paths.unique {
      let identifiers = zip(ask.identifiers, ask.paths).filter { $1 == path }.map(\.0.text)
      failures.append(GraphFailure(path: path, identifiers: identifiers, error: error))
    }
  }

  /// The entities for which a local change counts: those that a server lacks, and those without an answer.
  var undecided: Set<ByteString> { lacked.union(claimed.subtracting(answered)) }

  /// Applies the local changes up to a snapshot.
  ///
  /// - Parameters:
  ///   - nodes: The changed nodes; `nil` if they are unknown, so that the commits of entities are compared.
  ///   - snapshot: The snapshot.
  /// - Throws: `StoreError` if the bytes on disk are damaged.
  mutating func touch(_ nodes: [ByteString]?, in snapshot: ModelSnapshot) throws {
    let newest = try snapshot.commitValue
    if let nodes {
      touch(Set(nodes))
    } else if newest > commit {
      touch(try undecided.filter { try snapshot.commitValue(of: $0.text) ?? 0 > commit })
    }
    commit = max(commit, newest)
  }

  /// Lets all present entities count as changed, because a copy has replaced the data.
  mutating func forgetCommit() { commit = 0 }

  /// Applies local changes of entities: answers to earlier requests about them don't count any more.
  mutating func touch(_ identifiers: Set<ByteString>) {
    if !lacked.isEmpty { lacked.subtract(identifiers) }
    if claimed.count > answered.count {
      changed.formUnion(claimed.intersection(identifiers).subtracting(answered))
    }
  }
}
