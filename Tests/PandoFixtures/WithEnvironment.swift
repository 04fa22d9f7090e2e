public import PandoLMDB

/// Runs `body` with an environment in a fresh folder.
///
/// - Parameters:
///   - configuration: How to open it; by default a map of 64 MiB that nobody flushes.
///   - body: Gets the environment, which is closed afterwards.
/// - Returns: What `body` returns.
/// - Throws: ``LMDBError``, or what `body` throws.
public func withEnvironment<Result>(
  _ configuration: Environment.Configuration = .forTests,
  _ body: (Environment) throws -> Result
) throws -> Result {
  try withTemporaryDirectory { path in
    let environment = try Environment(path: path, configuration: configuration)
    defer { environment.close() }
    return try body(environment)
  }
}

extension Environment.Configuration {
  /// A small map without flushes: a test does not survive a power cut anyway.
  ///
  /// Growth waits for the readers however long they need.
  public static var forTests: Self {
    var configuration = Self()
    configuration.mapSizeInBytes = 64 << 20
    configuration.maximumMapSizeInBytes = 1 << 30
    configuration.mapGrowthTimeoutInSeconds = 1_000_000
    configuration.durability = .unsynchronized
    return configuration
  }
}
