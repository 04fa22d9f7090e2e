import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Works out what commits mean for the queries that are followed.
struct FollowingRun: PipelineStep {
  /// The number of the last commit.
  let number: UInt64
  /// What its writer passed along.
  let context: (any Sendable)?
  /// What shows it.
  private var commits: [@Sendable () -> Void] = []
  var tally = HubTally()

  /// Begins.
  ///
  /// - Parameters:
  ///   - number: The number of the last commit.
  ///   - context: What its writer passed along.
  init(number: UInt64, context: (any Sendable)?) {
    self.number = number
    self.context = context
  }

  /// Notes a query that the commits change.
  mutating func add(_ commit: @escaping @Sendable () -> Void) { commits.append(commit) }

  var isVisible: Bool { !commits.isEmpty }
  func publish() { for commit in commits { commit() } }
  func tell() {}

  /// Holds commits against the queries of the types that they touch.
  mutating func stage(
    _ fold: CommitGroup, _ types: [ByteString: [any StoreFollowers]], _ snapshot: ModelSnapshot
  ) {
    let types = types.filter { $0.value.contains { $0.count > 0 } }
    if types.isEmpty { return }
    if fold.hasExpired {
      for followers in types.values.joined() { followers.stage(nil, snapshot, &self) }
      return
    }
    var touched: [ByteString: Set<ByteString>] = [:]
    for identifier in fold.changed + fold.deleted {
      for namespace in Self.namespaces(of: identifier) where types[namespace] != nil {
        touched[namespace, default: []].insert(identifier)
      }
    }
    addHolders(of: fold.updated, types, &touched, snapshot)
    for (namespace, identifiers) in touched {
      // In an order that does not depend on hashing, so that what is read is read alike each time.
      let identifiers = identifiers.ordered()
      for followers in types[namespace] ?? [] where followers.count > 0 {
        followers.stage(identifiers, snapshot, &self)
      }
    }
  }

  /// Adds the entities inside which a node has changed.
  private func addHolders(
    of identifiers: [ByteString], _ types: [ByteString: [any StoreFollowers]],
    _ touched: inout [ByteString: Set<ByteString>], _ snapshot: ModelSnapshot
  ) {
    let holding = types.filter { $0.value.contains { $0.holdsNodes } }
    if holding.isEmpty { return }
    for identifier in identifiers {
      // An unreadable index shows when the entities themselves are read.
      for ancestor in (try? snapshot.ancestors(of: identifier.text)) ?? [] {
        let ancestor = ByteString(ancestor)
        for namespace in Self.namespaces(of: ancestor) where holding[namespace] != nil {
          touched[namespace, default: []].insert(ancestor)
        }
      }
    }
  }

  /// What stands before the colons of an identifier, and the empty namespace, in which are all.
  static func namespaces(of identifier: ByteString) -> [ByteString] {
    let bytes = identifier.text.utf8
    return [ByteString("")]
      + bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
      .map { ByteString(String(identifier.text[..<$0])) }
  }
}
