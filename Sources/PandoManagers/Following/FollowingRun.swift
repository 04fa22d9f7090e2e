import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Stages the followed queries and graphs after commits.
struct FollowingRun: PipelineStep {
  /// The number of the last commit.
  let number: UInt64
  /// The context of its write.
  let context: (any Sendable)?
  /// Closures that publish the results.
  private var commits: [@Sendable () -> Void] = []
  var tally = HubTally()

  /// Makes a run without results.
  ///
  /// - Parameters:
  ///   - number: The number of the last commit.
  ///   - context: The context of its write.
  init(number: UInt64, context: (any Sendable)?) {
    self.number = number
    self.context = context
  }

  /// Adds a closure that publishes a result.
  mutating func add(_ commit: @escaping @Sendable () -> Void) { commits.append(commit) }

  var isVisible: Bool { !commits.isEmpty }
  func publish() { for commit in commits { commit() } }
  func tell() {}

  /// Stages the queries of the types that commits touch.
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
      // Sorted, so that reads have the same order each time.
      let identifiers = identifiers.ordered()
      for followers in types[namespace] ?? [] where followers.count > 0 {
        followers.stage(identifiers, snapshot, &self)
      }
    }
  }

  /// Adds the entities that contain a changed node.
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

  /// The prefixes of an identifier before its colons, and the empty namespace, which has all identifiers.
  static func namespaces(of identifier: ByteString) -> [ByteString] {
    let bytes = identifier.text.utf8
    return [ByteString("")]
      + bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
      .map { ByteString(String(identifier.text[..<$0])) }
  }
}
