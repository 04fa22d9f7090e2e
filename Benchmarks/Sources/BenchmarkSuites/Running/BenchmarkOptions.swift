import Foundation

/// What to measure, and how often.
public struct BenchmarkOptions: Sendable {
  /// How much work there is.
  public enum Size: String, Sendable, CaseIterable {
    /// Seconds for everything; for correctness only.
    case smoke
    /// What published figures are made with.
    case standard
  }

  /// The suites to run, in order.
  public var suites: [SuiteName] = SuiteName.allCases
  /// How much work there is.
  public var size: Size = .standard
  /// How often each workload runs; the median counts.
  public var runs = 3
  /// The seed of all keys, values and orders.
  public var seed: UInt64 = 1
  /// Where to write the results as JSON.
  public var jsonPath: String?
  /// The directory that holds the databases while the benchmark runs.
  public var directory = FileManager.default.temporaryDirectory.path
  /// Whether only the usage is asked for.
  public var showsHelp = false

  /// Makes the options of a run without arguments.
  public init() {}

  /// A number that depends on the size.
  func scaled(smoke: Int, standard: Int) -> Int {
    switch size {
    case .smoke: smoke
    case .standard: standard
    }
  }
}
