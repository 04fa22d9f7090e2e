/// Where the entities at the end of a path come from.
enum GraphOrigin: Sendable {
  /// A source that the caller has given.
  case fetcher(GraphFetcher)
  /// The stores of a manager.
  case reading(GraphReading)
}

/// Gives the entities at the end of a path, whatever their type is.
struct GraphFetcher: Sendable {
  let fetch: @Sendable (_ modelIdentifiers: [String]) async throws -> [any Entity]

  init<Target: Entity>(
    _ fetch: @escaping @Sendable ([EntityIdentifier<Target>]) async throws -> [Target]
  ) {
    self.fetch = { identifiers in
      try await fetch(identifiers.compactMap { EntityIdentifier<Target>(modelIdentifier: $0) })
    }
  }
}
