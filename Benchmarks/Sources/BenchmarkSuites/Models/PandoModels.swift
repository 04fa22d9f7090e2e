import Pando

/// The model workloads on a Pando store.
final class PandoModels: Sendable {
  private let directory: WorkingDirectory
  let store: ModelStore

  init(_ directory: WorkingDirectory) throws {
    self.directory = directory
    var configuration = ModelStore.Configuration()
    // Address space; profilers can't reserve much more.
    configuration.mapSizeInBytes = 8 << 30
    store = try ModelStore(path: directory.path, configuration: configuration)
  }

  deinit {
    store.close()
  }

  /// Sets models, or trees of models, in one durable transaction.
  func put(_ models: [some Model & Encodable]) throws {
    try store.write { transaction in
      for model in models { try transaction.set(model) }
    }
  }

  /// Gets people, each in a read transaction of its own.
  func peopleEach(_ identifiers: [String]) throws -> UInt64 {
    var checksum = ModelChecksum(isThorough: false)
    for identifier in identifiers {
      let person = try store.read { try $0.model(identifier, as: Person.self) }
      guard let person else { throw missing(identifier) }
      checksum.add(person)
    }
    return checksum.value
  }

  /// Gets people inside one read transaction.
  func people(_ identifiers: [String]) throws -> UInt64 {
    try store.read { snapshot in
      var checksum = ModelChecksum(isThorough: false)
      for identifier in identifiers {
        guard let person = try snapshot.model(identifier, as: Person.self) else {
          throw missing(identifier)
        }
        checksum.add(person)
      }
      return checksum.value
    }
  }

  /// Gets trees, each in a read transaction of its own.
  func treesEach(_ identifiers: [String]) throws -> UInt64 {
    var checksum = ModelChecksum(isThorough: false)
    for identifier in identifiers {
      let message = try store.read { try $0.model(identifier, as: Message.self) }
      guard let message else { throw missing(identifier) }
      checksum.add(message)
    }
    return checksum.value
  }

  /// Gets trees inside one read transaction.
  ///
  /// - Parameters:
  ///   - identifiers: Which trees, in which order.
  ///   - isThorough: Whether every byte counts.
  /// - Returns: A checksum of the trees.
  /// - Throws: ``BenchmarkError`` if a tree is missing; what the store throws.
  func trees(_ identifiers: [String], isThorough: Bool = false) throws -> UInt64 {
    try store.read { snapshot in
      var checksum = ModelChecksum(isThorough: isThorough)
      for identifier in identifiers {
        guard let message = try snapshot.model(identifier, as: Message.self) else {
          throw missing(identifier)
        }
        checksum.add(message)
      }
      return checksum.value
    }
  }

  private func missing(_ identifier: String) -> BenchmarkError {
    BenchmarkError(.wrongResult, "Pando does not find \(identifier)")
  }
}
