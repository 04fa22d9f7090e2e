import PandoModels

/// Entities of one type that have to be asked for together.
struct GraphAsk: Sendable {
  let type: any Entity.Type
  /// The number of the path's own origin; `nil` for what a graph says of the rest.
  let origin: Int?
  /// Whether they are here, and are asked for behind the caller's back.
  let isBehind: Bool
  var identifiers: [ByteString] = []
  /// The path that led to each.
  var paths: [String] = []

  init(_ type: any Entity.Type, origin: Int?, isBehind: Bool) {
    self.type = type
    self.origin = origin
    self.isBehind = isBehind
  }
}

/// What came of asking.
struct GraphAnswer: Sendable {
  /// What a server was asked for and did not give.
  var lacked: [ByteString] = []
  /// The entities of it that are stored nowhere.
  var unstored: [any Entity] = []
  var error: (any Error)?
}

/// What has been asked for a graph, and what came of it.
struct GraphProgress: Sendable {
  /// What sources of the caller have been asked for, by their numbers.
  private var fetched: [Int: Set<ByteString>] = [:]
  /// What managers have been asked for, each entity once.
  private var claimed: Set<ByteString> = []
  /// What managers have answered to.
  private(set) var answered: Set<ByteString> = []
  /// What a server lacks, or did not give.
  private(set) var lacked: Set<ByteString> = []
  /// What is shown in the place of what is stored.
  private(set) var unstored: [ByteString: any Entity] = [:]
  /// What is shown where nothing is stored.
  private(set) var given: [ByteString: any Entity] = [:]
  private(set) var failures: [GraphFailure] = []

  /// Whether somebody has been asked.
  func hasAsked(_ identifier: ByteString, fetcher: Int? = nil) -> Bool {
    fetcher.map { fetched[$0]?.contains(identifier) ?? false } ?? claimed.contains(identifier)
  }

  /// Takes what nobody asks for yet.
  ///
  /// - Returns: The rest of it; `nil` if that is nothing.
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

  /// Takes in an answer.
  mutating func take(_ answer: GraphAnswer, to ask: GraphAsk, fetcher: Int?) {
    if let error = answer.error { fail(ask, error) }
    if fetcher == nil {
      answered.formUnion(ask.identifiers)
      lacked.formUnion(answer.error == nil ? answer.lacked : ask.identifiers)
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

  /// Takes in that entities have changed here: what a server has said of them counts no longer.
  mutating func touch(_ identifiers: Set<ByteString>) {
    if !lacked.isEmpty { lacked.subtract(identifiers) }
  }
}
