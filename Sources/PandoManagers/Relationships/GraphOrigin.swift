/// The source of the entities at the end of a path.
enum GraphOrigin: Sendable {
  /// A source of the caller.
  case fetcher(GraphFetcher)
  /// The stores of a manager.
  case reading(GraphReading)
}

/// Returns the entities at the end of a path, for any type.
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
