import Pando

/// The model workloads on a Pando store.
final class PandoModels: Sendable {
  private let directory: WorkingDirectory
  let store: ModelStore

  init(_ directory: WorkingDirectory, _ durability: Durability) throws {
    self.directory = directory
    var configuration = ModelStore.Configuration()
    // Address space; profilers can't reserve much more.
    configuration.mapSizeInBytes = 8 << 30
    configuration.durability = durability
    store = try ModelStore(path: directory.path, configuration: configuration)
  }

  deinit {
    store.close()
  }

  /// Sets models, or trees of models, in one commit.
  func put<M: SimpleModel & Encodable>(
    _ models: some Collection<M> & Sendable, _ latencies: Latencies? = nil
  ) throws {
    let shared = SharedLatencies(latencies ?? Latencies(stride: models.count + 1))
    try store.write { transaction in
      for model in models { try shared.latencies.time { try transaction.set(model) } }
    }
  }

  /// Sets models, each in a commit of its own.
  func putEach<M: Model & Encodable>(_ models: some Sequence<M>, _ latencies: Latencies) throws {
    for model in models {
      try latencies.time { try store.write { try $0.set(model) } }
    }
  }

  /// Gets models, each in a read transaction of its own or all in one.
  ///
  /// - Parameters:
  ///   - type: The type to read them as.
  ///   - identifiers: Which, in which order.
  ///   - each: Whether each has a read transaction of its own.
  ///   - checksum: The sum to add the models to.
  ///   - latencies: Counts a get as an operation.
  /// - Returns: A checksum of the models.
  /// - Throws: ``BenchmarkError`` if a model is missing; the error of the store.
  func get<M: SimpleModel & Decodable & Checksummed>(
    _ type: M.Type, _ identifiers: [String], each: Bool,
    _ checksum: ModelChecksum = ModelChecksum(isThorough: false), _ latencies: Latencies? = nil
  ) throws -> UInt64 {
    let latencies = latencies ?? Latencies(stride: identifiers.count + 1)
    var checksum = checksum
    if each {
      for identifier in identifiers {
        try latencies.time {
          let model = try store.read { try $0.get(identifier, as: type) }
          M.add(try required(model, identifier), to: &checksum)
        }
      }
      return checksum.value
    }
    return try store.read { snapshot in
      for identifier in identifiers {
        try latencies.time {
          let model = try snapshot.get(identifier, as: type)
          M.add(try required(model, identifier), to: &checksum)
        }
      }
      return checksum.value
    }
  }

  /// A hash of all identifiers in byte order (FNV-1a).
  func hashOfIdentifiers() throws -> UInt64 {
    try store.read { snapshot in
      var fingerprint = Fingerprint()
      try snapshot.forEachIdentifier { identifier in
        fingerprint.add(identifier.utf8)
        return true
      }
      return fingerprint.value
    }
  }

  private func required<M>(_ model: M?, _ identifier: String) throws -> M {
    guard let model else {
      throw BenchmarkError(.wrongResult, "Pando does not find \(identifier)")
    }
    return model
  }
}

/// Latencies that a write closure counts.
struct SharedLatencies: @unchecked Sendable {
  // The store runs the closure on its writer's thread while the caller waits.
  let latencies: Latencies

  init(_ latencies: Latencies) { self.latencies = latencies }
}
