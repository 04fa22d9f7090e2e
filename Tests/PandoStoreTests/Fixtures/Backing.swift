import PandoFixtures
import PandoStore
import PandoSystem
import Testing

/// Where the stores of a test keep their pages.
enum Backing: CaseIterable {
  case folder
  case memory

  @TaskLocal static var current = Backing.folder
}

extension ModelStore {
  /// Opens an empty store where the stores of the test keep their pages.
  static func forTest(_ configuration: Configuration = .forTests) throws -> ModelStore {
    switch Backing.current {
    case .folder: try .temporary(configuration: configuration)
    case .memory: try .inMemory(configuration: configuration)
    }
  }
}

/// Runs a test twice: with stores in folders, and with stores in memory; with InternalChecks once, in folders.
struct OverBothBackings: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  @concurrent
  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    // The checks take long, and are those of the same engine.
    let backings = InternalChecks.areOn ? [Backing.folder] : Backing.allCases
    for backing in backings {
      do {
        try await Backing.$current.withValue(backing) { try await function() }
      } catch {
        Issue.record("over \(backing): \(error)")
        throw error
      }
    }
  }
}

extension Trait where Self == OverBothBackings {
  /// Runs each test twice: with stores in folders, and with stores in memory (`ModelStore.forTest`).
  static var overBothBackings: Self { Self() }
}
